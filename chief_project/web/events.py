"""``/events``: that something changed anywhere, for the pages that are open."""

from typing import ClassVar

from django.http import HttpRequest, HttpResponse
from django.urls import path

from amendments.domain.waits import NewsFacts
from amendments.selectors.waits import get_news
from chief_project.shared.auth import SessionAuthentication
from chief_project.shared.http import ChiefView
from chief_project.shared.http.events import Event, so_far
from chief_project.shared.http.headers import EVENTS
from chief_project.shared.serializers import QueryFlagField, QuerySerializer, QueryTextField


def news_event(name: str, facts: NewsFacts | None) -> Event:
    """How much waits for a person now. Its id moves with every entry of the audit."""
    if facts is None:
        return Event("", {}, name="gone")
    return Event(f"{facts.entry}.{facts.waiting}", {"waiting": facts.waiting})


class NewsQuery(QuerySerializer):
    """How to hear: see ``http.events``."""

    since = QueryTextField(required=False)
    once = QueryFlagField(required=False)


class News(ChiefView):
    """Changes of anything; for a person's pages alone, so it is no part of the API's description."""

    authentication_classes = [SessionAuthentication]
    schema = None
    offers: ClassVar = EVENTS
    queries: ClassVar = {"get": NewsQuery}

    def get(self, request: HttpRequest) -> HttpResponse:
        """One event a second at most: ``{"waiting"}``."""
        self.query()
        return so_far(request, news_event("", get_news(caller=self.caller)))


urlpatterns = [path("events", News.as_view(), name="events")]
