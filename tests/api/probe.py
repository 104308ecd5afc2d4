"""A few routes that are only there to show what the HTTP layer does, whatever the product's routes are."""

from typing import Any, ClassVar

from django.db import OperationalError, transaction
from django.http import HttpRequest, HttpResponse
from django.urls import path, re_path

from chief_project.shared.clock import now
from chief_project.shared.documents import Document
from chief_project.shared.errors import Conflict, PreconditionFailed
from chief_project.shared.http import ChiefView
from chief_project.shared.http.fallbacks import no_route
from chief_project.shared.models import ApiToken, UsedId
from chief_project.shared.paging import Page, Paging, paginate
from chief_project.shared.serializers import (
    ChoiceField,
    FlagField,
    IdField,
    IntegerField,
    ListField,
    NameField,
    ObjectField,
    PageQuery,
    QueryDateTimeField,
    QueryIdField,
    QuerySerializer,
    StrictSerializer,
    TextField,
    TextMapField,
)

handler404 = "chief_project.shared.http.fallbacks.not_found"
handler400 = "chief_project.shared.http.fallbacks.bad_request"
handler500 = "chief_project.shared.http.fallbacks.server_error"


class Tag(StrictSerializer):
    name = NameField()


class ThingBody(StrictSerializer):
    title = TextField()
    thing_id = IdField(required=False)
    note = TextField(required=False, allow_null=True, allow_blank=True)
    index = IntegerField(required=False)
    closed = FlagField(required=False)
    kind = ChoiceField(choices=["loop", "parallel"], required=False)
    metadata = ObjectField(required=False)
    answers = TextMapField(required=False)
    tags = ListField(child=Tag(), required=False)
    decided_by = NameField(default="human")


class Part(Document):
    id: str
    parts: list["Part"] = []
    criteria: list["str | Part"] = []


class Whole(Document):
    title: str
    parts: list[Part]


class ProbeQuery(QuerySerializer):
    run_id = QueryIdField(required=False)


class Echo(ChiefView):
    def post(self, request: HttpRequest) -> HttpResponse:
        return self.answer(self.body(ThingBody), status=201)

    patch = post


class WholeView(ChiefView):
    def post(self, request: HttpRequest) -> HttpResponse:
        return self.answer(self.body(Whole).model_dump())


def reserve(*, title: str, if_match: int | None, closed: bool = False, **_: Any) -> dict[str, Any]:
    """Stands for a service: one transaction, one row."""
    with transaction.atomic(savepoint=False):
        row = UsedId.objects.create(kind="probe", value=title)
        if if_match is not None and if_match != 1:
            raise PreconditionFailed("moved on")
        if closed:
            raise Conflict("written, and refused afterwards")
    return {"id": row.pk, "title": title}


class Reserve(ChiefView):
    if_match_on = ("post",)
    queries: ClassVar = {"post": ProbeQuery}

    def post(self, request: HttpRequest) -> HttpResponse:
        self.query()
        return self.answer(reserve(**self.body(ThingBody), if_match=self.if_match()), status=201)


class Outcome:
    def __init__(self) -> None:
        with transaction.atomic(savepoint=False):
            UsedId.objects.create(kind="run", value=f"{UsedId.objects.count()}")
        self.minimal: dict[str, Any] = {"run_id": "r", "revision": 7}

    def full(self) -> dict[str, Any]:
        return {"run_id": "r", "revision": 7, "step_states": {}, "updated_at": now()}


class RunWriteView(ChiefView):
    minimal_on = ("post",)

    def post(self, request: HttpRequest) -> HttpResponse:
        return self.answer_write(Outcome)


class Tagged(ChiefView):
    etag_on = ("get",)

    def get(self, request: HttpRequest) -> HttpResponse:
        return self.etag(12) or self.answer({"revision": 12})


class Tokens(ChiefView):
    class Query(PageQuery):
        since = QueryDateTimeField(required=False)

    queries: ClassVar = {"get": Query}

    def get(self, request: HttpRequest) -> HttpResponse:
        return self.answer_page(list_used(**self.query()))


def list_used(*, paging: Paging, **_: Any) -> Page:
    page = paginate(UsedId.objects.filter(kind="probe"), order=("-kind", "value", "-id"), paging=paging)
    return page.map(lambda row: row.value)


class Broken(ChiefView):
    def get(self, request: HttpRequest) -> HttpResponse:
        raise RuntimeError("a secret in the message")

    def post(self, request: HttpRequest) -> HttpResponse:
        raise OperationalError("database is locked")


class Paths(ChiefView):
    def get(self, request: HttpRequest, run_id: str, path: tuple[str, ...] = ()) -> HttpResponse:
        return self.answer([run_id, list(path), ApiToken.objects.count() >= 0])


urlpatterns = [
    path("v1/echo", Echo.as_view()),
    path("v1/whole", WholeView.as_view()),
    path("v1/reserve", Reserve.as_view()),
    path("v1/run-write", RunWriteView.as_view()),
    path("v1/tagged", Tagged.as_view()),
    path("v1/used", Tokens.as_view()),
    path("v1/broken", Broken.as_view()),
    path("v1/runs/<id:run_id>/state/<statepath:path>/updates", Paths.as_view()),
    re_path("^v1/", no_route),
]
