"""A person has seen that a run failed, and leaves it so (contract 3)."""

from django.db import transaction

from chief_project.shared import audit, clock
from chief_project.shared.caller import Caller, Right
from chief_project.shared.errors import Forbidden, InvalidTransition
from runs.models import Run
from runs.selectors.runs import no_run, whole_run
from runs.services.outcome import RunWrite
from runs.services.writing import check_revision


def acknowledge_run(
    *, caller: Caller, run_id: str, by: str = "human", if_match: int | None = None
) -> RunWrite:
    """Take a failed run off what waits for a person. People only. 409 when it isn't failed, or was acknowledged."""
    caller.must(Right.REVIEW, "acknowledge a failed run")
    if not caller.person:
        raise Forbidden("only a person acknowledges a failed run: ask one to look at it")
    now = clock.now()
    with transaction.atomic(savepoint=False):
        run = (
            Run.objects.select_for_update(of=("self",))
            .select_related("workflow")
            .filter(run_id=run_id)
            .first()
        )
        if run is None:
            raise no_run(run_id)
        check_revision(run_id, run.revision, if_match)
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
        run.revision += 1
        run.updated_at = now
        run.save(update_fields=["acknowledged", "revision", "updated_at"])
        audit.record(
            caller=caller,
            event="run.acknowledged",
            at=now,
            detail={"by": run.acknowledged["by"]},
            head=run,
            workflow_id=run.workflow.workflow_id,
            run_id=run_id,
        )
        minimal = {
            "run_id": run_id,
            "revision": run.revision,
            "run_status": run.status,
            "path": None,
            "state": None,
            "next": {"items": [], "more": 0},
        }
        return RunWrite(minimal, lambda: whole_run(run_id=run_id))
