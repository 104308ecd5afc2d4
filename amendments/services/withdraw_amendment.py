"""Take a pending amendment back (contract 4 and 9)."""

from django.db import transaction

from amendments.services._answers import answer
from amendments.services._close import close_amendment
from amendments.services._locks import lock_pending
from chief_project.shared import clock
from chief_project.shared.caller import Caller, Right
from chief_project.shared.errors import Forbidden
from runs.services.outcome import RunWrite


def withdraw_amendment(
    *, caller: Caller, amendment_id: str, reason: str | None = None, if_match: int | None = None
) -> RunWrite:
    """The principal that proposed it, or any person, takes it back, and the run goes on.

    The whole answer is the ``Amendment``. Refusals: 403 another principal's; 404; 409 decided already; 412.
    """
    caller.must(Right.WORK, "withdraw an amendment")
    with transaction.atomic(savepoint=False):
        _, run, amendment = lock_pending(amendment_id, if_match, doing="withdrawn")
        if amendment.proposed_principal != caller.principal and not caller.person:
            raise Forbidden(
                f"amendment '{amendment_id}' was proposed by '{amendment.proposed_actor}', and only that principal or a"
                " person may withdraw it: ask for a rejection instead",
                proposed_by=amendment.proposed_actor,
            )
        close_amendment(
            caller=caller,
            run=run,
            amendment=amendment,
            status="withdrawn",
            by=caller.actor,
            reason=reason,
            at=clock.now(),
        )
        return answer(run, amendment_id)
