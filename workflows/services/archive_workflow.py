"""Put a workflow away (contract 2)."""

from typing import Any

from django.db import transaction

from chief_project.shared import audit, clock
from chief_project.shared.caller import Caller, Right
from workflows import selectors
from workflows.domain.standing import refuse_archived
from workflows.services._seen import note_seen
from workflows.services.head import check_etag, lock_workflow, save


def archive_workflow(
    *,
    caller: Caller,
    workflow_id: str,
    decided_by: str = "human",
    reason: str | None = None,
    if_match: int | None = None,
) -> dict[str, Any]:
    """A draft or approved workflow becomes archived: no new runs, and running ones go on. Answers the ``Workflow``.

    Raises ``InvalidTransition`` if it is archived already.
    """
    with transaction.atomic(savepoint=False):
        caller.must(Right.DECIDE, "archive a workflow")
        row = lock_workflow(workflow_id)
        check_etag(row, if_match)
        refuse_archived(workflow_id, row.status, by=row.decided_by)
        at = clock.now()
        by = caller.claim(decided_by)
        status_was, row.status = row.status, "archived"
        row.decided_by, row.decided_at = by, at
        save(row, "status", "decided_by", "decided_at", at=at)
        note_seen(row, caller=caller, at=at)
        audit.record(
            caller=caller,
            event="workflow.archived",
            at=at,
            head=row,
            workflow_id=workflow_id,
            detail={"decided_by": by, "from": status_was, "reason": reason},
        )
        return selectors.document_of(row)
