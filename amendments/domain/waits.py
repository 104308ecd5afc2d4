"""When an amendment is decided, for whoever waits for it (contract 1). Pure."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class AmendmentFacts:
    """Where an amendment stands, and how often its run was written to."""

    status: str
    run_revision: int


def amendment_settled(since: int | None) -> Callable[[AmendmentFacts | None], bool]:
    """Whether waiting is over: decided, gone, or its run's revision passed ``since``."""

    def settled(facts: AmendmentFacts | None) -> bool:
        if facts is None or facts.status != "pending_approval":
            return True
        return since is not None and facts.run_revision > since

    return settled


@dataclass(frozen=True, slots=True)
class NewsFacts:
    """Where everything stands: the newest entry of the audit, and how much waits for a person."""

    entry: int
    waiting: int
