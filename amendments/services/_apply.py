"""What proposing and approving share: the simulation against the live run, and applying it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from amendments.domain.effects import Simulation, Stamp, simulate
from amendments.domain.operations import Operation
from amendments.domain.patch import patch_head, same_plan
from amendments.models import Amendment
from chief_project.shared import audit
from chief_project.shared.caller import Caller
from chief_project.shared.errors import Conflict
from runs.domain.tree import RunTree
from runs.models import AppliedAmendment, Run
from runs.services.tree_store import LoadedTree, load_tree, save_tree
from workflows.domain.plan import Plan
from workflows.mappers import load_plan, save_plan
from workflows.models import RemovedStep, Version, Workflow
from workflows.services.head import save
from workflows.services.indexing import index_workflow

RUN_COLUMNS = (
    "status",
    "revision",
    "pending_amendment_id",
    "acknowledged",
    "failed_at",
    "updated_at",
)
_TALLIES = (
    "blocked_on_person",
    *(f"n_{each}" for each in ("pending", "running", "blocked", "completed", "failed", "skipped")),
)
TREE_COLUMNS = (*RUN_COLUMNS, *_TALLIES)


@dataclass(frozen=True, slots=True)
class Tried:
    """A set of operations simulated against the locked run."""

    plan: Plan
    before: RunTree
    loaded: LoadedTree
    never: frozenset[str]
    simulation: Simulation


@dataclass(frozen=True, slots=True)
class Decision:
    """Who approves, in which words. ``actor`` is ``None`` for a policy."""

    by: str
    actor: str | None
    reason: str | None


def try_operations(
    workflow: Workflow, run: Run, operations: Sequence[Operation], *, kind: str, stamp: Stamp
) -> Tried:
    """Simulate on what the run is now; raises every refusal of contract 4."""
    plan = load_plan(run.plan_id)
    loaded = load_tree(run, plan)
    never = frozenset(RemovedStep.objects.filter(workflow=workflow).values_list("step_id", flat=True))
    simulation = simulate(plan, loaded.tree, operations, kind=kind, never=never, stamp=stamp)
    return Tried(plan, loaded.tree, loaded, never, simulation)


def new_head(
    workflow: Workflow, run: Run, tried: Tried, operations: Sequence[Operation]
) -> tuple[Plan | None, str | None]:
    """The head after the operations, or why they don't apply to it."""
    if workflow.plan_id == run.plan_id:
        return tried.simulation.plan, None
    return patch_head(load_plan(workflow.plan_id), operations, never=tried.never)


def sibling_conflict(workflow: Workflow, run: Run, why: str) -> Conflict:
    """The refusal of an approval that the workflow's head can't take (contract 4)."""
    return Conflict(
        f"the amendment fits run '{run.run_id}' but not workflow '{workflow.workflow_id}', whose plan an amendment of"
        f" a sibling run changed: {why}. Reject it, or clone the workflow with run_id={run.run_id} and go on there",
        workflow_id=workflow.workflow_id,
        run_id=run.run_id,
        version=workflow.version,
        why=why,
    )


def apply_amendment(
    *,
    caller: Caller,
    workflow: Workflow,
    run: Run,
    amendment: Amendment,
    tried: Tried,
    head: Plan,
    decision: Decision,
    at: datetime,
) -> None:
    """Write an approval: the run's plan and tree, the workflow's head, the amendment, the audit entry."""
    after = tried.simulation.plan
    if not same_plan(after, load_plan(amendment.plan_after_id)):
        amendment.plan_after = save_plan(after, at=at)
    amendment.head_before_id = workflow.plan_id
    head_pk = _plan_row(head, {run.plan_id, workflow.plan_id, amendment.plan_after_id}, at)
    if head_pk != workflow.plan_id:
        index_workflow(workflow, head)
    _write_head(workflow, head_pk, caller=caller, decision=decision, at=at)
    RemovedStep.objects.bulk_create(
        (RemovedStep(workflow=workflow, step_id=step_id) for step_id in sorted(tried.simulation.removed)),
        ignore_conflicts=True,
    )
    _write_run(run, amendment, tried, at)
    amendment.status = "approved"
    amendment.resulting_workflow_version = workflow.version
    note_decision(
        amendment, by=decision.by, actor=decision.actor, via=caller.via, reason=decision.reason, at=at
    )
    record(
        caller=caller,
        event="amendment.approved",
        run=run,
        amendment=amendment,
        at=at,
        detail={
            "kind": amendment.kind,
            "decided_by": decision.by,
            "reason": decision.reason,
            "resulting_workflow_version": workflow.version,
            "number": run.amendments_applied,
            "run_status": run.status,
        },
    )


def _plan_row(plan: Plan, candidates: set[int], at: datetime) -> int:
    """The id of a row that holds ``plan``: one of ``candidates`` when it says the same, else a new one."""
    for pk in sorted(candidates):
        if same_plan(load_plan(pk), plan):
            return pk
    return int(save_plan(plan, at=at).pk)


def _write_head(
    workflow: Workflow, plan_pk: int, *, caller: Caller, decision: Decision, at: datetime
) -> None:
    workflow.plan_id = plan_pk
    workflow.version += 1
    save(workflow, "plan", "version", at=at)
    Version.objects.create(
        workflow=workflow,
        number=workflow.version,
        plan_id=plan_pk,
        title=workflow.title,
        at=at,
        by=decision.by,
        principal=caller.principal,
        via=caller.via,
        reason=decision.reason,
    )


def _write_run(run: Run, amendment: Amendment, tried: Tried, at: datetime) -> None:
    tried.loaded.tree = tried.simulation.tree
    save_tree(run, tried.loaded, at)
    run.plan_id = amendment.plan_after_id
    run.pending_amendment_id = None
    run.amendments_applied += 1
    touch(run, "plan", "amendments_applied", *_TALLIES, at=at)
    AppliedAmendment.objects.create(
        run=run,
        number=run.amendments_applied,
        amendment_id=amendment.amendment_id,
        plan_id=amendment.plan_after_id,
    )


def note_decision(
    amendment: Amendment, *, by: str, actor: str | None, via: str, reason: str | None, at: datetime
) -> None:
    """Save who decided; ``status`` and what else changed is set before."""
    amendment.decided_at = at
    amendment.decided_by = by
    amendment.decided_actor = actor
    amendment.decided_via = via
    amendment.decision_reason = reason
    amendment.save()


def touch(run: Run, *columns: str, at: datetime) -> None:
    """Save a locked run's ``columns`` and what every write of an amendment moves; one revision more."""
    run.revision += 1
    run.updated_at = at
    run.save(update_fields=[*RUN_COLUMNS, *columns])


def record(
    *, caller: Caller, event: str, run: Run, amendment: Amendment, at: datetime, detail: dict[str, Any]
) -> None:
    """An entry in the run's stream."""
    audit.record(
        caller=caller,
        event=event,
        at=at,
        detail=detail,
        head=run,
        workflow_id=run.workflow.workflow_id,
        run_id=run.run_id,
        amendment_id=amendment.amendment_id,
    )
