"""What cancelling a run does to its tree (contract 3). Pure."""

from datetime import datetime

from runs.domain.status import TERMINAL, move
from runs.domain.tree import RunTree, recount, walk


def cancel(tree: RunTree, *, at: datetime, by: str, actor: str, reason: str | None) -> dict[str, int]:
    """Put everything unfinished aside and close what is open; afterwards nothing in the tree is derived again.

    Changes ``tree``. Finished work, and what was skipped before, stays as it is. Answers how many ``steps``,
    ``instances`` and ``questions`` ended by it.
    """
    counts = {"steps": 0, "instances": 0, "questions": 0}
    closed = {
        "at": at,
        "by": by,
        "actor": actor,
        "reason": f"the run was cancelled: {reason}" if reason else "the run was cancelled",
    }
    for _, state, _ in walk(tree):
        if state.open_question is not None:
            state.questions = [*state.questions[:-1], state.questions[-1] | {"closed": closed}]
            counts["questions"] += 1
        if state.status not in TERMINAL:
            move(state, "skipped", at)
            state.skip_cause = "cancelled"
            counts["steps"] += 1
        for instance in (state.instances or {}).values():
            if instance.status not in TERMINAL:
                move(instance, "skipped", at)
                instance.skip_cause = "cancelled"
                counts["instances"] += 1
    tree.status = "cancelled"
    tree.paused = False
    tree.acknowledged = None
    recount(tree)
    return counts
