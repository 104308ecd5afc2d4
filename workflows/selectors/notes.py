"""What people said about a plan (contract 7)."""

from chief_project.shared.caller import Caller, Right
from chief_project.shared.paging import Page, Paging, paginate
from chief_project.shared.reading import one_moment
from workflows import mappers, models
from workflows.selectors._find import find


def list_review_notes(
    *, caller: Caller, workflow_id: str, paging: Paging, resolved: bool | None = None
) -> Page:
    """The ``ReviewNote``s of a workflow, oldest first; only open or only resolved ones with ``resolved``."""
    caller.must(Right.READ, "read review notes")
    with one_moment():
        row = find(workflow_id)
        notes = models.ReviewNote.objects.filter(workflow=row)
        if resolved is not None:
            notes = notes.filter(resolved=resolved)
        page = paginate(notes, order=("id",), paging=paging)
        plan = mappers.load_plan(row.plan_id)
    return page.map(lambda note: mappers.note_document(note, workflow_id, plan))
