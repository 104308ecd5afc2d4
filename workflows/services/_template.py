"""A template under its lock."""

from workflows import models
from workflows.selectors.templates import no_template


def lock_template(template_id: str) -> models.WorkflowTemplate:
    """The template, locked until the transaction ends; ``NotFound`` without one."""
    row = models.WorkflowTemplate.objects.select_for_update().filter(template_id=template_id).first()
    if row is None:
        raise no_template(template_id)
    return row
