"""The minimal answer to any write tells what the whole run tells, and offers only what may really be done."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any

import pytest

from chief_project.shared.caller import Caller
from chief_project.shared.errors import (
    Conflict,
    InvalidTransition,
    InvariantViolation,
    NotFound,
    ValidationFailed,
)
from runs.selectors.runs import get_run
from tests.amendments import amend, remove, replay
from tests.derivation import assert_derived
from tests.plans import checkpoint, loop, parallel, task
from tests.run_calls import (
    acknowledge,
    answer,
    ask,
    assert_agrees,
    comment,
    mark,
    register,
    resolve,
    update,
    update_instance,
    withdraw,
)
from tests.runs import new_run

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

PLAN = [
    task("a", criteria=["weighed"]),
    task("b", depends_on=["a"]),
    checkpoint("gate", depends_on=["b"], fields=[{"name": "budget", "required": False}]),
    loop("out", ["in", "y", "gates"], depends_on=["a"]),
    parallel("in", ["x"]),
    task("x"),
    task("y", depends_on=["in"]),
    loop("gates", ["ok"], on_instance_failure="continue"),
    checkpoint("ok"),
    parallel("p", ["m", "n"], on_instance_failure="continue", depends_on=["gate"]),
    task("m"),
    task("n", depends_on=["m"]),
    task("last", depends_on=["out", "p"]),
]
RUNS = 8
WRITES = 60
NUMBERS = iter(range(1_000_000))


def nodes(run: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """Every step and instance with its path."""
    found = []
    stack = [("", run["step_states"])]
    while stack:
        prefix, scope = stack.pop()
        for step_id, state in scope.items():
            found.append((prefix + step_id, state))
            for instance in state["instances"] or ():
                path = f"{prefix}{step_id}/{instance['instance_id']}"
                found.append((path, instance))
                stack.append((f"{path}/", instance["step_states"]))
    return found


def attempt(dice: Random, person: Caller, run_id: str) -> Any:
    """Some write to the run, legal or not."""
    every = nodes(get_run(caller=person, run_id=run_id))
    path, _ = dice.choice(every)
    steps = [(each, state) for each, state in every if "step_id" in state]
    step, state = dice.choice(
        [(each, state) for each, state in steps if state["status"] in {"pending", "running", "blocked"}]
        or steps
    )
    questions = [asked for asked in state["questions"] if not asked["answered_at"]] or [
        {"question_id": "qst"}
    ]
    artifacts = [made["artifact_id"] for _, each in every for made in each["artifacts"]] or ["none"]
    made = [{"artifact_id": f"m{next(NUMBERS)}", "type": "t", "data": dice.random()}] * dice.choice([0, 0, 1])
    match dice.choice(
        ["report"] * 6
        + ["register"] * 3
        + [
            "close",
            "instance",
            "resolve",
            "resolve",
            "ask",
            "answer",
            "withdraw",
            "mark",
            "comment",
            "amend",
            "seen",
        ]
    ):
        case "report":
            status = dice.choice(["running", "running", "completed", "completed", "pending", "failed", None])
            met = {"c1": "yes"} if step.endswith("a") else {}
            return update(person, step, status, run_id=run_id, artifacts=made, criteria_met=met)
        case "register":
            constructs = [each for each, state in steps if state["instances"] is not None]
            return register(person, dice.choice(constructs), run_id=run_id)
        case "close":
            return update(person, step, instances_closed=True, run_id=run_id)
        case "instance":
            status = dice.choice(["running", "completed", None])
            instances = [each for each, node in every if "instance_id" in node] or ["p/inst_00"]
            return update_instance(person, dice.choice(instances), status, run_id=run_id, artifacts=made)
        case "resolve":
            return resolve(person, step, dice.choice(["approved", "rejected"]), run_id=run_id, note="so")
        case "ask":
            return ask(person, step, run_id=run_id)
        case "answer":
            return answer(person, step, questions[-1]["question_id"], run_id=run_id)
        case "withdraw":
            return withdraw(person, step, questions[-1]["question_id"], run_id=run_id)
        case "mark":
            return mark(person, path, dice.choice(["old", None]), run_id=run_id)
        case "comment":
            comment(person, dice.choice(artifacts), run_id=run_id)
        case "seen":
            return acknowledge(person, run_id=run_id)
        case "amend":
            done = [each for each, state in steps if state["status"] in {"completed", "failed"}] or [step]
            target = dice.choice(done)
            scope, _, last = target.rpartition("/")
            where = {"instance_path": scope} if scope else {}
            operation = replay(last, **where) if dice.random() < 0.9 else remove(last)
            amend(person, operation, run_id=run_id, kind="history_edit")
    return None


@pytest.mark.parametrize("seed", range(RUNS))
def test_any_minimal_answer_agrees_with_the_whole_run(reviewer: Caller, seed: int) -> None:
    dice = Random(seed)
    run_id = f"minimal-{next(NUMBERS)}"
    new_run(reviewer, *PLAN, run_id=run_id)
    seen: Counter[str] = Counter()
    for _ in range(WRITES):
        try:
            write = attempt(dice, reviewer, run_id)
        except (NotFound, InvalidTransition, InvariantViolation, Conflict, ValidationFailed):
            seen["refused"] += 1
            continue
        seen["accepted"] += 1
        if write is not None:
            assert_agrees(reviewer, write)
    assert seen["accepted"] > WRITES // 6
    assert_derived(run_id)
