"""Submit a plan for review (contract 2)."""

from typing import Any

from django.db import transaction

from chief_project.shared import clock
from chief_project.shared.caller import Caller, Right
from workflows import mappers
from workflows.domain.plan import Plan
from workflows.services._new import NewWorkflow, insert_workflow
from workflows.services._seen import note_seen


def create_workflow(
    *,
    caller: Caller,
    title: str,
    source: str,
    plan: Plan,
    workflow_id: str | None = None,
    generated_by: str | None = None,
    project: str | None = None,
    origin_dir: str | None = None,
) -> dict[str, Any]:
    """A new draft at version 1, revision 1; answers the ``Workflow`` document.

    ``source``: ``import``, ``generated`` or ``human``. Raises ``ValidationFailed`` naming every broken rule with its
    place, ``Conflict`` if ``workflow_id`` is or was in use.
    """
    with transaction.atomic(savepoint=False):
        caller.must(Right.WORK, "submit a plan")
        new = NewWorkflow(
            title=title,
            source=source,
            plan=plan,
            workflow_id=workflow_id,
            generated_by=generated_by,
            project=project,
            origin_dir=origin_dir,
        )
        at = clock.now()
        row = insert_workflow(new, caller=caller, at=at)
        note_seen(row, caller=caller, at=at)
        return mappers.workflow_document(row, plan, notes=[])
