"""``/v1/workflows/{id}``: the workflow's own operations and its deletion, which needs to know every table."""

from django.http import HttpRequest, HttpResponse
from django.urls import path
from drf_spectacular.utils import extend_schema

from amendments.services.delete_workflow import delete_workflow
from chief_project.shared.http import paths  # noqa: F401 - the converters
from chief_project.shared.serializers import NoBody
from workflows.api.workflows import Workflow
from workflows.documents import DeletedWorkflow


class WholeWorkflow(Workflow):
    """One workflow, with everything that hangs on it."""

    if_match_on = (*Workflow.if_match_on, "delete")

    @extend_schema(operation_id="delete_workflow", responses={200: DeletedWorkflow})
    def delete(self, request: HttpRequest, workflow_id: str) -> HttpResponse:
        """Remove a workflow with its versions, runs, amendments and notes. People only. The audit log stays."""
        self.body(NoBody)
        return self.answer(
            delete_workflow(caller=self.caller, workflow_id=workflow_id, if_match=self.if_match())
        )


workflow_urlpatterns = [path("workflows/<id:workflow_id>", WholeWorkflow.as_view())]
