"""``/v1/config/workflow-approval-policy`` (contract 5), and the shape that both policies have on the wire."""

from django.http import HttpRequest, HttpResponse
from django.urls import path
from drf_spectacular.utils import extend_schema

from chief_project.shared.http import ChiefView
from chief_project.shared.serializers import FlagField, IdField, ListField, StrictSerializer, TextField
from workflows.selectors.policy import get_workflow_approval_policy
from workflows.services.update_workflow_approval_policy import update_workflow_approval_policy


class PolicyRule(StrictSerializer):
    """One rule. The first whose `match` is true decides."""

    id = IdField(
        required=False, help_text="Recorded as `decided_by: policy:<id>`. Left out: `rule_1` by position."
    )
    match = TextField(
        help_text="An expression: fields of the policy's namespace with `== != in [..]` (sets: `subset_of [..]`),"
        " `&& || !`, parentheses, `true false`; texts in quotes. At most 4,000 characters, 64 levels."
    )
    auto_approve = FlagField(help_text="`false` leaves what matches to a person, whatever later rules say.")


class Policy(StrictSerializer):
    """Rules in order; what none of them approves waits for a person."""

    rules = ListField(child=PolicyRule())


class WorkflowApprovalPolicy(ChiefView):
    """Which workflows from a template are approved as they are made."""

    @extend_schema(operation_id="get_workflow_approval_policy", responses=Policy)
    def get(self, request: HttpRequest) -> HttpResponse:
        """The workflow approval policy."""
        return self.answer(get_workflow_approval_policy(caller=self.caller))

    @extend_schema(operation_id="update_workflow_approval_policy", request=Policy, responses=Policy)
    def put(self, request: HttpRequest) -> HttpResponse:
        """Replace the workflow approval policy. People only."""
        body = self.body(Policy)
        return self.answer(update_workflow_approval_policy(caller=self.caller, **body))


policy_urlpatterns = [path("config/workflow-approval-policy", WorkflowApprovalPolicy.as_view())]
