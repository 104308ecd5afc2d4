"""Finding a workflow's head without locking it."""

from chief_project.shared.errors import NotFound
from workflows import models


def no_workflow(workflow_id: str) -> NotFound:
    """The refusal for an id that names no workflow."""
    return NotFound(
        f"there is no workflow '{workflow_id}': list_workflows (GET /v1/workflows) names them",
        workflow_id=workflow_id,
    )


def find(workflow_id: str) -> models.Workflow:
    """The head; ``NotFound`` without one."""
    row = models.Workflow.objects.filter(workflow_id=workflow_id).first()
    if row is None:
        raise no_workflow(workflow_id)
    return row
