"""What a status follows from (contract 3, "what the server derives"). Pure rules over tallies.

A tally maps each step status to how many direct children stand in it.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Protocol

Tally = dict[str, int]

STATUSES = ("pending", "running", "blocked", "completed", "failed", "skipped")
TERMINAL = frozenset({"completed", "failed", "skipped"})
FINISHED = frozenset({"completed", "failed"})


def empty_tally() -> Tally:
    """Nothing counted yet."""
    return dict.fromkeys(STATUSES, 0)


def instance_status(tally: Mapping[str, int], *, policy: str, started: bool) -> str:
    """An instance's status from its body's states, under its construct's ``on_instance_failure``."""
    return _status(tally, policy=policy, started=started, closed=True)


def construct_status(tally: Mapping[str, int], *, policy: str, closed: bool, started: bool) -> str:
    """A construct's status from its instances; it completes only once it is closed."""
    if not closed or any(tally.values()):
        return _status(tally, policy=policy, started=started or any(tally.values()), closed=closed)
    return "completed"


def _status(tally: Mapping[str, int], *, policy: str, started: bool, closed: bool) -> str:
    if tally["failed"] and policy != "continue":
        return "failed"
    open_children = tally["pending"] + tally["running"] + tally["blocked"]
    if closed and not open_children:
        return "completed"
    begun = tally["running"] + tally["blocked"] + tally["completed"] + tally["failed"]
    return "running" if started or begun else "pending"


def run_status(tally: Mapping[str, int], *, blocked_on_person: int) -> str:
    """A run's status from its top-level steps and from what waits for a person anywhere in its tree."""
    if tally["failed"]:
        return "failed"
    if not (tally["pending"] or tally["running"] or tally["blocked"]):
        return "completed"
    return "waiting_on_human" if blocked_on_person else "running"


class Timed(Protocol):
    """Anything with a status and the two times that follow it."""

    status: str
    started_at: datetime | None
    completed_at: datetime | None


def move(node: Timed, status: str, now: datetime) -> bool:
    """Give ``node`` a status and the times that follow from it; say whether it changed.

    Back to pending clears both times. A skip leaves a step that never began without times.
    """
    if node.status == status:
        return False
    node.status = status
    if status == "pending":
        node.started_at = node.completed_at = None
    elif status == "skipped":
        node.completed_at = now if node.started_at is not None else None
    else:
        node.started_at = node.started_at or now
        node.completed_at = now if status in FINISHED else None
    return True
