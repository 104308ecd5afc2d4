"""What a write of an amendment answers: the amendment, or the minimal answer of a write to a run (contract 1)."""

from collections.abc import Iterable
from typing import Any

from amendments.selectors.amendments import amendment_answer
from runs.domain.tree import RunTree, StateNode
from runs.models import Run
from runs.services.outcome import RunWrite
from workflows.domain.plan import Plan

NEXT_AT_MOST = 20


def answer(run: Run, amendment_id: str, ready: Iterable[dict[str, Any]] = ()) -> RunWrite:
    """Read the amendment as it stands now; ``ready`` are the entries of ``next`` that this write made ready."""
    document = amendment_answer(amendment_id=amendment_id)
    entries = list(ready)
    minimal = {
        "run_id": run.run_id,
        "revision": run.revision,
        "run_status": run.status,
        "path": "",
        "state": None,
        "next": {"items": entries[:NEXT_AT_MOST], "more": max(0, len(entries) - NEXT_AT_MOST)},
        "amendment_id": amendment_id,
        "amendment_status": document["status"],
    }
    return RunWrite(minimal, lambda: document)


def made_ready(before: RunTree, plan_before: Plan, after: RunTree, plan_after: Plan) -> list[dict[str, Any]]:
    """The top-level steps that may begin now and could not before, in plan order."""
    known = _ready(before, plan_before)
    return [
        {
            "path": step_id,
            "step_id": step_id,
            "type": plan_after.by_id[step_id].type,
            "state": "ready",
            "goal": plan_after.by_id[step_id].goal,
        }
        for step_id in _ready(after, plan_after)
        if step_id not in known
    ]


def _ready(tree: RunTree, plan: Plan) -> dict[str, None]:
    return {
        step_id: None
        for step_id in plan.top_level
        if step_id in tree.states
        and tree.states[step_id].status == "pending"
        and all(
            needed not in tree.states or _holds_nothing_up(tree.states[needed])
            for needed in plan.by_id[step_id].depends_on
        )
    }


def _holds_nothing_up(state: StateNode) -> bool:
    return state.status == "completed" or state.skip_cause == "removed"
