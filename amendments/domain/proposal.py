"""Whether a run takes an amendment now (contract 4). Pure."""

from chief_project.shared.errors import InvalidTransition, InvariantViolation


def judge_proposal(run_id: str, status: str, *, pending: str | None) -> None:
    """Refuse an amendment to a cancelled run, and a second one while ``pending`` is undecided."""
    if status == "cancelled":
        raise InvalidTransition(
            f"run '{run_id}' was cancelled: its plan can't change any more; register a new run instead",
            status=status,
        )
    if pending is not None:
        raise InvariantViolation(
            f"a run has one pending amendment at most, and '{pending}' waits for its decision: wait for it, or withdraw"
            " it and propose everything as one set",
            amendment_id=pending,
        )
