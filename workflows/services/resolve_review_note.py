"""Close a review note, or open it again (contract 7)."""

from typing import Any

from django.db import transaction

from chief_project.shared import audit, clock
from chief_project.shared.caller import Caller, Right
from chief_project.shared.errors import InvalidTransition, NotFound
from workflows import mappers, models
from workflows.services.head import check_etag, lock_workflow, save


def resolve_review_note(
    *,
    caller: Caller,
    workflow_id: str,
    note_id: str,
    resolved: bool = True,
    resolved_by: str = "human",
    if_match: int | None = None,
) -> dict[str, Any]:
    """Mark a note resolved, or with ``resolved`` false open again; answers the ``ReviewNote``. People only.

    Raises ``InvalidTransition`` if that is what it is already.
    """
    with transaction.atomic(savepoint=False):
        caller.must(Right.REVIEW, "resolve a review note")
        caller.must_be_person("resolve a review note")
        row = lock_workflow(workflow_id)
        check_etag(row, if_match)
        note = models.ReviewNote.objects.filter(workflow=row, note_id=note_id).first()
        if note is None:
            raise NotFound(f"workflow '{workflow_id}' has no note '{note_id}'", note_id=note_id)
        if note.resolved == resolved:
            standing = f"resolved already, by {note.resolved_by}" if resolved else "open already"
            raise InvalidTransition(f"note '{note_id}' is {standing}: nothing to change")
        at = clock.now()
        by = caller.claim(resolved_by)
        note.resolved = resolved
        note.resolved_at = at if resolved else None
        note.resolved_by = by if resolved else None
        note.resolved_actor = caller.actor if resolved else None
        note.resolved_via = caller.via if resolved else None
        note.save(update_fields=["resolved", "resolved_at", "resolved_by", "resolved_actor", "resolved_via"])
        save(row, at=at)
        audit.record(
            caller=caller,
            event="workflow.note_resolved" if resolved else "workflow.note_reopened",
            at=at,
            head=row,
            workflow_id=workflow_id,
            detail={"note_id": note_id, "by": by, "step_id": note.step_id},
        )
        return mappers.note_document(note, workflow_id, mappers.load_plan(row.plan_id))
