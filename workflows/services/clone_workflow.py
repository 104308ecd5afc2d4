"""Begin a new draft from what another workflow, or one of its runs, says (contract 2)."""

from typing import Any

from django.db import transaction

from chief_project.shared import clock
from chief_project.shared.caller import Caller, Right
from chief_project.shared.errors import NotFound, ValidationFailed
from workflows import mappers, models
from workflows.services._new import NewWorkflow, insert_workflow
from workflows.services.head import lock_workflow


def clone_workflow(*, caller: Caller, workflow_id: str, run_id: str | None = None) -> dict[str, Any]:
    """A new draft at version 1 with the same plan (with ``run_id``, that run's), groups, project and origin_dir; no
    lineage, notes or runs. At any status of the original. Answers the new ``Workflow``.

    Raises ``NotFound`` for an unknown workflow or run, ``ValidationFailed`` for another workflow's run.
    """
    with transaction.atomic(savepoint=False):
        caller.must(Right.WORK, "clone a workflow")
        original = lock_workflow(workflow_id)
        plan_pk = original.plan_id if run_id is None else _plan_of_run(run_id, workflow_id)
        plan = mappers.load_plan(plan_pk)
        new = NewWorkflow(
            title=f"{original.title} (copy)",
            source="import",
            plan=plan,
            project=original.project,
            origin_dir=original.origin_dir,
        )
        row = insert_workflow(
            new,
            caller=caller,
            at=clock.now(),
            event="workflow.cloned",
            detail={"cloned_from": workflow_id, "run_id": run_id},
        )
        return mappers.workflow_document(row, plan, notes=[])


def _plan_of_run(run_id: str, workflow_id: str) -> int:
    """The effective plan of a run. Runs belong to the app above: they are asked for through their workflow."""
    found = (
        models.Workflow.objects.filter(runs__run_id=run_id).values_list("workflow_id", "runs__plan").first()
    )
    if found is None:
        raise NotFound(f"there is no run '{run_id}': list_runs (GET /v1/runs) names them", run_id=run_id)
    if found[0] != workflow_id:
        raise ValidationFailed(
            f"run '{run_id}' is of workflow '{found[0]}', not of '{workflow_id}': clone that one",
            parameter="run_id",
        )
    plan_pk: int = found[1]
    return plan_pk
