"""Register a run of an approved workflow (contract 3)."""

from typing import Any

from django.db import transaction

from chief_project.shared import audit, clock, ids, search
from chief_project.shared.caller import Caller, Right
from chief_project.shared.services.use_id import use_id
from runs.domain.report import refuse_unapproved
from runs.domain.status import empty_tally
from runs.models import Run, StepState
from runs.selectors.runs import whole_run
from runs.services.outcome import RunWrite
from workflows.mappers import load_plan
from workflows.services.head import check_etag, lock_workflow

_BATCH = 2_000


def register_run(
    *,
    caller: Caller,
    workflow_id: str,
    run_id: str | None = None,
    metadata: dict[str, Any] | None = None,
    if_match: int | None = None,
) -> RunWrite:
    """Begin a run on the workflow's standing plan: one pending state per top-level step.

    Refusals: 404 no such workflow; 409 a draft (approve it first) or an archived one; 409 an id that was used before.
    """
    caller.must(Right.WORK, "register a run")
    now = clock.now()
    name = ids.mint("run") if run_id is None else ids.check(run_id, field="run_id")
    with transaction.atomic(savepoint=False):
        workflow = lock_workflow(workflow_id)
        check_etag(workflow, if_match)
        refuse_unapproved(workflow_id, workflow.status)
        use_id(kind="run", value=name, field="run_id")
        plan = load_plan(workflow.plan_id)
        tally = empty_tally() | {"pending": len(plan.top_level)}
        run = Run.objects.create(
            workflow=workflow,
            run_id=name,
            base_version=workflow.version,
            base_plan_id=workflow.plan_id,
            plan_id=workflow.plan_id,
            metadata=metadata or {},
            created_at=now,
            updated_at=now,
            **{f"n_{status}": count for status, count in tally.items()},
        )
        StepState.objects.bulk_create(
            (
                StepState(run=run, step_id=step_id, type=plan.by_id[step_id].type)
                for step_id in plan.top_level
            ),
            batch_size=_BATCH,
        )
        search.index("run", run.pk, [name])
        audit.record(
            caller=caller,
            event="run.registered",
            at=now,
            detail={"base_version": workflow.version, "metadata": metadata or {}},
            head=run,
            workflow_id=workflow_id,
            run_id=name,
        )
        ready = [step_id for step_id in plan.top_level if not plan.by_id[step_id].depends_on]
        minimal = {
            "run_id": name,
            "revision": run.revision,
            "run_status": run.status,
            "path": "",
            "state": None,
            "next": {
                "items": [
                    {
                        "path": step_id,
                        "step_id": step_id,
                        "type": plan.by_id[step_id].type,
                        "state": "ready",
                        "goal": plan.by_id[step_id].goal,
                    }
                    for step_id in ready[:20]
                ],
                "more": max(0, len(ready) - 20),
            },
        }
        return RunWrite(minimal, lambda: whole_run(run_id=name))
