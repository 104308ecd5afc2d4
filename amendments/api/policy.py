"""``/v1/config/approval-policy`` (contract 5)."""

from django.http import HttpRequest, HttpResponse
from django.urls import path
from drf_spectacular.utils import extend_schema

from amendments.selectors.policy import get_approval_policy
from amendments.services.update_approval_policy import update_approval_policy
from chief_project.shared.http import ChiefView
from workflows.api.policy import Policy


class ApprovalPolicy(ChiefView):
    """Which amendments are approved as they are proposed."""

    @extend_schema(operation_id="get_approval_policy", responses=Policy)
    def get(self, request: HttpRequest) -> HttpResponse:
        """The approval policy for amendments."""
        return self.answer(get_approval_policy(caller=self.caller))

    @extend_schema(operation_id="update_approval_policy", request=Policy, responses=Policy)
    def put(self, request: HttpRequest) -> HttpResponse:
        """Replace the approval policy for amendments. People only."""
        body = self.body(Policy)
        return self.answer(update_approval_policy(caller=self.caller, **body))


policy_urlpatterns = [path("config/approval-policy", ApprovalPolicy.as_view())]
