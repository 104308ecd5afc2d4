"""Workflows at every status, made through the real services."""

from __future__ import annotations

from typing import Any

from chief_project.shared.caller import Caller
from tests.plans import plan
from workflows.documents import WorkflowCreate, WorkflowRevise
from workflows.services.approve_workflow import approve_workflow
from workflows.services.create_workflow import create_workflow
from workflows.services.revise_draft import revise_draft


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


def revised(
    caller: Caller, workflow: dict[str, Any], *steps: dict[str, Any], title: str = "A plan", **keys: Any
) -> dict[str, Any]:
    """The draft with a new text. ``keys``: ``groups``, ``reason``, ``based_on``, ``if_match``."""
    if_match = keys.pop("if_match", None)
    body = WorkflowRevise.model_validate({"title": title, "steps": list(steps)} | keys)
    return revise_draft(
        caller=caller,
        workflow_id=workflow["workflow_id"],
        title=body.title,
        steps=body.step_values(),
        groups=body.group_values(),
        reason=body.reason,
        based_on=body.based_on,
        if_match=if_match,
    )
