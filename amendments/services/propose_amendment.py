"""Propose a change to a running plan (contract 4)."""

from collections.abc import Sequence
from datetime import datetime

from django.db import transaction

from amendments.domain.effects import Stamp
from amendments.domain.operations import Operation
from amendments.domain.policy import AmendmentFacts, decide_amendment, why_a_person_decides
from amendments.domain.proposal import judge_proposal
from amendments.mappers import audited_operation, operation_rows
from amendments.models import Amendment
from amendments.models import Operation as OperationRow
from amendments.selectors.policy import approval_rules
from amendments.services._answers import answer, made_ready
from amendments.services._apply import (
    Decision,
    Tried,
    apply_amendment,
    new_head,
    record,
    touch,
    try_operations,
)
from amendments.services._locks import lock_run
from chief_project.shared import clock, ids
from chief_project.shared.caller import Caller, Right
from runs.models import Run
from runs.services.outcome import RunWrite
from workflows.mappers import save_plan
from workflows.models import Workflow

_BATCH = 500


def propose_amendment(
    *,
    caller: Caller,
    run_id: str,
    proposed_by: str,
    kind: str,
    reason: str,
    operations: Sequence[Operation],
    if_match: int | None = None,
) -> RunWrite:
    """Check the whole set against the run as it is, keep it, and pause the run until it is decided.

    The approval policy is asked in the same transaction; what it approves is applied at once, unless the workflow's
    head can't take it: then it waits for a person. The whole answer is the ``Amendment``.

    Refusals: 404 no such run, step or instance; 409 a cancelled run, a pending amendment, an id in use, a kind that
    says too little (``details.required_kind``), nothing to replay; 422 a plan that would break a rule; 412.
    """
    caller.must(Right.WORK, "propose an amendment")
    at = clock.now()
    with transaction.atomic(savepoint=False):
        workflow, run = lock_run(run_id, if_match)
        judge_proposal(run_id, run.status, pending=run.pending_amendment_id)
        amendment_id = ids.mint("amd")
        stamp = Stamp(at, proposed_by, caller.actor, amendment_id)
        tried = try_operations(workflow, run, operations, kind=kind, stamp=stamp)
        after = tried.simulation.plan
        amendment = Amendment.objects.create(
            amendment_id=amendment_id,
            run=run,
            proposed_by=proposed_by,
            kind=kind,
            reason=reason,
            created_at=at,
            proposed_actor=caller.actor,
            proposed_principal=caller.principal,
            proposed_via=caller.via,
            plan_before_id=run.plan_id,
            plan_after_id=run.plan_id if after is tried.plan else save_plan(after, at=at).pk,
            head_before_id=workflow.plan_id,
        )
        OperationRow.objects.bulk_create(operation_rows(amendment, operations), batch_size=_BATCH)
        was = run.status
        run.status = "paused_for_approval"
        run.pending_amendment_id = amendment_id
        touch(run, at=at)
        record(
            caller=caller,
            event="amendment.proposed",
            run=run,
            amendment=amendment,
            at=at,
            detail={
                "proposed_by": proposed_by,
                "kind": kind,
                "reason": reason,
                "operations": [audited_operation(operation) for operation in operations],
                "run_status_was": was,
            },
        )
        if _approved_by_policy(caller, workflow, run, amendment, operations, tried, at):
            return answer(
                run, amendment_id, made_ready(tried.before, tried.plan, tried.simulation.tree, after)
            )
        return answer(run, amendment_id)


def _approved_by_policy(
    caller: Caller,
    workflow: Workflow,
    run: Run,
    amendment: Amendment,
    operations: Sequence[Operation],
    tried: Tried,
    at: datetime,
) -> bool:
    """Whether the policy approved the amendment, which is applied then (contract 5)."""
    rules = approval_rules()
    if not rules:
        return False
    held_back = why_a_person_decides(
        kind=amendment.kind,
        before=tried.plan,
        after=tried.simulation.plan,
        operations=operations,
        blocked=tried.simulation.blocked,
    )
    facts = AmendmentFacts(
        kind=amendment.kind,
        proposed_by=amendment.proposed_by,
        actor=amendment.proposed_actor,
        run_id=run.run_id,
        workflow_id=workflow.workflow_id,
        ops=frozenset(operation.op for operation in operations),
    )
    rule = None if held_back else decide_amendment(rules, facts)
    if rule is None:
        return False
    head, _ = new_head(workflow, run, tried, operations)
    if head is None:
        return False
    decision = Decision(by=f"policy:{rule}", actor=None, reason="a rule of the approval policy matched")
    apply_amendment(
        caller=caller,
        workflow=workflow,
        run=run,
        amendment=amendment,
        tried=tried,
        head=head,
        decision=decision,
        at=at,
    )
    return True
