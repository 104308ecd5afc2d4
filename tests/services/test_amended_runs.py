"""Random amendments on random runs (contract 4): whatever is accepted leaves a whole run, what is refused no trace."""

from __future__ import annotations

import json
import os
from itertools import count
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from amendments.selectors.amendments import get_amendment_diff
from chief_project.shared.caller import Caller
from chief_project.shared.clock import iso
from chief_project.shared.errors import ChiefError
from runs.models import Run
from runs.selectors.runs import get_run
from runs.services.ask_question import ask_question
from tests.amendments import amend
from tests.derivation import assert_derived
from tests.plans import checkpoint, loop, parallel, task
from tests.runs import add_instance, new_run, report
from workflows.domain.diff import step_document
from workflows.domain.plan import Plan
from workflows.domain.rules import problems
from workflows.mappers import load_plan
from workflows.models import RemovedStep

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
EXAMPLES = int(os.environ.get("CHIEF_HISTORIES", "60")) // 2
NAMES = count()

PLAN = [
    task("a", criteria=["weighed", "written"]),
    task("b", depends_on=["a"]),
    loop("l", ["x", "y"], depends_on=["a"]),
    task("x"),
    task("y", depends_on=["x"]),
    parallel("p", ["m", "z"], on_instance_failure="continue"),
    loop("m", ["q"]),
    task("q", criteria=["done"]),
    checkpoint("z", depends_on=["m"]),
]


class Story:
    """One run, and dice to move it."""

    def __init__(self, person: Caller, dice: Random) -> None:
        self.person = person
        self.dice = dice
        self.run_id = f"random-{next(NAMES)}"
        self.reported: set[str] = set()
        self.asked: set[str] = set()
        new_run(person, *PLAN, run_id=self.run_id)

    def document(self) -> dict[str, Any]:
        return get_run(caller=self.person, run_id=self.run_id)

    def text(self) -> str:
        return json.dumps(self.document(), default=iso)

    def places(self) -> list[tuple[str, dict[str, Any]]]:
        """Every state with its path."""
        found = []
        scopes = [("", self.document()["step_states"])]
        while scopes:
            prefix, states = scopes.pop()
            for step_id, state in states.items():
                found.append((f"{prefix}{step_id}", state))
                for instance in state["instances"] or ():
                    scopes.append((f"{prefix}{step_id}/{instance['instance_id']}/", instance["step_states"]))
        return sorted(found, key=lambda each: each[0])

    def move(self) -> None:
        """Something a harness may do, legal or not."""
        path, state = self.dice.choice(self.places())
        try:
            if state["instances"] is not None and self.dice.random() < 0.7:
                add_instance(self.person, path, run_id=self.run_id)
            elif state["instances"] is not None:
                report(self.person, path, run_id=self.run_id, instances_closed=True)
            elif state["status"] == "running" and self.dice.random() < 0.2:
                answer = ask_question(
                    caller=self.person,
                    run_id=self.run_id,
                    path=tuple(path.split("/")),
                    question={"text": "Which?", "fields": []},
                ).minimal
                self.asked.add(answer["state"]["questions"][-1]["question_id"])
            else:
                artifact = f"art_{len(self.reported)}"
                report(
                    self.person,
                    path,
                    self.dice.choice(["running", "completed", "failed"]),
                    run_id=self.run_id,
                    artifacts=[{"artifact_id": artifact, "type": "text", "data": {"text": path}}],
                    criteria_met={"c1": "yes"} if state["step_id"] == "q" else {},
                )
                self.reported.add(artifact)
        except ChiefError as problem:
            assert problem.status < 500  # noqa: PT017

    def amend(self) -> None:
        """A random set; either it leaves a whole run, or no trace."""
        before = self.text()
        operations = [each for _ in range(self.dice.randint(1, 3)) for each in self.operations()]
        try:
            made = amend(self.person, *operations, run_id=self.run_id, kind="history_edit")
        except ChiefError as problem:
            assert problem.status in {404, 409, 422}, problem  # noqa: PT017
            assert self.text() == before
            return
        self.check()
        diff = get_amendment_diff(caller=self.person, amendment_id=made["amendment_id"])
        assert len(diff["operations"]) == len(operations)

    def operations(self) -> list[dict[str, Any]]:
        """One operation; a removal often with the rewiring that it needs."""
        made = self.operation()
        if made["op"] != "remove_step" or self.dice.random() < 0.2:
            return [made]
        plan = self.plan()
        gone = made["target_step_id"]
        rewired = [
            step_document(step) | {"depends_on": [each for each in step.depends_on if each != gone]}
            for step in plan.steps
            if gone in step.depends_on
        ]
        return [{"op": "update_step", "target_step_id": step["id"], "step": step} for step in rewired] + [
            made
        ]

    def plan(self) -> Plan:
        return load_plan(Run.objects.get(run_id=self.run_id).plan_id)

    def operation(self) -> dict[str, Any]:
        plan = self.plan()
        ids = [step.id for step in plan.steps]
        target = self.dice.choice(ids)
        op = self.dice.choice(
            ["insert_after", "insert_before", "update_step", "remove_step", "replay_step", "replay_step"]
        )
        finished = [each["step_id"] for _, each in self.places() if each["status"] in {"completed", "failed"}]
        if op == "replay_step" and finished and self.dice.random() < 0.9:
            target = self.dice.choice(finished)
        made: dict[str, Any] = {"op": op, "target_step_id": target}
        if op.startswith("insert"):
            siblings = [each for each in plan.scope(plan.container.get(target)) if each != target]
            needs = self.dice.sample(siblings, min(len(siblings), self.dice.randint(0, 1)))
            return made | {"step": task(f"n{next(NAMES)}", depends_on=needs)}
        if op == "update_step":
            return made | {"step": self.changed(target, ids)}
        paths = [path.rpartition("/")[0] for path, state in self.places() if state["step_id"] == target]
        if paths and paths[0] and self.dice.random() < 0.5:
            made["instance_path"] = self.dice.choice(paths)
        return made

    def changed(self, target: str, ids: list[str]) -> dict[str, Any]:
        step = self.plan().by_id[target]
        needs = list(step.depends_on)
        if needs and self.dice.random() < 0.5:
            needs.pop()
        if step.body is None:
            if (step.type == "checkpoint") == (self.dice.random() < 0.9):
                return checkpoint(target, goal="Changed", depends_on=needs)
            return task(target, goal="Changed", depends_on=needs, criteria=["weighed"])
        body = list(step.body)
        if self.dice.random() < 0.4:
            body.append(self.dice.choice(ids))
        elif len(body) > 1 and self.dice.random() < 0.5:
            body.pop(self.dice.randrange(len(body)))
        policy = self.dice.choice(["fail_fast", "continue"])
        return loop(target, body, type=step.type, depends_on=needs, on_instance_failure=policy)

    def check(self) -> None:
        """What holds after every accepted amendment."""
        assert_derived(self.run_id)
        run = Run.objects.get(run_id=self.run_id)
        plan = load_plan(run.plan_id)
        assert problems(plan) == []
        assert not set(plan.by_id) & set(
            RemovedStep.objects.filter(workflow=run.workflow_id).values_list("step_id", flat=True)
        )
        document = self.document()
        live = {name for name, state in document["step_states"].items() if state["skip_cause"] != "removed"}
        assert live == set(plan.top_level)
        self._check_bodies(document["step_states"], plan)
        text = self.text()
        for name in self.reported | self.asked:  # nothing that was ever reported or asked is lost
            assert f'"{name}"' in text, name

    def _check_bodies(self, states: dict[str, Any], plan: Plan) -> None:
        for step_id, state in states.items():
            for instance in state["instances"] or ():
                if state["skip_cause"] is None and instance["status"] in {"pending", "running"}:
                    assert instance["body"] == list(plan.by_id[step_id].body or ()), step_id
                    kept = {
                        name
                        for name, each in instance["step_states"].items()
                        if each["skip_cause"] != "removed"
                    }
                    assert kept == set(instance["body"])
                self._check_bodies(instance["step_states"], plan)


@settings(
    max_examples=EXAMPLES,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(st.randoms(use_true_random=False), st.integers(3, 12), st.integers(1, 4))
def test_amendments_leave_whole_runs(reviewer: Caller, dice: Random, moves: int, rounds: int) -> None:
    story = Story(reviewer, dice)
    for _ in range(rounds):
        for _ in range(moves):
            story.move()
        story.amend()
