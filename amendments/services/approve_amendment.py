"""Approve a pending amendment: the run's plan and the workflow's head change (contract 4)."""

from django.db import transaction

from amendments.domain.effects import Stamp
from amendments.mappers import OPERATION_COLUMNS, operation_values
from amendments.models import Operation as OperationRow
from amendments.services._answers import answer, made_ready
from amendments.services._apply import (
    Decision,
    apply_amendment,
    new_head,
    sibling_conflict,
    try_operations,
)
from amendments.services._locks import lock_pending
from chief_project.shared import clock
from chief_project.shared.caller import Caller, Right
from chief_project.shared.errors import ChiefError, InvariantViolation
from runs.services.outcome import RunWrite


def approve_amendment(
    *,
    caller: Caller,
    amendment_id: str,
    decided_by: str = "human",
    reason: str | None = None,
    if_match: int | None = None,
) -> RunWrite:
    """Try the set again on the run as it is now, then apply it whole to the run and to the workflow's head.

    The run goes on under the status that follows. The whole answer is the ``Amendment``. Refusals, with nothing
    written: 404; 409 decided already, no longer fitting the run (``details`` of what stands in the way), or not
    fitting the head, which a sibling run's amendment changed; 412 ``if_match`` isn't the run's revision.
    """
    caller.must(Right.DECIDE, "approve an amendment")
    at = clock.now()
    with transaction.atomic(savepoint=False):
        workflow, run, amendment = lock_pending(amendment_id, if_match, doing="approved")
        operations = operation_values(
            OperationRow.objects.filter(amendment=amendment)
            .order_by("position")
            .values_list(*OPERATION_COLUMNS)
        )
        by = caller.claim(decided_by)
        try:
            tried = try_operations(
                workflow,
                run,
                operations,
                kind=amendment.kind,
                stamp=Stamp(at, by, caller.actor, amendment_id),
            )
        except ChiefError as problem:
            raise InvariantViolation(
                f"amendment '{amendment_id}' no longer fits run '{run.run_id}', which went on while it waited:"
                f" {problem.message}. Reject or withdraw it, and propose what fits now",
                **problem.details,
            ) from None
        head, why = new_head(workflow, run, tried, operations)
        if head is None:
            raise sibling_conflict(workflow, run, why or "")
        apply_amendment(
            caller=caller,
            workflow=workflow,
            run=run,
            amendment=amendment,
            tried=tried,
            head=head,
            decision=Decision(by=by, actor=caller.actor, reason=reason),
            at=at,
        )
        after = tried.simulation
        return answer(run, amendment_id, made_ready(tried.before, tried.plan, after.tree, after.plan))
