"""End a run that nobody will finish (contract 3). It stands here because it ends a pending amendment, too."""

from django.db import transaction

from amendments.domain.cancellation import cancel
from amendments.models import Amendment
from amendments.services._apply import TREE_COLUMNS, note_decision, record
from amendments.services._locks import lock_run
from chief_project.shared import audit, clock
from chief_project.shared.caller import Caller, Right
from chief_project.shared.errors import InvalidTransition
from runs.domain.waits import OVER
from runs.models import Run
from runs.selectors.runs import whole_run
from runs.services.outcome import RunWrite
from runs.services.tree_store import load_tree, save_tree
from workflows.mappers import load_plan


def cancel_run(
    *,
    caller: Caller,
    run_id: str,
    decided_by: str = "human",
    reason: str | None = None,
    if_match: int | None = None,
) -> RunWrite:
    """Everything unfinished is skipped, open questions are closed, a pending amendment is withdrawn: all at once.

    The whole answer is the ``RunState``. Refusals: 404; 409 a completed or cancelled run; 412.
    """
    caller.must(Right.DECIDE, "cancel a run")
    at = clock.now()
    by = caller.claim(decided_by)
    with transaction.atomic(savepoint=False):
        _, run = lock_run(run_id, if_match)
        if run.status in OVER:
            by_whom = f", by {run.cancelled['by']}" if run.cancelled else ""
            raise InvalidTransition(
                f"run '{run_id}' is {run.status} already{by_whom}: there is nothing left to cancel",
                status=run.status,
            )
        was = run.status
        loaded = load_tree(run, load_plan(run.plan_id))
        counts = cancel(loaded.tree, at=at, by=by, actor=caller.actor, reason=reason)
        save_tree(run, loaded, at)
        withdrawn = _pending(run)
        run.pending_amendment_id = None
        run.cancelled = {
            "at": clock.iso(at),
            "by": by,
            "reason": reason,
            "actor": caller.actor,
            "via": caller.via,
        }
        run.revision += 1
        run.updated_at = at
        run.save(update_fields=[*TREE_COLUMNS, "cancelled"])
        audit.record(
            caller=caller,
            event="run.cancelled",
            at=at,
            detail={
                "decided_by": by,
                "reason": reason,
                "from": was,
                "withdrawn_amendment": None if withdrawn is None else withdrawn.amendment_id,
                "ended": counts,
            },
            head=run,
            workflow_id=run.workflow.workflow_id,
            run_id=run_id,
        )
        if withdrawn is not None:
            why = f"the run was cancelled: {reason}" if reason else "the run was cancelled"
            withdrawn.status = "withdrawn"
            withdrawn.head_before_id = run.workflow.plan_id
            note_decision(withdrawn, by=by, actor=caller.actor, via=caller.via, reason=why, at=at)
            record(
                caller=caller,
                event="amendment.withdrawn",
                run=run,
                amendment=withdrawn,
                at=at,
                detail={"decided_by": by, "reason": why, "run_status": run.status},
            )
        minimal = {
            "run_id": run_id,
            "revision": run.revision,
            "run_status": run.status,
            "path": "",
            "state": None,
            "next": {"items": [], "more": 0},
        }
        return RunWrite(minimal, lambda: whole_run(run_id=run_id))


def _pending(run: Run) -> Amendment | None:
    if run.pending_amendment_id is None:
        return None
    return Amendment.objects.select_for_update().get(amendment_id=run.pending_amendment_id)
