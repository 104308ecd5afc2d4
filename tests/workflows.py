"""Workflows at every status, made through the real services."""

from __future__ import annotations

from typing import Any

from chief_project.shared.caller import Caller
from tests.plans import plan
from workflows.documents import WorkflowCreate
from workflows.services.approve_workflow import approve_workflow
from workflows.services.create_workflow import create_workflow


def new_draft(caller: Caller, *steps: dict[str, Any] | str, **keys: Any) -> dict[str, Any]:
    """A draft of ``plan(*steps, **keys)``, submitted by ``caller``; the ``Workflow`` document."""
    body = WorkflowCreate.model_validate(plan(*steps, **keys))
    return create_workflow(
        caller=caller,
        title=body.title,
        source=body.source,
        plan=body.plan(),
        workflow_id=body.workflow_id,
        generated_by=body.generated_by,
        project=body.project,
        origin_dir=body.origin_dir,
    )


def new_approved(caller: Caller, *steps: dict[str, Any] | str, **keys: Any) -> dict[str, Any]:
    """An approved workflow; ``caller`` needs the right to decide (a person, or a relaying harness)."""
    made = new_draft(caller, *steps, **keys)
    return approve_workflow(caller=caller, workflow_id=made["workflow_id"])
