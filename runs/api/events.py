"""A run's changes as they happen (contract 3, ``GET /runs/{id}/events``)."""

from typing import ClassVar

from django.http import HttpRequest, HttpResponse
from django.urls import path
from drf_spectacular.utils import OpenApiParameter, extend_schema

from chief_project.shared.http import ChiefView
from chief_project.shared.http.events import Event, so_far
from chief_project.shared.http.headers import EVENTS
from runs.domain.waits import RunFacts
from runs.selectors.waits import where_run_stands
from runs.serializers import FollowRunQuery

_LAST = OpenApiParameter(
    "Last-Event-ID",
    {"type": "string"},
    OpenApiParameter.HEADER,
    description="The `id` of the last event that you got: an event comes at once if there is a newer one.",
)

# No type: some clients of the description judge the text of the stream, others each event that they read from it.
_EVENTS = {
    "description": "Events with an `id` (the revision) and `data`: `{run_id, revision, status}` as JSON. An event named "
    "`gone` has `{run_id}` and ends the stream."
}


def run_event(run_id: str, facts: RunFacts | None) -> Event:
    """Where a run stands, or that it is ``gone``."""
    if facts is None:
        return Event("", {"run_id": run_id}, name="gone")
    data = {"run_id": run_id, "revision": facts.revision, "status": facts.status}
    return Event(str(facts.revision), data)


class RunEvents(ChiefView):
    """Changes of one run."""

    queries: ClassVar = {"get": FollowRunQuery}
    offers: ClassVar = EVENTS

    @extend_schema(operation_id="follow_run", parameters=[_LAST], responses={(200, EVENTS): _EVENTS})
    def get(self, request: HttpRequest, run_id: str) -> HttpResponse:
        """Server-Sent Events: one after each change of the run, its `id` the new revision.

        `data` is `{"run_id", "revision", "status"}`. Changes that follow each other closely come as one event. The
        first comes at once, unless `Last-Event-ID` or `since` says that you know it. A comment every 15 seconds keeps
        the connection open. An event named `gone` says that the run was deleted; the stream ends with it, and when
        your credential does. Behind a server that can't hold streams, and with `once=true`, the answer ends at once.
        """
        self.query()
        return so_far(request, run_event(run_id, where_run_stands(caller=self.caller, run_id=run_id)))


event_urlpatterns = [path("runs/<id:run_id>/events", RunEvents.as_view())]
