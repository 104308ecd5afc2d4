"""Runs as rows, for tests of reads: what services can't arrange quickly, or in a moment of one's choosing."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from runs.models import Run, StepInstance, StepState
from workflows.documents import StepDocument, plan_value
from workflows.mappers import load_plan, save_plan
from workflows.models import Workflow

THEN = datetime(2026, 1, 2, 3, 4, 5, 678000, tzinfo=UTC)


def run_row(*steps: dict[str, Any], run_id: str = "r1", workflow_id: str = "w1", **columns: Any) -> Run:
    """A run of an approved workflow with these steps, with a pending state for every top-level one."""
    plan = plan_value([StepDocument.model_validate(step) for step in steps], [])
    saved = save_plan(plan, at=THEN)
    workflow, _ = Workflow.objects.get_or_create(
        workflow_id=workflow_id,
        defaults={
            "title": f"Title of {workflow_id}",
            "source": "generated",
            "status": "approved",
            "plan": saved,
            "created_at": THEN,
            "updated_at": THEN,
        },
    )
    run = Run.objects.create(
        **{
            "workflow": workflow,
            "run_id": run_id,
            "base_version": 1,
            "base_plan": saved,
            "plan": saved,
            "created_at": THEN,
            "updated_at": THEN,
            "n_pending": len(plan.top_level),
        }
        | columns
    )
    for step_id in plan.top_level:
        StepState.objects.create(run=run, step_id=step_id, type=plan.by_id[step_id].type)
    return run


def state_row(run: Run, step_id: str, instance: StepInstance | None = None, **columns: Any) -> StepState:
    """The state of a step, with these columns written."""
    state = StepState.objects.get(run=run, instance=instance, step_id=step_id)
    for name, value in columns.items():
        setattr(state, name, value)
    state.save()
    return state


def instance_rows(run: Run, construct: StepState, count: int, **columns: Any) -> list[StepInstance]:
    """``count`` further instances of a construct, each with its body's pending states."""
    plan = load_plan(run.plan_id)
    body = list(plan.by_id[construct.step_id].body or ())
    first = construct.next_index
    made = [
        StepInstance(
            **{
                "run": run,
                "construct": construct,
                "instance_id": f"inst_{index:02}",
                "index": index,
                "kind": "iteration" if construct.type == "loop" else "branch",
                "body": body,
                "metadata": {"n": index},
                "n_pending": len(body),
            }
            | columns
        )
        for index in range(first, first + count)
    ]
    StepInstance.objects.bulk_create(made, batch_size=1000)
    StepState.objects.bulk_create(
        [
            StepState(run=run, instance=instance, step_id=step_id, type=plan.by_id[step_id].type)
            for instance in made
            for step_id in body
        ],
        batch_size=1000,
    )
    construct.next_index = first + count
    construct.status = "running"
    construct.n_pending += count
    construct.save()
    return made
