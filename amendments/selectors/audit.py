"""Whether the audit log is whole (contract 8), for people.

It stands here because amendments are the topmost of what heads a stream.
"""

from dataclasses import dataclass

from amendments.models import Amendment
from chief_project.shared.audit_check import Heads, Place, Verdict, check_audit
from chief_project.shared.caller import Caller, Right
from chief_project.shared.paging import read_cursor, write_cursor
from chief_project.shared.selectors import AuditFilter
from runs.models import Run
from workflows.models import Workflow

# Whatever else heads streams: shared knows no app above it, so it is told.
HEADS = [
    Heads(model=Workflow, prefix="workflow:", field="workflow_id"),
    Heads(model=Run, prefix="run:", field="run_id"),
]


@dataclass(frozen=True, slots=True)
class Checked:
    """A verdict, and where its time was up the cursor of what is left."""

    verdict: Verdict
    next_cursor: str | None


def check_audit_log(
    *, caller: Caller, seconds: float, wanted: AuditFilter, cursor: str | None = None
) -> Checked:
    """Check the streams of the run, amendment or workflow that ``wanted`` names, or else every stream.

    A stream is checked from its first entry to its head whatever else ``wanted`` says, for at most about ``seconds``;
    with the ``cursor`` of a check of the same streams, from where that stopped.
    """
    caller.must(Right.OVERSEE, "check the audit log")
    salt = f"chief.audit_check:{wanted.run_id!r}:{wanted.amendment_id!r}:{wanted.workflow_id!r}"
    after = None
    if cursor is not None:
        after = Place(*read_cursor(cursor, salt, len(Place._fields), parameter="check"))
    verdict = check_audit(heads=HEADS, streams=_streams(wanted), seconds=seconds, after=after)
    return Checked(verdict, write_cursor(list(verdict.place), salt) if verdict.place else None)


def _streams(wanted: AuditFilter) -> list[str] | None:
    run_id = wanted.run_id
    if run_id is None and wanted.amendment_id is not None:
        runs = Amendment.objects.filter(amendment_id=wanted.amendment_id)
        run_id = runs.values_list("run__run_id", flat=True).first()
    if run_id is not None:
        return [f"run:{run_id}"]
    if wanted.workflow_id is None:
        return None
    # A run's entries name its workflow too. By name, so that a run or workflow that is gone is checked as well.
    entries = AuditFilter(workflow_id=wanted.workflow_id).entries()
    return sorted({f"workflow:{wanted.workflow_id}", *entries.values_list("stream", flat=True).distinct()})
