"""What the language is made of: vocabularies, parsed expressions, facts, and the error that points at a span."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

# A field's name (without its namespace) to what holds: a text, nothing, or for a set field its members.
Facts: TypeAlias = Mapping[str, str | frozenset[str] | None]


@dataclass(frozen=True, slots=True)
class Scalar:
    """A field that holds one text. ``domain`` lists all it can hold; ``None`` means any text."""

    name: str
    domain: tuple[str, ...] | None = None
    nullable: bool = False


@dataclass(frozen=True, slots=True)
class Set:
    """A field that holds a set of texts, each out of ``domain``."""

    name: str
    domain: tuple[str, ...]


@dataclass(frozen=True)
class Vocabulary:
    """The one namespace an expression may speak of, and its fields."""

    namespace: str
    fields: tuple[Scalar | Set, ...]

    @cached_property
    def by_name(self) -> dict[str, Scalar | Set]:
        """Each field under its name without the namespace."""
        return {field.name: field for field in self.fields}

    @property
    def names(self) -> tuple[str, ...]:
        """The fields as they are written: ``amendment.kind`` …"""
        return tuple(f"{self.namespace}.{field.name}" for field in self.fields)

    def check(self, facts: Facts) -> None:
        """Raise ``ValueError`` for a fact no such field can hold: a fault of the program, not of a policy."""
        for name, value in facts.items():
            field = self.by_name.get(name)
            if field is None:
                raise ValueError(f"{self.namespace} has no field {name!r}")
            if isinstance(field, Set):
                known = isinstance(value, frozenset) and value <= set(field.domain)
            elif value is None:
                known = field.nullable
            else:
                known = isinstance(value, str) and (field.domain is None or value in field.domain)
            if not known:
                raise ValueError(f"{self.namespace}.{name} can't hold {value!r}")


@dataclass(frozen=True, slots=True)
class Constant:
    """``true`` or ``false``."""

    value: bool


@dataclass(frozen=True, slots=True)
class Comparison:
    """``field op values``; ``==`` and ``!=`` have one value."""

    field: str
    op: str
    values: frozenset[str]


@dataclass(frozen=True, slots=True)
class Not:
    """True where ``part`` is false."""

    part: "Node"


@dataclass(frozen=True, slots=True)
class And:
    """True where every part is."""

    parts: tuple["Node", ...]


@dataclass(frozen=True, slots=True)
class Or:
    """True where some part is."""

    parts: tuple["Node", ...]


Node: TypeAlias = Constant | Comparison | Not | And | Or


@dataclass(frozen=True)
class Expression:
    """A text that keeps the language's rules, with what it means."""

    text: str
    vocabulary: Vocabulary
    root: Node


class ExpressionError(ValueError):
    """A text that is not in the language.

    ``offset`` and ``end`` bound the span at fault, in characters from 0; ``found`` is what stands there, ``expected``
    what could. ``pointed`` shows the place for people.
    """

    def __init__(
        self,
        message: str,
        *,
        text: str,
        offset: int,
        end: int | None = None,
        found: str = "",
        expected: tuple[str, ...] = (),
    ) -> None:
        super().__init__(message)
        self.message = message
        self.text = text
        self.offset = offset
        self.end = max(end if end is not None else offset + 1, offset)
        self.found = found
        self.expected = expected

    @property
    def pointed(self) -> str:
        """Two lines: the text around the span, and carets under it."""
        start = max(self.offset - 30, 0)
        stop = min(self.end, self.offset + 40)
        shown = "".join(c if c.isprintable() else " " for c in self.text[start : stop + 20])
        return f"{shown}\n{' ' * (self.offset - start)}{'^' * max(stop - self.offset, 1)}"
