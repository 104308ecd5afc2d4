"""Make an approved workflow that nobody runs a draft again (contract 2)."""

from typing import Any

from django.db import transaction

from chief_project.shared import audit, clock
from chief_project.shared.caller import Caller, Right
from chief_project.shared.errors import InvalidTransition, InvariantViolation
from workflows import models, selectors
from workflows.services._seen import note_seen
from workflows.services.head import REVIEW, check_etag, lock_workflow, save


def reopen_workflow(
    *,
    caller: Caller,
    workflow_id: str,
    decided_by: str = "human",
    reason: str | None = None,
    if_match: int | None = None,
) -> dict[str, Any]:
    """Version + 1, a draft that waits for review; the version that was approved stays readable. Answers the
    ``Workflow``. Raises ``InvalidTransition`` unless it is approved, ``InvariantViolation`` if it has a run.
    """
    with transaction.atomic(savepoint=False):
        caller.must(Right.DECIDE, "reopen a workflow")
        row = lock_workflow(workflow_id)
        check_etag(row, if_match)
        if row.status != "approved":
            instead = "it can be revised as it is" if row.status == "draft" else "clone it instead"
            raise InvalidTransition(
                f"workflow '{workflow_id}' is {row.status}: only an approved one can be reopened; {instead}",
                status=row.status,
            )
        # Runs belong to the app above; whether there are any can be asked without knowing it. A run is registered
        # under this row's lock, so none appears meanwhile.
        if models.Workflow.objects.filter(pk=row.pk, runs__isnull=False).exists():
            raise InvariantViolation(
                f"workflow '{workflow_id}' has runs, so its plan stands: propose an amendment on a run, or clone it"
            )
        at = clock.now()
        by = caller.claim(decided_by)
        row.status = "draft"
        row.version += 1
        row.decided_by, row.decided_at = None, None
        row.review_state, row.review_revision = "waiting", row.revision
        row.review_by, row.review_actor = by, caller.actor
        row.review_at, row.review_reason = at, reason
        save(row, "status", "version", "decided_by", "decided_at", *REVIEW, at=at)
        note_seen(row, caller=caller, at=at)
        audit.record(
            caller=caller,
            event="workflow.reopened",
            at=at,
            head=row,
            workflow_id=workflow_id,
            detail={"decided_by": by, "reason": reason, "version": row.version, "revision": row.revision},
        )
        return selectors.document_of(row)
