"""Say that a draft needs changes (contract 2)."""

from typing import Any

from django.db import transaction

from chief_project.shared import audit, clock
from chief_project.shared.caller import Caller, Right
from chief_project.shared.errors import InvalidTransition
from workflows import models, selectors
from workflows.services._seen import note_seen
from workflows.services.head import REVIEW, check_etag, check_revision, lock_workflow, must_be_draft, save

_INSTEAD = {
    "approved": "propose an amendment on one of its runs, or reopen it while it has none",
    "archived": "clone it, and review the copy",
}


def send_back_workflow(
    *,
    caller: Caller,
    workflow_id: str,
    decided_by: str = "human",
    reason: str | None = None,
    revision: int | None = None,
    if_match: int | None = None,
) -> dict[str, Any]:
    """The draft stays one and waits for its harness, not for a person, until the next revision.

    What is wanted stands in the open notes and in ``reason``. Answers the ``Workflow``. People only; raises
    ``PreconditionFailed`` as an approval does, ``InvalidTransition`` unless it is a draft that waits for review.
    """
    with transaction.atomic(savepoint=False):
        caller.must(Right.REVIEW, "send a draft back")
        caller.must_be_person("send a draft back")
        row = lock_workflow(workflow_id)
        check_etag(row, if_match)
        must_be_draft(row, "sent back", _INSTEAD)
        check_revision(row, revision, "send back")
        if row.review_state == "sent_back":
            raise InvalidTransition(
                f"workflow '{workflow_id}' was sent back already, by {row.review_by}, and waits for its harness: "
                "add a review note to say more",
                by=row.review_by,
            )
        at = clock.now()
        by = caller.claim(decided_by)
        row.review_state, row.review_revision = "sent_back", row.revision
        row.review_by, row.review_actor = by, caller.actor
        row.review_at, row.review_reason = at, reason
        save(row, *REVIEW, at=at)
        note_seen(row, caller=caller, at=at)
        open_notes = models.ReviewNote.objects.filter(workflow=row, resolved=False).order_by("id")
        audit.record(
            caller=caller,
            event="workflow.sent_back",
            at=at,
            head=row,
            workflow_id=workflow_id,
            detail={
                "decided_by": by,
                "reason": reason,
                "revision": row.revision,
                "open_notes": list(open_notes.values_list("note_id", flat=True)),
            },
        )
        return selectors.document_of(row)
