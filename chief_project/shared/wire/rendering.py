"""Answers: plain values, with ``datetime`` left in, to JSON bytes (contract 1)."""

import json
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import orjson
from django.http import HttpResponse
from rest_framework.renderers import BaseRenderer

from chief_project.shared.clock import iso

_OPTIONS = orjson.OPT_PASSTHROUGH_DATETIME


def dumps(value: Any) -> bytes:
    """``value`` as JSON. Times are ISO 8601 UTC with milliseconds; integers of any size stay exact.

    orjson stops at 64 bits and at 254 levels, and the standard encoder at Python's recursion limit; what they can't
    write is written level by level, so a tree of any depth serialises.
    """
    try:
        return orjson.dumps(value, _plain, _OPTIONS)
    except orjson.JSONEncodeError:
        pass
    try:
        return json.dumps(value, default=_plain, separators=(",", ":"), allow_nan=False).encode()
    except RecursionError:
        return "".join(_pieces(value)).encode()


class JSONRenderer(BaseRenderer):
    """DRF's face of ``dumps``. JSON is UTF-8 and has no charset parameter."""

    media_type = "application/json"
    format = "json"
    charset = None
    render_style = "text"

    def render(
        self, data: Any, accepted_media_type: str | None = None, renderer_context: Any = None
    ) -> bytes:
        """``data`` as JSON; nothing where there is nothing to say."""
        return b"" if data is None else dumps(data)


class JSONResponse(HttpResponse):
    """An answer whose body is ``document``; already rendered, unlike DRF's ``Response``."""

    def __init__(self, document: Any, status: int = 200, headers: dict[str, str] | None = None) -> None:
        super().__init__(dumps(document), status=status, headers=headers, content_type="application/json")


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return iso(value)
    if isinstance(value, tuple | set | frozenset):
        return list(value)
    raise TypeError(f"{type(value).__name__} can't stand in an answer")


class _Text(str):
    """A piece of JSON that is written already."""


def _pieces(value: Any) -> Iterator[str]:
    waiting: list[Any] = [value]
    while waiting:
        here = waiting.pop()
        if isinstance(here, _Text):
            yield here
        elif isinstance(here, dict):
            parts: list[Any] = [_Text("{")]
            for number, (key, inner) in enumerate(here.items()):
                parts += [_Text(f"{',' if number else ''}{json.dumps(str(key))}:"), inner]
            waiting.extend(reversed([*parts, _Text("}")]))
        elif isinstance(here, list | tuple):
            parts = [_Text("[")]
            for number, inner in enumerate(here):
                parts += [_Text(","), inner] if number else [inner]
            waiting.extend(reversed([*parts, _Text("]")]))
        else:
            yield json.dumps(here, default=_plain, allow_nan=False)
