"""``/v1/waiting``: what needs a person (contract 2)."""

from typing import ClassVar

from django.http import HttpRequest, HttpResponse
from django.urls import path
from drf_spectacular.utils import extend_schema

from amendments.documents_waiting import WaitingItem
from amendments.selectors.waiting import list_waiting
from chief_project.shared.http import ChiefView
from chief_project.shared.openapi import list_of
from chief_project.shared.serializers import PageQuery


class Waiting(ChiefView):
    """What waits for a person."""

    queries: ClassVar = {"get": PageQuery}

    @extend_schema(operation_id="list_waiting", responses=list_of(WaitingItem))
    def get(self, request: HttpRequest) -> HttpResponse:
        """Drafts, amendments, checkpoints, questions and failed runs, the longest waiting first."""
        return self.answer_page(list_waiting(caller=self.caller, **self.query()))


waiting_urlpatterns = [path("waiting", Waiting.as_view())]
