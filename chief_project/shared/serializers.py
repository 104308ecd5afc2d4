"""The wire's shapes: strict DRF serializers for small bodies, strict pydantic documents for large ones (contract 1).

Strict means: an unknown field is refused by name, a number is not a text, ``null`` is not "left out", and blank text
is refused where text is needed. Everything wrong comes back at once, as ``ValidationFailed`` with
``details.errors = [{pointer, message}]`` (at most 50, and ``more``) and the first one's ``details.pointer``.
"""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from functools import cache
from typing import Any, ClassVar, NoReturn, TypeVar

from django.core.exceptions import ValidationError as DjangoValidationError
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field
from pydantic import BaseModel
from pydantic import ValidationError as PydanticError
from rest_framework import serializers
from rest_framework.exceptions import ValidationError as DRFError
from rest_framework.fields import SkipField, empty

from chief_project.shared import ids
from chief_project.shared.documents import MAX_INTEGER
from chief_project.shared.errors import ValidationFailed
from chief_project.shared.pointers import pointer
from chief_project.shared.waits import MOST_SECONDS

MAX_ERRORS = 50
Where = tuple[str | int, ...]
Problem = tuple[Where, str]


def refuse(problems: Iterable[Problem], **details: Any) -> NoReturn:
    """Raise ``ValidationFailed`` for ``problems`` (place, message), which must not be empty."""
    found = list(problems)
    where, message = found[0]
    text = f"{pointer(where)}: {message}" if where else message
    if len(found) > 1:
        text += f" (and {len(found) - 1} more)"
    errors = [{"pointer": pointer(at), "message": said} for at, said in found[:MAX_ERRORS]]
    if len(found) > MAX_ERRORS:
        details["more"] = len(found) - MAX_ERRORS
    raise ValidationFailed(text, pointer=pointer(where), errors=errors, **details)


# -- Fields ----------------------------------------------------------------------------------------


class TextField(serializers.CharField):
    """A text, kept as typed. Blank (only white space) is refused unless ``allow_blank``; nothing is coerced."""

    default_error_messages: ClassVar[dict[str, Any]] = {
        "invalid": "must be a text",
        "blank": "must not be blank",
        "max_length": "must be at most {max_length} characters long",
    }

    def __init__(self, **kwargs: Any) -> None:
        kwargs.setdefault("trim_whitespace", False)
        super().__init__(**kwargs)

    def run_validation(self, data: Any = empty) -> Any:
        """Blankness is judged without white space, and the text is kept with it."""
        if isinstance(data, str) and not self.allow_blank and not data.strip():
            self.fail("blank")
        return super().run_validation(data)

    def to_internal_value(self, data: Any) -> str:
        """``data`` itself, if it is a text."""
        if not isinstance(data, str):
            self.fail("invalid")
        return data


class IdField(TextField):
    """An id that a client may choose (``ids.check``)."""

    def to_internal_value(self, data: Any) -> str:
        """``data`` itself, if it can be an id."""
        value = super().to_internal_value(data)
        if not ids.is_valid(value):
            raise DRFError(
                f"{value[:80]!r} is not an id: use 1 to {ids.MAX_LENGTH} ASCII letters, digits, '_', '-', '.' or ':'"
                " (not '.' or '..' alone)"
            )
        return value


class NameField(TextField):
    """A short text on one line that names someone or something, at most 200 characters."""

    default_error_messages: ClassVar[dict[str, Any]] = {"lines": "must stand on one line"}

    def __init__(self, **kwargs: Any) -> None:
        kwargs.setdefault("max_length", 200)
        super().__init__(**kwargs)

    def to_internal_value(self, data: Any) -> str:
        """``data`` itself, if it is one line."""
        value = super().to_internal_value(data)
        if not value.isprintable():
            self.fail("lines")
        return value


class IntegerField(serializers.IntegerField):
    """A whole number from 0 (or ``min_value``) to 2³¹ − 1, so that every database can keep it."""

    default_error_messages: ClassVar[dict[str, Any]] = {
        "invalid": "must be a whole number",
        "min_value": "must be at least {min_value}",
        "max_value": "must be at most {max_value}",
    }

    def __init__(self, **kwargs: Any) -> None:
        kwargs.setdefault("min_value", 0)
        kwargs.setdefault("max_value", MAX_INTEGER)
        super().__init__(**kwargs)

    def to_internal_value(self, data: Any) -> int:
        """``data`` itself, if it is an integer (``true`` and ``1.0`` aren't)."""
        if type(data) is not int:
            self.fail("invalid")
        return data


class FlagField(serializers.BooleanField):
    """``true`` or ``false``, nothing that resembles them."""

    default_error_messages: ClassVar[dict[str, Any]] = {"invalid": "must be true or false"}

    def to_internal_value(self, data: Any) -> bool:
        """``data`` itself, if it is a boolean."""
        if not isinstance(data, bool):
            self.fail("invalid")
        return data


class ChoiceField(serializers.ChoiceField):
    """One of a few words."""

    def to_internal_value(self, data: Any) -> Any:
        """``data`` itself, if it is one of the choices."""
        if not isinstance(data, str) or data not in self.choices:
            raise DRFError(f"must be one of {', '.join(map(str, self.choices))}")
        return data


@extend_schema_field(OpenApiTypes.OBJECT)
class ObjectField(serializers.Field):
    """A free-form JSON object, kept as it came."""

    default_error_messages: ClassVar[dict[str, Any]] = {"invalid": "must be an object"}

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        """``data`` itself, if it is an object."""
        if not isinstance(data, dict):
            self.fail("invalid")
        return data

    def to_representation(self, value: Any) -> Any:
        """As it is kept."""
        return value


class ListField(serializers.ListField):
    """An array whose items are all ``child``."""

    default_error_messages: ClassVar[dict[str, Any]] = {"not_a_list": "must be an array"}

    def to_internal_value(self, data: Any) -> list[Any]:
        """The items, each checked."""
        if not isinstance(data, list):
            self.fail("not_a_list")
        return super().to_internal_value(data)


class TextMapField(serializers.DictField):
    """An object whose values are all texts (blank ones too, unless ``child`` says otherwise)."""

    child = TextField(allow_blank=True)
    default_error_messages: ClassVar[dict[str, Any]] = {"not_a_dict": "must be an object"}

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        """The entries, each checked."""
        if not isinstance(data, dict):
            self.fail("not_a_dict")
        return super().to_internal_value(data)


# -- Small bodies ----------------------------------------------------------------------------------

_S = TypeVar("_S", bound="StrictSerializer")


class StrictSerializer(serializers.Serializer):
    """A body of a few fields. ``Body.parse(data)`` is how to use it; the answer holds only what was sent or has a
    default, so that left out and ``null`` differ (declare ``allow_null=True`` where ``null`` means something).

    A field that may be left out is ``required=False``; give it ``default=`` to have it always.
    """

    default_error_messages: ClassVar[dict[str, Any]] = {"invalid": "must be an object"}

    @classmethod
    def parse(cls, data: Any) -> dict[str, Any]:
        """The checked fields of ``data``; raises ``ValidationFailed`` with everything that is wrong."""
        try:
            return _prototype(cls).run_validation(data)
        except DRFError as problem:
            refuse(_problems(problem.detail, ()))

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        """The fields of ``data`` by name; refuses the unknown ones."""
        if not isinstance(data, dict):
            self.fail("invalid")
        fields = self.fields
        found: dict[str, Any] = {}
        errors: dict[str, Any] = {}
        for key in data:
            if key not in fields or fields[key].read_only:
                errors[key] = [f"unknown field {key[:80]!r}: {_known(fields)}"]
        for name, field in fields.items():
            if field.read_only:
                continue
            try:
                value = field.run_validation(data.get(name, empty))
            except DRFError as problem:
                errors[name] = problem.detail
            except DjangoValidationError as problem:
                errors[name] = list(problem.messages)
            except SkipField:
                pass
            else:
                found[field.source or name] = value
        if errors:
            raise DRFError(errors)
        return found


class NoBody(StrictSerializer):
    """For operations that take no field at all."""


@cache
def _prototype(kind: type[StrictSerializer]) -> StrictSerializer:
    """One instance per class: validating keeps nothing in it, and making one copies every field."""
    prototype = kind()
    for field in _all_fields(prototype):
        field.error_messages |= {"required": "is required", "null": "must not be null"}
    return prototype


def _all_fields(field: Any) -> list[Any]:
    found = [field]
    for inner in (*getattr(field, "fields", {}).values(), *filter(None, [getattr(field, "child", None)])):
        found += _all_fields(inner)
    return found


def _known(fields: Mapping[str, Any]) -> str:
    names = [name for name, field in fields.items() if not field.read_only]
    return f"it takes {', '.join(names)}" if names else "it takes none"


def _problems(detail: Any, where: Where) -> list[Problem]:
    """DRF's tree of errors as a flat list."""
    if isinstance(detail, dict):
        found: list[Problem] = []
        for key, inner in detail.items():
            found += _problems(inner, where if key == "non_field_errors" else (*where, key))
        return found
    if isinstance(detail, list):
        found = []
        for index, inner in enumerate(detail):
            found += _problems(inner, (*where, index) if isinstance(inner, dict) else where)
        return found
    return [(where, str(detail))]


# -- Large documents -------------------------------------------------------------------------------

_D = TypeVar("_D", bound=BaseModel)


def parse_document(model: type[_D], data: Any) -> _D:
    """``data`` as a ``model``; raises ``ValidationFailed`` with pointers into ``data``."""
    try:
        return model.model_validate(data)
    except PydanticError as problem:
        refuse(document_problems(problem, data))


def document_problems(problem: PydanticError, data: Any) -> list[Problem]:
    """Pydantic's errors as places in ``data`` and short sentences; a union's branches that say the same are merged."""
    found: dict[Problem, None] = {}
    for error in problem.errors(include_url=False, include_context=True, include_input=False):
        kind = error["type"]
        where = _place(error["loc"], data, last_is_name=kind in {"missing", "extra_forbidden"})
        found[where, _say(kind, error, where)] = None
    return list(found)


def _place(location: Where, data: Any, *, last_is_name: bool) -> Where:
    """``location`` without the names of union branches, which pydantic mixes in."""
    where: list[str | int] = []
    here: Any = data
    for number, token in enumerate(location):
        if isinstance(here, dict):
            inside = token in here
        else:
            inside = isinstance(here, list) and isinstance(token, int) and token < len(here)
        if inside:
            here = here[token]
        elif not (last_is_name and number == len(location) - 1):
            continue
        where.append(token)
    return tuple(where)


_SAYINGS = {
    "missing": "is required",
    "string_type": "must be a text",
    "int_type": "must be a whole number",
    "int_from_float": "must be a whole number",
    "float_type": "must be a number",
    "bool_type": "must be true or false",
    "list_type": "must be an array",
    "dict_type": "must be an object",
    "model_type": "must be an object",
    "model_attributes_type": "must be an object",
    "none_required": "must be null",
    "recursion_loop": "contains itself",
}


def _say(kind: str, error: Any, where: Where) -> str:
    context = error.get("ctx", {})
    if kind == "extra_forbidden":
        return f"unknown field {str(where[-1])[:80]!r}: leave it out"
    if kind in {"literal_error", "enum"}:
        return f"must be one of {context['expected']}"
    if kind == "string_too_short":
        return (
            "must not be blank"
            if context["min_length"] == 1
            else f"must be at least {context['min_length']} characters"
        )
    if kind == "string_too_long":
        return f"must be at most {context['max_length']} characters long"
    if kind == "too_short":
        least = context["min_length"]
        return f"must have at least {least} {'entry' if least == 1 else 'entries'}"
    if kind == "too_long":
        most = context["max_length"]
        return f"must have at most {most:,} entries" if most else "must be empty"
    if kind == "less_than_equal":
        return f"must be at most {context['le']}"
    if kind == "greater_than_equal":
        return f"must be at least {context['ge']}"
    if kind in {"value_error", "assertion_error"}:
        return str(context["error"])
    return _SAYINGS.get(kind) or error["msg"][0].lower() + error["msg"][1:]


# -- Query strings ---------------------------------------------------------------------------------


class QuerySerializer(StrictSerializer):
    """The query parameters of one operation. A parameter that is unknown or given twice is refused by name."""

    @classmethod
    def parse(cls, data: Any) -> dict[str, Any]:
        """The checked parameters; raises ``ValidationFailed`` with ``details.parameter``."""
        try:
            return _prototype(cls).run_validation(data)
        except DRFError as problem:
            where, message = _problems(problem.detail, ())[0]
            name = str(where[0]) if where else ""
            if message.startswith("unknown field "):
                message = f"unknown query parameter {message.removeprefix('unknown field ')}"
            else:
                message = f"query parameter {name!r}: {message}"
            raise ValidationFailed(message, parameter=name) from None


class QueryIntegerField(IntegerField):
    """A whole number in a query string: ASCII digits only."""

    def to_internal_value(self, data: Any) -> int:
        """The number."""
        text = str(data)
        if not (text.isascii() and text.removeprefix("-").isdigit() and len(text) <= 20):
            self.fail("invalid")
        return int(text)


class QueryFlagField(FlagField):
    """``true`` or ``false`` in a query string."""

    def to_internal_value(self, data: Any) -> bool:
        """The boolean."""
        return super().to_internal_value({"true": True, "false": False}.get(data, data))


class QueryTextField(TextField):
    """A text in a query string."""


class QueryIdField(IdField):
    """An id in a query string."""


class QueryDateTimeField(serializers.DateTimeField):
    """A moment in a query string, with its zone: ``2026-01-31T12:00:00Z``. Comes as a ``datetime`` in UTC."""

    default_error_messages: ClassVar[dict[str, Any]] = {
        "invalid": "must be a moment with its zone, such as 2026-01-31T12:00:00Z (write '+' as %2B)"
    }

    def to_internal_value(self, value: Any) -> datetime:
        """The moment."""
        try:
            moment = datetime.fromisoformat(value)
            if moment.tzinfo is None:
                self.fail("invalid")
            return moment.astimezone(UTC)
        except (TypeError, ValueError, OverflowError):
            self.fail("invalid")


class PageQuery(QuerySerializer):
    """What every list takes."""

    limit = QueryIntegerField(default=100, min_value=1, max_value=1000, help_text="How many at most.")
    cursor = TextField(
        required=False, default=None, help_text="Where the previous page ended: from its `Link`."
    )
    count = ChoiceField(
        choices=["exact"], required=False, default=None, help_text="`exact` counts beyond 10,000 as well."
    )


class WaitQuery(QuerySerializer):
    """What a read that can be held takes. It is held before Django (``http.held``); the view answers at once."""

    wait = QueryIntegerField(
        required=False,
        max_value=MOST_SECONDS,
        help_text="Hold the answer for so many seconds at most, until it is decided or `since` is passed.",
    )
    since = QueryIntegerField(
        required=False, help_text="With `wait`: a revision; the answer comes as soon as there is a newer one."
    )

    @classmethod
    def parse(cls, data: Any) -> dict[str, Any]:
        """The checked parameters, without these two."""
        found = super().parse(data)
        found.pop("wait", None)
        found.pop("since", None)
        return found
