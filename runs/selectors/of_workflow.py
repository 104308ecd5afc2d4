"""A workflow's runs as lines of a list: how far each is, without its tree."""

from typing import Any

from chief_project.shared.caller import Caller, Right
from chief_project.shared.paging import Page, Paging, paginate
from runs.models import Run

_COLUMNS = (
    "run_id",
    "status",
    "base_version",
    "amendments_applied",
    "pending_amendment_id",
    "created_at",
    "updated_at",
    "last_report_at",
)
_TALLY = {
    "completed": "n_completed",
    "running": "n_running",
    "failed": "n_failed",
    "waiting": "n_blocked",
    "skipped": "n_skipped",
    "pending": "n_pending",
}


def runs_of_workflow(*, caller: Caller, workflow_id: str, paging: Paging) -> Page:
    """The newest first: ``{run_id, status, counts, done, steps, base_version, amendments_applied,
    pending_amendment_id, created_at, updated_at, last_report_at}``.

    ``counts`` are the top-level steps by state, ``waiting`` for blocked ones; ``done`` of ``steps`` are over. Two
    statements at most; an unknown workflow has none.
    """
    caller.must(Right.READ, "list runs")
    runs = Run.objects.filter(workflow__workflow_id=workflow_id).values("id", *_COLUMNS, *_TALLY.values())
    page = paginate(runs, order=("-created_at", "-id"), paging=paging)
    return page.map(_line)


def _line(row: dict[str, Any]) -> dict[str, Any]:
    counts = {state: row[column] for state, column in _TALLY.items()}
    return {name: row[name] for name in _COLUMNS} | {
        "counts": counts,
        "done": counts["completed"] + counts["failed"] + counts["skipped"],
        "steps": sum(counts.values()),
    }
