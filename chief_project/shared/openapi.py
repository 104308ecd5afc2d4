"""The API's description: what every operation has in common is said once, here.

A view says the rest: ``@extend_schema(operation_id=…, request=…, responses=…)`` on the method, and on the class which
methods read ``If-Match`` (``if_match_on``), carry an ``ETag`` (``etag_on``), answer as ``Prefer`` asks (``minimal_on``),
which query parameters they take (``queries``), and where what they make is read (``location``). ``responses=X`` means 200; what makes something says
``responses={201: X}``. A list is ``responses=X(many=True)`` for a serializer, ``list_of(X)`` for a pydantic model.
"""

from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension, OpenApiSerializerExtension
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.plumbing import ResolvedComponent
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse
from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema, model_json_schema
from rest_framework import serializers

from chief_project.shared.http.errors import CODES, REFUSALS
from chief_project.shared.serializers import IdField, PageQuery, StrictSerializer, TextField

_ID_PATTERN = r"^[A-Za-z0-9_.:\-]{1,200}$"
_WRITING = frozenset({"POST", "PUT", "PATCH", "DELETE"})


class ErrorBody(serializers.Serializer):
    """What went wrong: for programs, for people, and where."""

    code = serializers.ChoiceField(sorted({*CODES.values(), "invalid_transition", "invariant_violation"}))
    message = serializers.CharField(help_text="What is wrong, and what to do instead.")
    details = serializers.DictField(
        required=False,
        help_text="What a program needs to mend the call. For a document: `pointer`, a JSON pointer to the first"
        " fault, and `errors`, an array of `{pointer, message}` with all of them.",
    )


class Error(serializers.Serializer):
    """Every refusal has this shape."""

    error = ErrorBody()


class MinimalRunWrite(serializers.Serializer):
    """The answer to a write with `Prefer: return=minimal`: what changed, and what it made ready."""

    run_id = serializers.CharField()
    revision = serializers.IntegerField()
    run_status = serializers.CharField()
    path = serializers.JSONField(help_text="Where the changed step or instance stands.")
    state = serializers.JSONField(help_text="The changed step or instance, without its nested instances.")
    next = serializers.JSONField(help_text="What this write made ready or blocked in its own scope.")


def list_of(model: type[BaseModel]) -> Any:
    """The response of a list of pydantic documents, for ``extend_schema(responses=…)``."""
    return OpenApiResponse(response=_ListOf(model))


class _ListOf:
    """Marks a response as an array of ``model``."""

    def __init__(self, model: type[BaseModel]) -> None:
        self.model = model


_KEY = OpenApiParameter(
    "Idempotency-Key",
    {"type": "string", "minLength": 1, "maxLength": 200, "pattern": r"^[\x20-\x7e]*[\x21-\x7e][\x20-\x7e]*$"},
    OpenApiParameter.HEADER,
    description="Makes a repeated request safe for 24 hours: it gets the first one's answer.",
)
_IF_MATCH = OpenApiParameter(
    "If-Match",
    {"type": "string", "pattern": r'^(\*|(W/)?"[0-9]{1,18}")$'},
    OpenApiParameter.HEADER,
    description='Only if this is still the newest revision: the `ETag` of an answer, such as `"12"`; else 412.',
)
_IF_NONE_MATCH = OpenApiParameter(
    "If-None-Match",
    {"type": "string"},
    OpenApiParameter.HEADER,
    description="The `ETag` of an earlier answer: 304 without a body if nothing has changed since.",
)
_PREFER = OpenApiParameter(
    "Prefer",
    {"type": "string"},
    OpenApiParameter.HEADER,
    description="`return=minimal` answers with what changed only, and is much the cheaper.",
)


def _header(description: str, kind: str = "string") -> dict[str, Any]:
    return {"schema": {"type": kind}, "description": description}


class ChiefSchema(AutoSchema):
    """Adds the refusals, headers and query parameters that follow from ``ChiefView``."""

    def _of_view(self, name: str, default: Any) -> Any:
        return getattr(self.view, name, default)

    def _says(self, name: str) -> bool:
        """Whether the view's tuple of methods ``name`` holds this one."""
        return self.method.lower() in self._of_view(name, ())

    def get_auth(self) -> list[dict[str, Any]]:
        """Nothing for what is public."""
        return [] if self._of_view("public", False) else super().get_auth()

    def get_override_parameters(self) -> list[Any]:
        """The declared query parameters, and the headers that this operation reads."""
        found: list[Any] = []
        query = self._of_view("queries", {}).get(self.method.lower())
        if query is not None:
            found.append(query)
        if self.method == "POST" and not self._of_view("public", False):
            found.append(_KEY)
        if self._says("if_match_on"):
            found.append(_IF_MATCH)
        if self._says("minimal_on"):
            found.append(_PREFER)
        if self._says("etag_on") and self.method == "GET":
            found.append(_IF_NONE_MATCH)
        return found

    def _refusals(self) -> list[int]:
        statuses = {406, 422, 500, 503}
        if not self._of_view("public", False):
            statuses |= {401, 403}
        if "{" in self.path or self.method.lower() in self._of_view("queries", {}):
            statuses.add(404)  # a filter may name what isn't there, too
        if self.method in _WRITING:
            statuses.add(409)
        if self.method in {"POST", "PUT", "PATCH"}:
            statuses |= {404, 413, 415}  # a body may name what isn't there
        if self._says("if_match_on"):
            statuses.add(412)
        return sorted(statuses)

    def _get_response_bodies(self, direction: Any = "response") -> dict[str, Any]:
        found: dict[str, Any] = super()._get_response_bodies(direction)
        if direction != "response":
            return found
        error = self.resolve_serializer(Error, "response").ref
        for status, answer in found.items():
            if self._says("minimal_on") and status in {"200", "201"}:
                minimal = self.resolve_serializer(MinimalRunWrite, "response").ref
                for content in answer.get("content", {}).values():
                    content["schema"] = {"anyOf": [content["schema"], minimal]}
        if self._says("etag_on") and self.method == "GET":
            found.setdefault("304", {"description": "Nothing has changed."})
        for number in self._refusals():
            name, meaning = REFUSALS[number]
            component = ResolvedComponent(
                name=name,
                type=ResolvedComponent.RESPONSE,
                object=name,
                schema={
                    "description": meaning,
                    "content": {"application/json": {"schema": error}},
                },
            )
            self.registry.register_on_missing(component)
            found.setdefault(str(number), component.ref)
        return {status: found[status] for status in sorted(found)}

    def _get_response_headers_for_code(self, status_code: str, direction: Any = "response") -> dict[str, Any]:
        found: dict[str, Any] = super()._get_response_headers_for_code(status_code, direction)
        if direction != "response" or not status_code.startswith("2"):
            return found
        query = self._of_view("queries", {}).get(self.method.lower())
        if query is not None and issubclass(query, PageQuery):
            found["Link"] = _header('`<…>; rel="next"` when there is more.')
            found["X-Total-Count"] = _header(
                "How many there are in all; left out beyond 10,000 unless `count=exact`.", "integer"
            )
        if self._says("etag_on") or self._says("minimal_on"):
            found["ETag"] = _header("The revision that this answer shows.")
        if self._says("minimal_on"):
            found["Preference-Applied"] = _header("`return=minimal` where that was asked for.")
        if status_code == "201" and self._of_view("location", None) is not None:
            found["Location"] = _header("Where it is read.")
        if self.method == "POST" and not self._of_view("public", False):
            found["Idempotency-Replayed"] = _header("`true` on an answer that was kept.")
        return found

    def _get_response_for_code(
        self, serializer: Any, status_code: str, media_types: Any = None, direction: Any = "response"
    ) -> dict[str, Any]:
        if isinstance(serializer, OpenApiResponse) and isinstance(serializer.response, _ListOf):
            items = self.resolve_serializer(serializer.response.model, direction).ref  # type: ignore[arg-type]
            serializer = OpenApiResponse(
                response={"type": "array", "items": items},
                description=serializer.description,
                examples=serializer.examples,
            )
        return super()._get_response_for_code(serializer, status_code, media_types, direction)

    def _map_basic_serializer(self, serializer: Any, direction: Any) -> dict[str, Any]:
        schema: dict[str, Any] = super()._map_basic_serializer(serializer, direction)
        if direction == "request" and isinstance(serializer, StrictSerializer):
            schema["additionalProperties"] = False
        return schema

    def _map_serializer_field(self, field: Any, direction: Any, bypass_extensions: bool = False) -> Any:
        schema = super()._map_serializer_field(field, direction, bypass_extensions)
        if direction == "request" and isinstance(field, TextField) and isinstance(schema, dict):
            if isinstance(field, IdField):
                schema["pattern"] = _ID_PATTERN
            elif not field.allow_blank:
                schema.setdefault("pattern", r"\S")
        return schema


CONVENTIONS = """
**Credentials.** `Authorization: Bearer chf_…`, or the session of a signed-in person, whose writes carry `X-CSRFToken`.

**Strictness.** A body is a JSON object in UTF-8; no body at all is `{}`. An unknown field or query parameter, a key or
parameter given twice, a number where a text belongs, `null` where it means nothing, blank text where text is needed:
each is a 422 that names it. Left out and `null` are two things. Integers of any size come back exactly.

**Refusals.** Always `{"error": {code, message, details?}}`. The message says what to do instead; for a document,
`details.errors` lists every fault as `{pointer, message}` (at most 50, and `more`), `details.pointer` is the first.
`conflict`: an id or index in use, an idempotency key, a sibling run. `invalid_transition`: the status forbids it.
`invariant_violation`: another rule does. Nothing is ever half-written.

**Ids and times.** Ids that you choose are 1 to 200 of `A–Z a–z 0–9 _ - . :`, and are used once and for ever. Times are
ISO 8601 in UTC with milliseconds.

**Lists** are bare arrays: `limit` (100, at most 1000) and `cursor`; `Link: <…>; rel="next"` while there is more;
`X-Total-Count` up to 10,000, beyond that with `count=exact`.

**State paths** alternate step and instance ids: `step_06/inst_01/step_09`.

**Revisions.** `ETag` names one; `If-None-Match` answers 304; a write with a stale `If-Match` is a 412, and so is one
with `If-Match` on an operation that has no revision: it is never ignored.

**Small answers.** `Prefer: return=minimal` on a write to a run answers with what changed and what is next.

**Repeats.** `Idempotency-Key` on any POST: for 24 hours the same request gets the same answer
(`Idempotency-Replayed: true`; of a write to a run, the minimal one), and does nothing again. The same key with another
method, path, query or body is a 409. Refusals aren't kept.
"""


def finish(result: dict[str, Any], **_: Any) -> dict[str, Any]:
    """A post-processing hook: says the conventions, and takes out the marks of the hook it replaces.

    That one gives enumerations components of their own, with names it invents; here they stay where they are used.
    """
    result["info"]["description"] = f"{result['info']['description']}\n{CONVENTIONS}".strip()
    waiting: list[Any] = [result]
    while waiting:
        here = waiting.pop()
        if isinstance(here, dict):
            here.pop("x-spec-enum-id", None)
            waiting.extend(here.values())
        elif isinstance(here, list):
            waiting.extend(here)
    return result


class _Untitled(GenerateJsonSchema):
    """Without a title per field that only repeats its name."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False


class PydanticDocuments(OpenApiSerializerExtension):
    """Pydantic models as components: as they are validated in requests, as they are written in answers."""

    target_class = BaseModel
    match_subclasses = True
    priority = 1  # before drf-spectacular's own, which knows one direction only

    def get_name(self, auto_schema: Any, direction: Any) -> str:
        """The class's name."""
        return str(self.target.__name__)

    def get_identity(self, auto_schema: Any, direction: Any) -> Any:
        """The name: a model that was met inside another one is the same component."""
        return self._suffixed(self.target.__name__, direction)

    @staticmethod
    def _suffixed(name: str, direction: str) -> str:
        return f"{name}Request" if direction == "request" else name

    def map_serializer(self, auto_schema: Any, direction: Any) -> dict[str, Any]:
        """The model's schema; the models it holds become components too. Recursive models are fine."""
        own = self.target.__name__
        schema = model_json_schema(
            self.target,
            ref_template=f"#/components/schemas/{self._suffixed('{model}', direction)}",
            schema_generator=_Untitled,
            mode="validation" if direction == "request" else "serialization",
        )
        inner = schema.pop("$defs", {})
        if own in inner:  # a recursive model comes as a reference to itself
            schema = inner.pop(own)
        for name, definition in inner.items():
            auto_schema.registry.register_on_missing(
                ResolvedComponent(
                    name=self._suffixed(name, direction),
                    type=ResolvedComponent.SCHEMA,
                    object=self._suffixed(name, direction),
                    schema=definition,
                )
            )
        return schema


class TokenScheme(OpenApiAuthenticationExtension):
    """``Authorization: Bearer chf_…``."""

    target_class = "chief_project.shared.auth.TokenAuthentication"
    name = "token"

    def get_security_definition(self, auto_schema: Any) -> dict[str, Any]:
        """A bearer token."""
        return {"type": "http", "scheme": "bearer", "description": "An API token: `chf_…`"}


class SessionScheme(OpenApiAuthenticationExtension):
    """A person who signed in on a page."""

    target_class = "chief_project.shared.auth.SessionAuthentication"
    name = "session"

    def get_security_definition(self, auto_schema: Any) -> dict[str, Any]:
        """The session's cookie; writes need the CSRF token too."""
        return {
            "type": "apiKey",
            "in": "cookie",
            "name": "chief_session",
            "description": "A signed-in person. Writes carry `X-CSRFToken` as well.",
        }
