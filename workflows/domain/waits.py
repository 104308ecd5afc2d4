"""When a draft's review is decided, for whoever waits for it (contract 1). Pure."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class WorkflowFacts:
    """Where a workflow stands: ``revision`` numbers the plan's text, ``review_state`` is null once it is no draft."""

    status: str
    review_state: str | None
    revision: int

    @property
    def decided(self) -> bool:
        """Approved, archived, or sent back for changes."""
        return self.status != "draft" or self.review_state == "sent_back"


def workflow_settled(since: int | None) -> Callable[[WorkflowFacts | None], bool]:
    """Whether waiting is over: decided, gone, or its plan's revision passed ``since``."""

    def settled(facts: WorkflowFacts | None) -> bool:
        return facts is None or facts.decided or (since is not None and facts.revision > since)

    return settled
