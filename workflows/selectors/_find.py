"""Finding a workflow's head without locking it."""

from chief_project.shared.errors import NotFound
from workflows import models


def find(workflow_id: str) -> models.Workflow:
    """The head; ``NotFound`` without one."""
    row = models.Workflow.objects.filter(workflow_id=workflow_id).first()
    if row is None:
        raise NotFound(f"there is no workflow '{workflow_id}'", workflow_id=workflow_id)
    return row
