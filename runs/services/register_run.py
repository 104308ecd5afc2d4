"""Register a run of an approved workflow (contract 3)."""

from typing import Any

from django.db import IntegrityError, transaction

from chief_project.shared import audit, clock, ids, search
from chief_project.shared.caller import Caller, Right
from chief_project.shared.errors import Conflict, InvalidTransition, NotFound, PreconditionFailed
from chief_project.shared.models import UsedId
from runs.domain.status import empty_tally
from runs.models import Run, StepState
from runs.selectors.runs import whole_run
from runs.services.outcome import RunWrite
from workflows.mappers import load_plan
from workflows.models import Workflow

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
        workflow = Workflow.objects.select_for_update().filter(workflow_id=workflow_id).first()
        if workflow is None:
            raise NotFound(f"no workflow is called '{workflow_id[:200]}'")
        if if_match is not None and if_match != workflow.etag:
            raise PreconditionFailed(
                f"workflow '{workflow_id}' moved on: its ETag is {workflow.etag}, not {if_match}",
                etag=workflow.etag,
            )
        if workflow.status != "approved":
            hint = (
                "is a draft: a person approves it before it runs"
                if workflow.status == "draft"
                else "is archived and takes no new runs: clone it to run it again"
            )
            raise InvalidTransition(f"workflow '{workflow_id}' {hint}", status=workflow.status)
        _claim(name)
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


def _claim(run_id: str) -> None:
    try:
        UsedId.objects.create(kind="run", value=run_id)
    except IntegrityError:
        raise Conflict(
            f"run id '{run_id}' is in use, or was used by a run that is gone: choose another, or leave it out",
            run_id=run_id,
        ) from None
