"""Request bodies: bytes to a JSON value, or a refusal that says where (contract 1).

Whatever arrives is judged in linear time and without recursion before the standard parser, which recurses, sees it.
The standard parser and not orjson: it keeps integers beyond 64 bits and lets repeated keys be seen.
"""

import json
import math
import re
from collections.abc import Iterator
from typing import Any, NoReturn

from django.conf import settings
from rest_framework.exceptions import UnsupportedMediaType
from rest_framework.parsers import BaseParser

from chief_project.shared.errors import TooLarge, ValidationFailed
from chief_project.shared.pointers import pointer

_NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
_ONE_KIND = bytes.maketrans(b"{}", b"[]")
_OPENING = ord("[")
# In a text whose escaped backslashes are gone: NUL, a first half without a second, a second without a first.
_SUSPECT = re.compile(
    rb"\\u0000"
    rb"|\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])"
    rb"|(?<!\\u[dD][89abAB][0-9a-fA-F]{2})\\u[dD][c-fC-F]"
)
_SURROGATE = re.compile("[\ud800-\udfff]")
_JSON_TYPE = re.compile(r'application/json\s*(?:;\s*charset\s*=\s*"?utf-?8"?\s*)?;?', re.IGNORECASE)


class JSONParser(BaseParser):
    """DRF's face of ``parse_json``; it is what the API's description names as the accepted media type."""

    media_type = "application/json"

    def parse(self, stream: Any, media_type: str | None = None, parser_context: Any = None) -> Any:
        """The value in ``stream``."""
        return parse_json(stream.read())


def read_body(raw: bytes, *, content_type: str, content_encoding: str = "") -> dict[str, Any]:
    """The JSON object in ``raw``; nothing sent is ``{}``, whatever the content type says.

    Raises ``UnsupportedMediaType`` for anything but ``application/json`` in UTF-8, and what ``parse_json`` raises.
    """
    if not raw:
        return {}
    if content_type != "application/json" and _JSON_TYPE.fullmatch(content_type.strip()) is None:
        raise UnsupportedMediaType(
            content_type,
            detail=f"a body must be 'Content-Type: application/json' in UTF-8, not {content_type[:100]!r}",
        )
    if content_encoding and content_encoding.lower() != "identity":
        raise UnsupportedMediaType(
            content_encoding, detail=f"send the body uncompressed, not {content_encoding[:40]!r}"
        )
    value = parse_json(raw)
    if not isinstance(value, dict):
        raise ValidationFailed(f"the body must be a JSON object, not {_kind(value)}", pointer="")
    return value


def parse_json(raw: bytes) -> Any:
    """The value that ``raw`` holds, integers exact at any size.

    Raises ``TooLarge`` over ``CHIEF_MAX_BODY_BYTES``; ``ValidationFailed`` for what isn't UTF-8 or JSON, is nested
    deeper than ``CHIEF_MAX_JSON_DEPTH``, repeats a key, holds NUL or half a surrogate pair in a text, or a number
    that is not finite.
    """
    if len(raw) > settings.CHIEF_MAX_BODY_BYTES:
        raise TooLarge(
            f"the body is larger than {settings.CHIEF_MAX_BODY_BYTES} bytes: send less, or split it",
            limit=settings.CHIEF_MAX_BODY_BYTES,
        )
    check_depth(raw, settings.CHIEF_MAX_JSON_DEPTH)
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as problem:
        raise ValidationFailed(
            f"the body is not UTF-8: byte {problem.start} is wrong", offset=problem.start
        ) from None
    try:
        value = _decode(text)
    except _RepeatedKey:
        _name_the_repeated_key(text)
    except json.JSONDecodeError as problem:
        raise ValidationFailed(
            f"the body is not JSON: {problem.msg} at line {problem.lineno}, column {problem.colno}",
            line=problem.lineno,
            column=problem.colno,
        ) from None
    except RecursionError:
        raise ValidationFailed("the body is nested too deeply: flatten it") from None
    except ValueError:  # more digits than Python converts in one go
        raise ValidationFailed("the body holds a number with too many digits: send it as a text") from None
    if b"\\u" in raw and _SUSPECT.search(raw.replace(b"\\\\", b"")):
        _refuse_unstorable_text(value)
    return value


def refuse_repeated_keys(raw: bytes, *, within: tuple[str, ...] = ()) -> None:
    """Raise ``ValidationFailed`` if an object in ``raw`` names a key twice; what isn't JSON is another's to refuse.

    For messages that a library parses, which would keep the last of both and say nothing. A place inside the value
    at ``within`` is named from there.
    """
    try:
        text = raw.decode("utf-8")
        _decode_unique(text)
    except _RepeatedKey:
        _name_the_repeated_key(text, within)
    except (ValueError, RecursionError):
        return


def check_depth(raw: bytes, limit: int) -> None:
    """Raise ``ValidationFailed`` if brackets outside strings nest deeper than ``limit``. Never recurses."""
    if raw.count(b"[") + raw.count(b"{") <= limit:
        return
    # Without escapes, every second piece between quotes is outside of strings; wherever that is wrong, the parser has
    # met an error before. Innermost pairs are most of a document: they go in one sweep, and count as the level that
    # all the rest lacks.
    outside = b"".join(raw.replace(b"\\\\", b"").replace(b'\\"', b"").split(b'"')[::2])
    brackets = outside.translate(_ONE_KIND, _NO_BRACKETS).replace(b"[]", b"")
    depth = 1
    for bracket in brackets:
        if bracket == _OPENING:
            depth += 1
            if depth > limit:
                raise ValidationFailed(
                    f"the body is nested more than {limit} levels deep: flatten it", limit=limit
                )
        else:
            depth -= 1


class _RepeatedKey(Exception):
    """An object names a key twice."""


class _Repeated(dict[str, Any]):
    """An object that names ``key`` twice; only made to find where it is."""

    key = ""


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise _RepeatedKey
    return found


def _marked(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = _Repeated(pairs)
    if len(found) == len(pairs):
        return dict(found)
    seen: set[str] = set()
    for key, _ in pairs:
        if key in seen:
            found.key = key
            break
        seen.add(key)
    return found


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValidationFailed(f"the number {text[:40]} is too large: send it as a text")
    return number


def _no_constant(name: str) -> NoReturn:
    raise ValidationFailed(f"{name} is not JSON: send null, or a text")


_decode = json.JSONDecoder(object_pairs_hook=_unique, parse_float=_finite, parse_constant=_no_constant).decode
_decode_unique = json.JSONDecoder(object_pairs_hook=_unique).decode
_decode_marking = json.JSONDecoder(
    object_pairs_hook=_marked, parse_float=_finite, parse_constant=_no_constant
).decode


def _name_the_repeated_key(text: str, within: tuple[str, ...] = ()) -> NoReturn:
    for where, value in _walk(_decode_marking(text)):
        if isinstance(value, _Repeated):
            if tuple(where[: len(within)]) == within:
                del where[: len(within)]
            at = pointer(where)
            raise ValidationFailed(
                f"the key {value.key[:80]!r} stands twice in the object at '{at or '/'}': keep one",
                pointer=pointer((*where, value.key)),
            )
    raise ValidationFailed("a key stands twice in one object: keep one")


def _refuse_unstorable_text(value: Any) -> None:
    for where, found in _walk(value):
        texts = [found] if isinstance(found, str) else list(found) if isinstance(found, dict) else []
        for text in texts:
            if "\0" in text or _SURROGATE.search(text):
                what = "the character NUL" if "\0" in text else "half of a surrogate pair"
                part = "a key" if isinstance(found, dict) else "the text"
                raise ValidationFailed(
                    f"{part} at '{pointer(where) or '/'}' holds {what}, which no text can keep: take it out",
                    pointer=pointer(where),
                )


def _walk(value: Any) -> Iterator[tuple[list[str | int], Any]]:
    """Every value below ``value`` with its place (one list, reused), in order; only refusals come here."""
    where: list[str | int] = []
    yield where, value
    waiting = [_entries(value)]
    while waiting:
        entry = next(waiting[-1], None)
        del where[len(waiting) - 1 :]
        if entry is None:
            waiting.pop()
            continue
        where.append(entry[0])
        yield where, entry[1]
        waiting.append(_entries(entry[1]))


def _entries(value: Any) -> Iterator[tuple[str | int, Any]]:
    if isinstance(value, dict):
        return iter(value.items())
    return enumerate(value) if isinstance(value, list) else iter(())


def _kind(value: Any) -> str:
    if value is None:
        return "null"
    kinds = {list: "an array", str: "a text", bool: "a boolean"}
    return kinds.get(type(value), "a number")
