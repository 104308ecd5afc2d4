"""Change what a workflow is filed under (contract 2)."""

from collections.abc import Mapping
from typing import Any

from django.db import transaction

from chief_project.shared import audit, clock
from chief_project.shared.caller import Caller, Right
from chief_project.shared.errors import ValidationFailed
from workflows import selectors
from workflows.mappers import load_plan
from workflows.services.head import check_etag, lock_workflow, save
from workflows.services.indexing import index_workflow

LABELS = ("title", "project", "origin_dir")


def label_workflow(
    *, caller: Caller, workflow_id: str, changes: Mapping[str, str | None], if_match: int | None = None
) -> dict[str, Any]:
    """Set ``title``, ``project`` or ``origin_dir`` at any status; what ``changes`` leaves out stays, null clears
    (but for the title). Answers the ``Workflow``; values that are the same already write nothing.

    Raises ``ValidationFailed`` if nothing was sent.
    """
    with transaction.atomic(savepoint=False):
        caller.must(Right.REVIEW, "label a workflow")
        if not changes:
            raise ValidationFailed("nothing to change: send title, project or origin_dir")
        row = lock_workflow(workflow_id)
        check_etag(row, if_match)
        detail: dict[str, Any] = {}
        changed = [name for name in LABELS if name in changes and changes[name] != getattr(row, name)]
        for name in changed:
            detail[name], detail[f"{name}_was"] = changes[name], getattr(row, name)
            setattr(row, name, changes[name])
        if changed:
            at = clock.now()
            save(row, *changed, at=at)
            if "title" in changed:
                index_workflow(row, load_plan(row.plan_id))
            audit.record(
                caller=caller,
                event="workflow.labelled",
                at=at,
                head=row,
                workflow_id=workflow_id,
                detail=detail,
            )
        return selectors.document_of(row)
