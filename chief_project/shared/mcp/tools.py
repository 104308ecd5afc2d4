"""What a tool is, and the guard around its one call (contract 10).

Each app declares its tools in ``mcp_tools``: names, shapes, and a function that makes the one call that the REST
route makes. This module knows neither the SDK nor an event loop: a call is a function of caller and arguments.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson
from django.db import transaction
from pydantic import BaseModel

from chief_project.shared.caller import Caller
from chief_project.shared.errors import ValidationFailed
from chief_project.shared.http.errors import answer_to
from chief_project.shared.mcp.schemas import FLAG, Schema, body_schema
from chief_project.shared.paging import Paging
from chief_project.shared.pointers import pointer
from chief_project.shared.serializers import (
    NoBody,
    PageQuery,
    QuerySerializer,
    StrictSerializer,
    parse_document,
)
from chief_project.shared.waits import Watch
from chief_project.shared.wire.parsing import read_body
from chief_project.shared.wire.rendering import dumps

DEFAULT_PAGE = 20


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a tool: who, the ids that say where, the parsed body or query, and whether all of it is wanted."""

    caller: Caller
    where: Mapping[str, Any]
    body: Any
    full: bool


@dataclass(frozen=True, slots=True)
class Answer:
    """``compact`` always; ``document`` when it was asked for; ``watch`` when it is worth waiting for another."""

    compact: dict[str, Any]
    document: Any = None
    watch: Watch | None = None


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool of the MCP endpoint.

    ``operations`` are the operations of the API that it stands for. ``where`` holds the schemas of its own arguments,
    those of ``needs`` being required; ``body`` is the definition of the rest. ``published`` replaces single
    properties of the input schema by shorter ones.
    """

    name: str
    title: str
    description: str
    operations: tuple[str, ...]
    call: Callable[[Call], Answer]
    answers: Schema
    where: Mapping[str, Schema] = field(default_factory=dict)
    needs: tuple[str, ...] = ()
    body: type[BaseModel] | type[StrictSerializer] | None = None
    published: Mapping[str, Schema] = field(default_factory=dict)
    core: bool = False
    reads: bool = False
    destroys: bool = False
    idempotent: bool = False
    waits: bool = False

    @property
    def input_schema(self) -> Schema:
        """What it takes, as JSON Schema."""
        body = body_schema(self.body)
        properties = {**self.where, **body["properties"], **self.published}
        properties["full"] = FLAG
        required = [*self.needs, *body.get("required", [])]
        schema: Schema = {"type": "object", "properties": properties}
        return schema | ({"required": required} if required else {}) | {"additionalProperties": False}


@dataclass(frozen=True, slots=True)
class Outcome:
    """What goes back: a JSON object, and the same as text; ``refused`` makes it a tool error."""

    content: dict[str, Any]
    text: str
    refused: bool = False
    watch: Watch | None = None


def carry_out(tool: Tool, caller: Callable[[], Caller], arguments: Mapping[str, Any]) -> Outcome:
    """Judge the arguments, make the call, and say what came of it; nothing is raised.

    It runs on a thread that lives on. ``caller`` may read the database, and may refuse. A refusal is what the one
    table of errors makes of it: ``{error: {code, message, details?}}``.
    """
    try:
        call = _read(tool, caller(), arguments)
        answer = _answer(tool, call)
    except Exception as problem:  # the one place that catches: the table knows what to say
        return refused(problem)
    document = answer.compact
    if answer.document is not None:
        document = {**answer.compact, "document": answer.document}
    raw = dumps(document)
    return Outcome(json.loads(raw), raw.decode(), watch=answer.watch)


def refused(problem: Exception) -> Outcome:
    """What the one table of errors makes of ``problem``."""
    content = orjson.loads(answer_to(problem).content)
    return Outcome(content, dumps(content).decode(), refused=True)


def _answer(tool: Tool, call: Call) -> Answer:
    """The whole answer of a write is read in the write's own transaction, where it can't be torn."""
    if tool.reads or not call.full:
        return tool.call(call)
    with transaction.atomic(savepoint=False):
        return tool.call(call)


def _read(tool: Tool, caller: Caller, arguments: Mapping[str, Any]) -> Call:
    """The arguments, judged as a body of the API is: once as JSON, once by the definition."""
    try:
        raw = json.dumps(arguments, ensure_ascii=False, separators=(",", ":")).encode(
            "utf-8", "surrogatepass"
        )
    except RecursionError:
        raise ValidationFailed("the arguments are nested too deep: flatten them") from None
    given = read_body(raw, content_type="application/json")
    where = {name: given.pop(name) for name in tool.where if name in given}
    full = given.pop("full", False)
    if type(full) is not bool:
        raise ValidationFailed("/full: must be true or false", pointer="/full")
    for name in tool.needs:
        if where.get(name) in (None, ""):
            raise ValidationFailed(f"/{name}: is required", pointer=f"/{name}")
    for name, value in where.items():
        _must_be(name, value, tool.where[name]["type"])
    return Call(caller, where, _body(tool, given), full)


_TYPES: dict[str, tuple[type, str]] = {"string": (str, "a text"), "integer": (int, "a whole number")}


def _must_be(name: str, value: Any, kind: str) -> None:
    wanted, said = _TYPES[kind]
    if value is not None and type(value) is not wanted:
        raise ValidationFailed(f"/{name}: must be {said}", pointer=f"/{name}")


def _body(tool: Tool, given: dict[str, Any]) -> Any:
    if tool.body is None or issubclass(tool.body, QuerySerializer | NoBody):
        takes = tool.input_schema["properties"]
        for name in given:
            if name not in takes:
                raise ValidationFailed(
                    f"/{name[:80]}: unknown field {name[:80]!r}: it takes {', '.join(takes)}",
                    pointer=pointer([name]),
                )
    if tool.body is None:
        return {}
    if issubclass(tool.body, BaseModel):
        return parse_document(tool.body, given)
    if issubclass(tool.body, PageQuery):
        query = tool.body.parse({"limit": DEFAULT_PAGE, **given})
        query["paging"] = Paging(limit=query.pop("limit"), cursor=query.pop("cursor"))
        query.pop("count")
        return query
    return tool.body.parse(given)
