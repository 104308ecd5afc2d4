"""Approve a draft as it stands (contract 2)."""

from datetime import datetime
from typing import Any

from django.db import transaction

from chief_project.shared import audit, clock
from chief_project.shared.caller import Caller, Right
from chief_project.shared.errors import InvalidTransition
from workflows import models, selectors
from workflows.services._seen import note_seen
from workflows.services.head import check_etag, check_revision, lock_workflow, must_be_draft, save

_INSTEAD = {
    "approved": "nothing is left to decide: register a run",
    "archived": "clone it, and approve the copy",
}


def approve_workflow(
    *,
    caller: Caller,
    workflow_id: str,
    decided_by: str = "human",
    reason: str | None = None,
    revision: int | None = None,
    if_match: int | None = None,
    unless_sent_back: bool = False,
) -> dict[str, Any]:
    """The draft becomes approved and its plan is kept as this version; no run is made. Answers the ``Workflow``.

    ``revision`` (or ``if_match``, the ETag's number) binds the approval to what was read. ``unless_sent_back``: whoever
    approves saw a draft that waits, so that of two people who decide at once the second hears of the first. Raises
    ``Forbidden``, ``NotFound``, ``PreconditionFailed`` with the difference, ``InvalidTransition`` unless it is a draft.
    """
    with transaction.atomic(savepoint=False):
        caller.must(Right.DECIDE, "approve a workflow")
        row = lock_workflow(workflow_id)
        check_etag(row, if_match)
        must_be_draft(row, "approved", _INSTEAD)
        check_revision(row, revision, "approve")
        if unless_sent_back and row.review_state == "sent_back":
            raise InvalidTransition(
                f"workflow '{workflow_id}' was sent back by {row.review_by} while you were reading: read why, and approve "
                "it then if you still would",
                by=row.review_by,
            )
        at = clock.now()
        decide_approval(row, caller=caller, at=at, decided_by=caller.claim(decided_by), reason=reason)
        note_seen(row, caller=caller, at=at)
        return selectors.document_of(row)


def decide_approval(
    row: models.Workflow, *, caller: Caller, at: datetime, decided_by: str, reason: str | None
) -> None:
    """Write the approval of a locked draft: shared with the policy that approves what comes from a template."""
    row.status = "approved"
    row.decided_by = decided_by
    row.decided_at = at
    save(row, "status", "decided_by", "decided_at", at=at)
    models.Version.objects.create(
        workflow=row,
        number=row.version,
        plan_id=row.plan_id,
        title=row.title,
        at=at,
        by=decided_by,
        principal=caller.principal,
        via=caller.via,
        reason=reason,
    )
    audit.record(
        caller=caller,
        event="workflow.approved",
        at=at,
        head=row,
        workflow_id=row.workflow_id,
        detail={"decided_by": decided_by, "reason": reason, "version": row.version, "revision": row.revision},
    )
