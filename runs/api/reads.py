"""Reading runs: lists, whole trees, effective plans, what is next, and the report log (contract 3)."""

from typing import ClassVar

from django.http import HttpRequest, HttpResponse
from django.urls import path
from drf_spectacular.utils import extend_schema

from chief_project.shared.http import ChiefView
from chief_project.shared.openapi import list_of
from runs.documents import ListedRun, RunDefinition, RunNext, RunState, RunUpdate
from runs.domain.paths import any_path
from runs.selectors.next import get_next
from runs.selectors.runs import get_run, get_run_definition, list_runs, list_updates, run_revision
from runs.serializers import GetDefinitionQuery, GetNextQuery, GetRunQuery, ListRunsQuery, ListUpdatesQuery


class Runs(ChiefView):
    """All runs."""

    queries: ClassVar = {"get": ListRunsQuery}

    @extend_schema(operation_id="list_runs", responses=list_of(ListedRun))
    def get(self, request: HttpRequest) -> HttpResponse:
        """Runs, the newest first, without their trees unless asked for."""
        query = self.query()
        expand = query.pop("expand", None) is not None
        return self.answer_page(list_runs(caller=self.caller, expand_step_states=expand, **query))


class RunDetail(ChiefView):
    """One run."""

    queries: ClassVar = {"get": GetRunQuery}
    etag_on: ClassVar = ("get",)

    @extend_schema(operation_id="get_run", responses=RunState)
    def get(self, request: HttpRequest, run_id: str) -> HttpResponse:
        """The run with everything that happened in it; 304 by `If-None-Match` before anything is built."""
        include_plan = "include" in self.query()
        unchanged = self.etag(run_revision(caller=self.caller, run_id=run_id))
        if unchanged is not None:
            return unchanged
        document = get_run(caller=self.caller, run_id=run_id, include_plan=include_plan)
        return self.answer(document, etag=document["revision"])


class RunDefinitionDetail(ChiefView):
    """The plan that a run goes by."""

    queries: ClassVar = {"get": GetDefinitionQuery}

    @extend_schema(operation_id="get_run_definition", responses=RunDefinition)
    def get(self, request: HttpRequest, run_id: str) -> HttpResponse:
        """The run's effective plan, or the one after its first `applied` amendments."""
        return self.answer(get_run_definition(caller=self.caller, run_id=run_id, **self.query()))


class RunNextDetail(ChiefView):
    """What a harness may do now."""

    queries: ClassVar = {"get": GetNextQuery}
    etag_on: ClassVar = ("get",)

    @extend_schema(operation_id="get_next", responses=RunNext)
    def get(self, request: HttpRequest, run_id: str) -> HttpResponse:
        """Steps that are ready, constructs that take instances, what people said, and what waits for them.

        304 by `If-None-Match` before anything is built: a harness polls this and needs nothing else to go on.
        """
        query = self.query()
        where = query.pop("path", None)
        path = None if where is None else any_path(where)
        unchanged = self.etag(run_revision(caller=self.caller, run_id=run_id))
        if unchanged is not None:
            return unchanged
        document = get_next(caller=self.caller, run_id=run_id, path=path, **query)
        return self.answer(document, etag=document["revision"])


class RunUpdates(ChiefView):
    """The report log."""

    queries: ClassVar = {"get": ListUpdatesQuery}

    @extend_schema(operation_id="list_updates", responses=list_of(RunUpdate))
    def get(self, request: HttpRequest, run_id: str) -> HttpResponse:
        """Every report ever made, as it was sent, oldest first: nothing that was superseded is lost."""
        query = self.query()
        where = query.pop("path", None)
        return self.answer_page(
            list_updates(
                caller=self.caller, run_id=run_id, path=None if where is None else any_path(where), **query
            )
        )


read_urlpatterns = [
    path("runs", Runs.as_view()),
    path("runs/<id:run_id>", RunDetail.as_view()),
    path("runs/<id:run_id>/definition", RunDefinitionDetail.as_view()),
    path("runs/<id:run_id>/next", RunNextDetail.as_view()),
    path("runs/<id:run_id>/updates", RunUpdates.as_view()),
]
