"""Workflows as the contract shows them (contract 2)."""

from typing import Any

from chief_project.shared.caller import Caller, Right
from chief_project.shared.errors import NotFound
from chief_project.shared.reading import one_moment
from workflows import mappers, models


def find(workflow_id: str) -> models.Workflow:
    """The head, unlocked; ``NotFound`` without one."""
    row = models.Workflow.objects.filter(workflow_id=workflow_id).first()
    if row is None:
        raise NotFound(f"there is no workflow '{workflow_id}'", workflow_id=workflow_id)
    return row


def get_workflow(*, caller: Caller, workflow_id: str) -> dict[str, Any]:
    """The ``Workflow`` with its review notes, oldest first. Two statements, and six where the plan isn't cached."""
    caller.must(Right.READ, "read a workflow")
    with one_moment():
        return document_of(find(workflow_id))


def workflow_etag(*, caller: Caller, workflow_id: str) -> int:
    """The number in the workflow's ETag, which every write to it moves: one statement."""
    caller.must(Right.READ, "read a workflow")
    etag = models.Workflow.objects.filter(workflow_id=workflow_id).values_list("etag", flat=True).first()
    if etag is None:
        raise NotFound(f"there is no workflow '{workflow_id}'", workflow_id=workflow_id)
    return etag


def document_of(row: models.Workflow) -> dict[str, Any]:
    """A head's document as it stands in this transaction: for services that answer it."""
    plan = mappers.load_plan(row.plan_id)
    notes = models.ReviewNote.objects.filter(workflow=row).order_by("id")
    return mappers.workflow_document(
        row, plan, notes=[mappers.note_document(note, row.workflow_id, plan) for note in notes]
    )
