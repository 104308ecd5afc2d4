"""When what a run waits for has come (contract 1). Pure."""

from collections.abc import Callable
from dataclasses import dataclass

OVER = frozenset({"completed", "cancelled"})
WAITING = frozenset({"paused_for_approval", "waiting_on_human"})


@dataclass(frozen=True, slots=True)
class RunFacts:
    """Where a run stands; ``revision`` moves with every write to it."""

    status: str
    revision: int


def run_settled(since: int | None) -> Callable[[RunFacts | None], bool]:
    """Whether waiting is over: the run is, or is gone, or its revision passed ``since``.

    Without ``since`` it is a decision that is waited for: over as soon as nothing in the run waits for a person.
    """

    def settled(facts: RunFacts | None) -> bool:
        if facts is None or facts.status in OVER:
            return True
        return facts.status not in WAITING if since is None else facts.revision > since

    return settled
