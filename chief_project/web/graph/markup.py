"""SVG as text. Everything that comes in is escaped here, and nowhere else."""

from collections.abc import Iterable, Mapping
from html import escape


class Raw(str):
    """Markup that this module made."""

    __slots__ = ()


def element(name: str, attributes: Mapping[str, object] | None = None, *children: str) -> Raw:
    """``<name …>children</name>``; attributes that are None are left out, children that are not ``Raw`` escaped."""
    said = "".join(
        f' {key}="{escape(number(value))}"' for key, value in (attributes or {}).items() if value is not None
    )
    if not children:
        return Raw(f"<{name}{said}/>")
    inside = "".join(child if isinstance(child, Raw) else escape(child) for child in children)
    return Raw(f"<{name}{said}>{inside}</{name}>")


def joined(parts: Iterable[Raw]) -> Raw:
    """Several elements in a row."""
    return Raw("".join(parts))


def number(value: object) -> str:
    """A value as an attribute says it: numbers without needless digits."""
    if isinstance(value, float):
        return f"{value:.1f}".removesuffix(".0")
    return str(value)
