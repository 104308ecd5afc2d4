"""A difference between two plans, counted for a sentence: "2 steps added, 1 goal reworded". Pure.

The words themselves are made where they can be translated.
"""

from collections import Counter
from collections.abc import Mapping
from typing import Any

Criterion = dict[str, Any]

KINDS = (
    "steps_added",
    "steps_removed",
    "titles",
    "goals",
    "criteria_added",
    "criteria_removed",
    "criteria_reworded",
    "criteria_moved",
    "dependencies",
    "bodies",
    "types",
    "inputs",
    "outputs",
    "harnesses",
    "exits",
    "failure_rules",
    "parameters",
    "fields",
    "groups",
)
"""In the order in which they are told: what changes the work first, how it is shown last."""

_BY_FIELD = {
    "goal": "goals",
    "depends_on": "dependencies",
    "body": "bodies",
    "type": "types",
    "inputs": "inputs",
    "outputs": "outputs",
    "harness": "harnesses",
    "exit_when": "exits",
    "on_instance_failure": "failure_rules",
    "instance_params": "parameters",
    "fields": "fields",
    "group": "groups",
}


def count_changes(diff: Mapping[str, Any]) -> dict[str, int]:
    """How many of each kind (``KINDS``, in that order) a ``plan_diff`` holds; kinds without any are left out.

    A field counts once for each step that it changed in; criteria are counted one by one, and once where they only
    changed places.
    """
    counts = dict.fromkeys(KINDS, 0)
    counts["steps_added"] = len(diff["added"])
    counts["steps_removed"] = len(diff["removed"])
    counts["titles"] = int(diff["title"] is not None)
    for step in diff["changed"]:
        for name, change in step["fields"].items():
            if name == "criteria":
                told = criteria_changes(change)
                moved = not (told["added"] or told["removed"] or told["reworded"])
                counts["criteria_moved"] += moved
                for kind in ("added", "removed", "reworded"):
                    counts[f"criteria_{kind}"] += len(told[kind])
            else:
                counts[_BY_FIELD[name]] += 1
    counts["groups"] += sum(map(len, diff["groups"].values()))
    return {kind: count for kind, count in counts.items() if count}


def places_changed(diff: Mapping[str, Any]) -> int:
    """How many places there are to look at: steps, and the title and the groups as one each."""
    return (
        len(diff["added"])
        + len(diff["removed"])
        + len(diff["changed"])
        + int(diff["title"] is not None)
        + int(any(diff["groups"].values()))
    )


def criteria_changes(change: Mapping[str, Any]) -> dict[str, list[Any]]:
    """``{added, removed, reworded, same}`` of a step's criteria, from ``{before, after}`` as a diff holds them.

    ``added``, ``removed`` and ``same`` hold criteria ``{id, text}``, ``reworded`` pairs of them. A text that moved to
    another place is the same; what remains on both sides is reworded in order, so a criterion that went or came in
    the middle doesn't make all after it look new.
    """
    new, same = _apart(change["after"], Counter(each["text"] for each in change["before"]))
    old, _ = _apart(change["before"], Counter(each["text"] for each in same))
    pairs = list(zip(old, new, strict=False))
    return {"added": new[len(pairs) :], "removed": old[len(pairs) :], "reworded": pairs, "same": same}


def _apart(criteria: list[Criterion], others: Counter[str]) -> tuple[list[Criterion], list[Criterion]]:
    """Those whose text isn't among ``others``, each of which answers for one, and those whose text is."""
    alone, met = [], []
    for criterion in criteria:
        if others[criterion["text"]] > 0:
            others[criterion["text"]] -= 1
            met.append(criterion)
        else:
            alone.append(criterion)
    return alone, met
