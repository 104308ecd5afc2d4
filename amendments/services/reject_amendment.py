"""Reject a pending amendment (contract 4)."""

from django.db import transaction

from amendments.services._answers import answer
from amendments.services._close import close_amendment
from amendments.services._locks import lock_pending
from chief_project.shared import clock
from chief_project.shared.caller import Caller, Right
from runs.services.outcome import RunWrite


def reject_amendment(
    *,
    caller: Caller,
    amendment_id: str,
    decided_by: str = "human",
    reason: str | None = None,
    if_match: int | None = None,
) -> RunWrite:
    """Nothing changes in the plan, and the run goes on. The whole answer is the ``Amendment``.

    Refusals: 404; 409 decided already; 412 ``if_match`` isn't the run's revision.
    """
    caller.must(Right.DECIDE, "reject an amendment")
    with transaction.atomic(savepoint=False):
        _, run, amendment = lock_pending(amendment_id, if_match, doing="rejected")
        close_amendment(
            caller=caller,
            run=run,
            amendment=amendment,
            status="rejected",
            by=caller.claim(decided_by),
            reason=reason,
            at=clock.now(),
        )
        return answer(run, amendment_id)
