"""Say something about a plan, or one of its steps (contract 7)."""

from typing import Any

from django.db import transaction

from chief_project.shared import audit, clock, ids
from chief_project.shared.caller import Caller, Right
from chief_project.shared.errors import ValidationFailed
from workflows import mappers, models
from workflows.services._seen import note_seen
from workflows.services.head import check_etag, lock_workflow, save


def add_review_note(
    *,
    caller: Caller,
    workflow_id: str,
    body: str,
    step_id: str | None = None,
    author: str = "human",
    if_match: int | None = None,
) -> dict[str, Any]:
    """A new open note, at any status; answers the ``ReviewNote``. People only.

    Raises ``ValidationFailed`` naming a step that the plan doesn't have.
    """
    with transaction.atomic(savepoint=False):
        caller.must(Right.REVIEW, "write a review note")
        caller.must_be_person("write a review note")
        row = lock_workflow(workflow_id)
        check_etag(row, if_match)
        plan = mappers.load_plan(row.plan_id)
        if step_id is not None and step_id not in plan.by_id:
            raise ValidationFailed(
                f"revision {row.revision} has no step '{step_id[:200]}': name one it has, or leave step_id out to"
                " speak of the whole plan",
                pointer="/step_id",
            )
        at = clock.now()
        note = models.ReviewNote.objects.create(
            workflow=row,
            note_id=ids.mint("rvw"),
            revision=row.revision,
            step_id=step_id,
            step_goal=None if step_id is None else plan.by_id[step_id].goal,
            body=body,
            author=caller.claim(author),
            actor=caller.actor,
            via=caller.via,
            created_at=at,
        )
        save(row, at=at)
        note_seen(row, caller=caller, at=at)
        audit.record(
            caller=caller,
            event="workflow.note_added",
            at=at,
            head=row,
            workflow_id=workflow_id,
            detail={
                "note_id": note.note_id,
                "step_id": step_id,
                "body": body,
                "author": note.author,
                "revision": row.revision,
            },
        )
        return mappers.note_document(note, workflow_id, plan)
