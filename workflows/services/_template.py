"""A template under its lock."""

from chief_project.shared.errors import NotFound
from workflows import models


def lock_template(template_id: str) -> models.WorkflowTemplate:
    """The template, locked until the transaction ends; ``NotFound`` without one."""
    row = models.WorkflowTemplate.objects.select_for_update().filter(template_id=template_id).first()
    if row is None:
        raise NotFound(f"there is no template '{template_id}'", template_id=template_id)
    return row
