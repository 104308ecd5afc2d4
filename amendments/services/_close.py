"""What rejecting and withdrawing share: the amendment ends, and the run goes on as it stands."""

from datetime import datetime

from amendments.models import Amendment
from amendments.services._apply import note_decision, record, touch
from chief_project.shared.caller import Caller
from runs.domain.status import STATUSES, run_status
from runs.models import Run


def close_amendment(
    *,
    caller: Caller,
    run: Run,
    amendment: Amendment,
    status: str,
    by: str,
    reason: str | None,
    at: datetime,
) -> None:
    """End a locked, pending amendment as ``rejected`` or ``withdrawn``; the run's status is derived anew."""
    amendment.status = status
    amendment.head_before_id = run.workflow.plan_id
    note_decision(amendment, by=by, actor=caller.actor, via=caller.via, reason=reason, at=at)
    run.pending_amendment_id = None
    tally = {each: getattr(run, f"n_{each}") for each in STATUSES}
    run.status = run_status(tally, blocked_on_person=run.blocked_on_person)
    touch(run, at=at)
    record(
        caller=caller,
        event=f"amendment.{status}",
        run=run,
        amendment=amendment,
        at=at,
        detail={"decided_by": by, "reason": reason, "run_status": run.status},
    )
