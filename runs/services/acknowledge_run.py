"""A person has seen that a run failed, and leaves it so (contract 3)."""

from django.db import transaction

from chief_project.shared import clock
from chief_project.shared.caller import Caller, Right
from chief_project.shared.errors import InvalidTransition
from runs.selectors.runs import whole_run
from runs.services._row import lock_row, minimal_answer, record_write
from runs.services.outcome import RunWrite


def acknowledge_run(
    *, caller: Caller, run_id: str, by: str = "human", if_match: int | None = None
) -> RunWrite:
    """Take a failed run off what waits for a person. People only. 409 when it isn't failed, or was acknowledged."""
    caller.must(Right.REVIEW, "acknowledge a failed run")
    caller.must_be_person("acknowledge a failed run")
    now = clock.now()
    with transaction.atomic(savepoint=False):
        run = lock_row(run_id, if_match)
        if run.status != "failed":
            raise InvalidTransition(
                f"run '{run_id}' is {run.status}, not failed: there is nothing to acknowledge",
                status=run.status,
            )
        if run.acknowledged is not None:
            raise InvalidTransition(
                f"run '{run_id}' was acknowledged already, by {run.acknowledged['by']}",
                acknowledged=run.acknowledged,
            )
        run.acknowledged = {
            "by": caller.claim(by),
            "at": clock.iso(now),
            "actor": caller.actor,
            "via": caller.via,
        }
        detail = {"by": run.acknowledged["by"]}
        record_write(run, "acknowledged", caller=caller, event="run.acknowledged", at=now, detail=detail)
        return RunWrite(minimal_answer(run), lambda: whole_run(run_id=run_id))
