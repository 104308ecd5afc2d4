"""``ChiefView``: what every route below ``/v1`` shares (contract 1).

A view makes one call and holds no rule::

    class WorkflowApproval(ChiefView):
        if_match_on = ("post",)

        @extend_schema(operation_id="approve_workflow", request=DecisionBody, responses=WorkflowDocument)
        def post(self, request: HttpRequest, workflow_id: str) -> HttpResponse:
            body = self.body(DecisionBody)
            return self.answer(
                approve_workflow(caller=self.caller, workflow_id=workflow_id, if_match=self.if_match(), **body)
            )

    class WorkflowList(ChiefView):
        queries = {"get": ListWorkflowsQuery}          # a PageQuery with status, project, q

        def get(self, request: HttpRequest) -> HttpResponse:
            return self.answer_page(list_workflows(caller=self.caller, **self.query()))

    class RunDetail(ChiefView):
        etag_on = ("get",)

        def get(self, request: HttpRequest, run_id: str) -> HttpResponse:
            return self.etag(run_revision(caller=self.caller, run_id=run_id)) or self.answer(
                get_run(caller=self.caller, run_id=run_id)
            )

    class StepUpdates(ChiefView):
        minimal_on = ("post",)

        def post(self, request: HttpRequest, run_id: str, path: tuple[str, ...]) -> HttpResponse:
            body = self.body(StepUpdateBody)
            return self.answer_write(
                lambda: report_step_update(caller=self.caller, run_id=run_id, path=path, **body)
            )
"""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Protocol, TypeVar, overload

import orjson
from django.conf import settings
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.utils.http import urlencode
from pydantic import BaseModel
from rest_framework.exceptions import MethodNotAllowed
from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.request import Request
from rest_framework.views import APIView

from chief_project.shared import clock, idempotency
from chief_project.shared.caller import Caller
from chief_project.shared.errors import PreconditionFailed, Unauthenticated, ValidationFailed
from chief_project.shared.http import headers
from chief_project.shared.http.errors import answer_to
from chief_project.shared.http.middleware import API_POLICY
from chief_project.shared.paging import Page, Paging
from chief_project.shared.serializers import (
    PageQuery,
    QuerySerializer,
    StrictSerializer,
    parse_document,
)
from chief_project.shared.wire.parsing import read_body
from chief_project.shared.wire.rendering import JSONResponse, dumps

_D = TypeVar("_D", bound=BaseModel)
_WRITING = frozenset({"post", "put", "patch", "delete"})
_NEGOTIATION = DefaultContentNegotiation()


class RunWrite(Protocol):
    """What a write to a run answers: the small document, and the whole one when it is asked for."""

    @property
    def minimal(self) -> dict[str, Any]:
        """``{run_id, revision, run_status, path, state, next}``."""

    def full(self) -> dict[str, Any]:
        """The whole answer, read now."""


class ChiefView(APIView):
    """Authentication, strict bodies and queries, preconditions, kept answers, and the error table."""

    public: ClassVar[bool] = False
    queries: ClassVar[Mapping[str, type[QuerySerializer]]] = {}
    """The query parameters of each method (``{"get": …}``); a method that isn't named takes none."""

    if_match_on: ClassVar[tuple[str, ...]] = ()
    """The methods that heed ``If-Match`` (``("put", "patch")``); another write that carries it is refused."""
    etag_on: ClassVar[tuple[str, ...]] = ()
    """The methods whose answer carries ``ETag``."""
    minimal_on: ClassVar[tuple[str, ...]] = ()
    """The methods that answer by ``answer_write``, and so heed ``Prefer: return=minimal``."""
    offers: ClassVar[str] = headers.JSON
    """The media type of what it answers; refusals are JSON whatever a client accepts."""
    location: ClassVar[str | None] = None
    """Where what a 201 made is read, with keys of the answer: ``/v1/runs/{run_id}``."""

    http_method_names = ["get", "post", "put", "patch", "delete", "head", "options"]
    permission_classes = []
    throttle_classes = []

    caller: Caller
    response: Any
    _kept_authenticators: ClassVar[list[Any]]
    _http: HttpRequest
    _minimal: bytes | None = None

    # -- What views use --

    @overload
    def body(self, shape: type[StrictSerializer]) -> dict[str, Any]: ...
    @overload
    def body(self, shape: type[_D]) -> _D: ...
    def body(self, shape: Any) -> Any:
        """The request's body: a dict of what was sent for a ``StrictSerializer``, a model for a pydantic class.

        No body at all is ``{}``. Raises ``ValidationFailed``, ``TooLarge`` or ``UnsupportedMediaType``.
        """
        meta = self._http.META
        data = read_body(
            self._raw(),
            content_type=meta.get("CONTENT_TYPE", ""),
            content_encoding=meta.get("HTTP_CONTENT_ENCODING", ""),
        )
        if issubclass(shape, BaseModel):
            return parse_document(shape, data)
        return shape.parse(data)

    def query(self) -> dict[str, Any]:
        """The checked query parameters that ``queries`` declares for this method.

        For a ``PageQuery``, ``limit``, ``cursor`` and ``count`` come as one ``paging: Paging``.
        """
        shape = self.queries[self._verb()]
        given = self._http.GET
        for name, values in given.lists():
            wrong = "given more than once" if len(values) > 1 else "holds NUL" if "\0" in values[0] else None
            if wrong is not None:
                raise ValidationFailed(f"query parameter {name[:80]!r}: {wrong}", parameter=name[:80])
        found = shape.parse(given.dict())
        if issubclass(shape, PageQuery):
            found["paging"] = Paging(
                limit=found.pop("limit"), cursor=found.pop("cursor"), exact=found.pop("count") is not None
            )
        return found

    def if_match(self) -> int | None:
        """The revision that ``If-Match`` demands, or ``None``; the service compares it under its lock."""
        assert self._verb() in self.if_match_on, "declare the method in if_match_on"
        return headers.if_match(self._http.META.get("HTTP_IF_MATCH"))

    def prefer_minimal(self) -> bool:
        """Whether the client wants the small answer."""
        return headers.prefers_minimal(self._http.META.get("HTTP_PREFER"))

    def etag(self, number: int) -> HttpResponse | None:
        """Put ``ETag`` on the answer; a 304 to return at once if the client holds revision ``number`` already."""
        assert self._verb() in self.etag_on, "declare the method in etag_on"
        self._extra["ETag"] = headers.entity_tag(number)
        if headers.none_match(self._http.META.get("HTTP_IF_NONE_MATCH"), number):
            return HttpResponse(status=304)
        return None

    def answer(self, document: Any, *, status: int = 200, etag: int | None = None) -> HttpResponse:
        """``document`` as the answer; ``etag`` names the revision it shows."""
        if etag is not None:
            assert self._verb() in self.etag_on, "declare the method in etag_on"
            self._extra["ETag"] = headers.entity_tag(etag)
        self._locate(document, status)
        return JSONResponse(document, status)

    def answer_write(self, write: Callable[[], RunWrite], *, status: int = 200) -> HttpResponse:
        """Make a write to a run and answer it as ``Prefer`` asks.

        The whole answer is read in the write's own transaction, where the run is locked and so can't be torn; with
        ``return=minimal`` there is nothing to read, and the service's transaction is the only one.
        """
        assert self._verb() in self.minimal_on, "declare the method in minimal_on"
        if self.prefer_minimal():
            outcome = write()
            response: HttpResponse = JSONResponse(outcome.minimal, status)
            self._extra["Preference-Applied"] = "return=minimal"
            self._minimal = response.content
        else:
            with transaction.atomic(savepoint=False):
                outcome = write()
                document = outcome.full()
            response = JSONResponse(document, status)
            if self._keeping:
                self._minimal = dumps(outcome.minimal)
        self._extra["ETag"] = headers.entity_tag(outcome.minimal["revision"])
        self._locate(outcome.minimal, status)
        return response

    def answer_page(self, page: Page) -> HttpResponse:
        """A list: a bare array, with ``Link`` when there is more and ``X-Total-Count`` when it is known."""
        if page.total is not None:
            self._extra["X-Total-Count"] = str(page.total)
        if page.next_cursor is not None:
            query = urlencode({**self._http.GET.dict(), "cursor": page.next_cursor})
            path = self._http.get_full_path_info().split("?")[0]
            self._extra["Link"] = f'<{settings.CHIEF_URL.rstrip("/")}{path}?{query}>; rel="next"'
        return JSONResponse(page.rows)

    # -- One request --

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """DRF's, without what Chief doesn't use (renderer choice, versions, throttles, permissions, formats)."""
        self.args, self.kwargs = args, kwargs
        self._http = request
        self._extra: dict[str, str] = {}
        self._keeping = False
        self.request = Request(request, authenticators=self._authenticators(), negotiator=_NEGOTIATION)
        self.headers = {}
        try:
            response = self._respond(request, *args, **kwargs)
        except Exception as problem:  # the one place that catches: the table knows what to say
            response = answer_to(problem, request)
        else:
            for name, value in self._extra.items():
                response[name] = value
        response.headers.setdefault(*API_POLICY)
        if not self.public:
            # What one principal may see is not another's: nothing in between may hand it on unasked.
            response.headers.setdefault("Cache-Control", "private, no-cache")
            response.headers.setdefault("Vary", "Authorization, Cookie")
        self.response = response
        return response

    def _respond(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        verb = (request.method or "").lower()
        handler = getattr(self, verb, None) if verb in self.http_method_names else None
        if handler is None:
            raise self._not_allowed(request)
        if verb == "options":
            return HttpResponse(status=204, headers={"Allow": ", ".join(self.allowed_methods)})
        meta = request.META
        headers.must_accept(meta.get("HTTP_ACCEPT"), self.offers)
        if not self.public:
            caller: Any = self.request.auth
            if caller is None:
                raise Unauthenticated("sign in, or send a token as 'Authorization: Bearer chf_…'")
            self.caller = caller
        if meta.get("QUERY_STRING") and self._verb() not in self.queries and request.GET:
            name = next(iter(request.GET))[:80]
            raise ValidationFailed(
                f"unknown query parameter {name!r}: this operation takes none", parameter=name
            )
        if request.method == "POST" and "HTTP_IDEMPOTENCY_KEY" in meta and not self.public:
            return self._once(request, handler, *args, **kwargs)
        return self._handle(request, handler, *args, **kwargs)

    def _handle(self, request: HttpRequest, handler: Any, *args: Any, **kwargs: Any) -> HttpResponse:
        if "HTTP_IF_MATCH" in request.META:
            verb = self._verb()
            if verb in _WRITING and verb not in self.if_match_on:
                raise PreconditionFailed(
                    "this operation has no revision that If-Match could name: send it without",
                    header="If-Match",
                )
        response: HttpResponse = handler(request, *args, **kwargs)
        return response

    def _once(self, request: HttpRequest, handler: Any, *args: Any, **kwargs: Any) -> HttpResponse:
        """Carry out a POST with an ``Idempotency-Key``, or give the answer that it got before."""
        key = headers.idempotency_key(request.META["HTTP_IDEMPOTENCY_KEY"]) or ""
        request_hash = idempotency.fingerprint(
            method="POST", path=request.get_full_path_info(), body=self._raw()
        )
        at = clock.now()
        self._keeping = True
        with transaction.atomic():
            claim = idempotency.begin(
                principal=self.caller.principal, key=key, request_hash=request_hash, at=at
            )
            if isinstance(claim, idempotency.Kept):
                return self._replay(claim)
            response = self._handle(request, handler, *args, **kwargs)
            answer = response.content if self._minimal is None else self._minimal
            idempotency.keep(claim, status=response.status_code, answer=answer)
        idempotency.purge_now_and_then(at=at)
        return response

    def _replay(self, kept: idempotency.Kept) -> HttpResponse:
        self._extra["Idempotency-Replayed"] = "true"
        if self.location is not None:
            self._locate(orjson.loads(kept.answer), kept.status)
        if self._verb() in self.minimal_on:
            self._extra["ETag"] = headers.entity_tag(orjson.loads(kept.answer)["revision"])
            if self.prefer_minimal():
                self._extra["Preference-Applied"] = "return=minimal"
        return HttpResponse(kept.answer, status=kept.status, content_type="application/json")

    def _locate(self, document: Any, status: int) -> None:
        if status == 201 and self.location is not None:
            self._extra["Location"] = self.location.format_map(document)

    def _raw(self) -> bytes:
        length = self._http.META.get("CONTENT_LENGTH") or "0"
        if not (length.isascii() and length.isdigit()):
            raise ValidationFailed("Content-Length is not a number", header="Content-Length")
        return self._http.body

    def _verb(self) -> str:
        verb = (self._http.method or "").lower()
        return "get" if verb == "head" else verb

    def _not_allowed(self, request: HttpRequest) -> MethodNotAllowed:
        problem = MethodNotAllowed(request.method or "")
        problem.allowed = self.allowed_methods  # type: ignore[attr-defined]
        return problem

    @classmethod
    def _authenticators(cls) -> list[Any]:
        """The authenticators, made once per class: they keep nothing between requests."""
        if "_kept_authenticators" not in cls.__dict__:
            cls._kept_authenticators = [kind() for kind in cls.authentication_classes]
        return cls._kept_authenticators
