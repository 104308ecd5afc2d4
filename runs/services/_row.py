"""Writes that concern a run's own row and derive nothing: lock it, move its revision, record, answer."""

from datetime import datetime
from typing import Any

from chief_project.shared import audit
from chief_project.shared.caller import Caller
from runs.models import Run
from runs.selectors.runs import no_run
from runs.services.outcome import Document
from runs.services.writing import check_revision


def lock_row(run_id: str, if_match: int | None) -> Run:
    """The run, locked, with its workflow (which isn't). ``NotFound``; 412 when ``if_match`` is stale."""
    locked = Run.objects.select_for_update(of=("self",)).select_related("workflow")
    run = locked.filter(run_id=run_id).first()
    if run is None:
        raise no_run(run_id)
    check_revision(run_id, run.revision, if_match)
    return run


def record_write(
    run: Run, *columns: str, caller: Caller, event: str, at: datetime, detail: dict[str, Any]
) -> None:
    """Save ``columns`` and one revision more, with an entry in the run's stream."""
    run.revision += 1
    run.updated_at = at
    run.save(update_fields=[*columns, "revision", "updated_at"])
    audit.record(
        caller=caller,
        event=event,
        at=at,
        detail=detail,
        head=run,
        workflow_id=run.workflow.workflow_id,
        run_id=run.run_id,
    )


def minimal_answer(run: Run, state: Document | None = None) -> Document:
    """The minimal answer of a write that makes nothing ready."""
    return {
        "run_id": run.run_id,
        "revision": run.revision,
        "run_status": run.status,
        "path": "",
        "state": state,
        "next": {"items": [], "more": 0},
    }
