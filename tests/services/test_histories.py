"""Random histories, played through the services and checked against the whole-tree derivation after every step.

The model is a tree in memory: a command sets the one leaf it names and ``derive_all`` derives everything else. The
services derive locally and keep tallies. Every stored field must agree, and a refusal must leave no trace.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    precondition,
    rule,
    run_state_machine_as_test,
)

from amendments.domain.cancellation import cancel
from amendments.domain.effects import Stamp, simulate
from amendments.domain.operations import Operation
from amendments.services.approve_amendment import approve_amendment
from amendments.services.cancel_run import cancel_run
from amendments.services.propose_amendment import propose_amendment
from amendments.services.reject_amendment import reject_amendment
from amendments.services.withdraw_amendment import withdraw_amendment
from chief_project.shared.caller import Caller, Role
from chief_project.shared.errors import ChiefError
from chief_project.shared.models import AuditEntry, User
from runs.domain.status import move
from runs.domain.tree import InstanceNode, RunTree, StateNode, derive_all, new_state, walk
from runs.models import Report, Run
from runs.models.run import RUN_STATUSES
from runs.services.acknowledge_run import acknowledge_run
from runs.services.answer_question import answer_question
from runs.services.ask_question import ask_question
from runs.services.mark_stale import mark_step_stale
from runs.services.outcome import RunWrite
from runs.services.register_run import register_run
from runs.services.register_step_instance import register_step_instance
from runs.services.report_instance_update import report_instance_update
from runs.services.report_step_update import report_step_update
from runs.services.resolve_checkpoint import resolve_checkpoint
from runs.services.tree_store import load_tree
from runs.services.withdraw_question import withdraw_question
from tests.plans import checkpoint, loop, parallel, task
from tests.workflows import new_approved
from workflows.domain.plan import Step
from workflows.mappers import load_plan
from workflows.models import RemovedStep

HISTORIES = int(os.environ.get("CHIEF_HISTORIES", "500"))
NOW = datetime(2030, 1, 1, tzinfo=UTC)
HARNESS = Caller(actor="h", role=Role.HARNESS, via="rest", token_id=1)

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]


@st.composite
def plans(draw: st.DrawFn) -> list[dict[str, Any]]:
    """A small plan with everything in it: nested constructs under both policies, edges within each scope."""
    steps: list[dict[str, Any]] = []

    def scope(depth: int) -> list[str]:
        members: list[str] = []
        for _ in range(draw(st.integers(2, 5) if depth == 0 else st.integers(1, 3))):
            step_id = f"s{len(steps)}"
            kinds = (
                ["task", "task", "checkpoint", "loop", "parallel"] if depth < 3 else ["task", "checkpoint"]
            )
            kind = draw(st.sampled_from(kinds))
            needs = draw(st.lists(st.sampled_from(members), unique=True, max_size=2)) if members else []
            place = len(steps)
            steps.append({})
            if kind in {"loop", "parallel"}:
                make = loop if kind == "loop" else parallel
                policy = draw(st.sampled_from(["fail_fast", "continue"]))
                made = make(step_id, scope(depth + 1), on_instance_failure=policy, depends_on=needs)
            elif kind == "checkpoint":
                made = checkpoint(step_id, depends_on=needs)
            else:
                made = task(step_id, depends_on=needs, criteria=["it works"] if draw(st.booleans()) else [])
            steps[place] = made
            members.append(step_id)
        return members

    scope(0)
    return steps


PICK = st.integers(0, 10_000)
REPORTED = ["running", "completed", "failed", "running", "completed", "failed", None, "pending"]


def reached(state: StateNode) -> bool:
    return state.type == "checkpoint" and state.status == "blocked"


def at_work(state: StateNode) -> bool:
    return state.type == "task" and state.status == "running"


def asking(state: StateNode) -> bool:
    return state.open_question is not None


# What the histories came to: a test that never fails a step proves nothing about failures.
SEEN: Counter[tuple[str, str]] = Counter()


class Histories(RuleBasedStateMachine):
    """One run, and the model it must agree with."""

    @initialize(steps=plans())
    def register(self, steps: list[dict[str, Any]]) -> None:
        ada, _ = User.objects.get_or_create(username="ada")
        self.person = Caller(actor="ada", role=Role.ADMIN, via="rest", user_id=ada.pk, signed_in=True)
        workflow = new_approved(self.person, *steps)
        self.run_id = register_run(caller=HARNESS, workflow_id=workflow["workflow_id"]).minimal["run_id"]
        plan = self.plan
        self.model = RunTree(
            status="running",
            states={step_id: new_state(step_id, plan.by_id[step_id].type) for step_id in plan.top_level},
        )
        derive_all(self.model, plan, NOW)
        self.revision = 1
        self.pending: tuple[str, list[Operation]] | None = None
        self.inserted = 0
        self.check(None)

    # -- What a harness and a person may try, legal or not ---------------------------------------------

    @rule(said=st.lists(st.tuples(PICK, st.sampled_from(REPORTED), st.booleans()), min_size=1, max_size=6))
    def report(self, said: list[tuple[int, str | None, bool]]) -> None:
        for pick, status, unmet in said:
            self.report_one(pick, status, not unmet)

    def report_one(self, pick: int, status: str | None, met: bool) -> None:
        path, state, _ = self.pick_state(
            pick, lambda state: state.instances is None and state.status in {"pending", "running"}
        )
        report: dict[str, Any] = {"summary": f"report {self.revision}", "metadata": {f"k{pick % 3}": pick}}
        if status is not None:
            report["status"] = status
        step = self.plan.by_id.get(state.step_id)
        if met and step is not None and step.criteria:
            report["criteria_met"] = {"c1": "seen"}

        def apply() -> None:
            state.summary = report["summary"]
            state.metadata = state.metadata | report["metadata"]
            state.criteria_met = state.criteria_met | report.get("criteria_met", {})
            if state.instances is not None:
                state.started = True
            elif status is not None:
                move(state, "blocked" if state.type == "checkpoint" else status, NOW)

        self.attempt(
            lambda: report_step_update(caller=HARNESS, run_id=self.run_id, path=path, report=report), apply
        )

    @rule(pick=PICK)
    def close(self, pick: int) -> None:
        path, state, _ = self.pick_state(pick, lambda state: state.instances is not None)
        if state.instances is None:
            return

        def apply() -> None:
            state.summary, state.started, state.instances_closed = "closed", True, True

        report = {"summary": "closed", "instances_closed": True}
        self.attempt(
            lambda: report_step_update(caller=HARNESS, run_id=self.run_id, path=path, report=report), apply
        )

    @rule(new=st.lists(st.tuples(PICK, st.sampled_from([None, None, None, 0, 5])), min_size=1, max_size=4))
    def instance(self, new: list[tuple[int, int | None]]) -> None:
        for pick, index in new:
            self.register_one(pick, index)

    def register_one(self, pick: int, index: int | None) -> None:
        path, state, _ = self.pick_state(
            pick, lambda state: state.instances is not None and not state.instances_closed
        )

        def apply() -> None:
            assert state.instances is not None
            place = state.next_index if index is None else index
            state.next_index = max(state.next_index, place + 1)
            step = self.plan.by_id[state.step_id]
            assert step.body is not None
            node = InstanceNode(
                f"inst_{place:02d}", place, "iteration" if state.type == "loop" else "branch", step.body
            )
            node.states = {member: new_state(member, self.plan.by_id[member].type) for member in step.body}
            state.instances[node.instance_id] = node

        body = {} if index is None else {"index": index}
        self.attempt(
            lambda: register_step_instance(caller=HARNESS, run_id=self.run_id, path=path, instance=body),
            apply,
        )

    @rule(pick=PICK, status=st.sampled_from([None, "running", "completed", "failed"]))
    def instance_update(self, pick: int, status: str | None) -> None:
        found = [
            ((*path, instance.instance_id), instance)
            for path, state, _ in walk(self.model)
            for instance in (state.instances or {}).values()
        ]
        if not found:
            return
        path, node = found[pick % len(found)]

        def apply() -> None:
            node.summary = "whole"
            if status is None:
                node.started = True
            else:
                only = node.states[node.body[0]]
                only.summary = "whole"
                move(only, "blocked" if only.type == "checkpoint" else status, NOW)

        report = {"summary": "whole"} | ({} if status is None else {"status": status})
        self.attempt(
            lambda: report_instance_update(caller=HARNESS, run_id=self.run_id, path=path, report=report),
            apply,
        )

    @precondition(lambda self: self.some(reached))
    @rule(pick=PICK, decision=st.sampled_from(["approved", "rejected"]))
    def resolve(self, pick: int, decision: str) -> None:
        path, state, _ = self.pick_state(pick, reached)

        def apply() -> None:
            state.summary = f"{decision.capitalize()} by ada: note"
            state.checkpoint = {"decision": decision}
            move(state, "completed" if decision == "approved" else "failed", NOW)

        resolution = {"decision": decision, "note": "note"}
        self.attempt(
            lambda: resolve_checkpoint(
                caller=self.person, run_id=self.run_id, path=path, resolution=resolution
            ),
            apply,
        )

    @precondition(lambda self: self.some(at_work))
    @rule(pick=PICK, then=st.sampled_from(["answer", "withdraw", "wait"]))
    def ask(self, pick: int, then: str) -> None:
        path, state, _ = self.pick_state(pick, at_work)

        def apply() -> None:
            state.questions = [*state.questions, {"question_id": "", "answered_at": None, "closed": None}]
            move(state, "blocked", NOW)

        self.attempt(
            lambda: ask_question(caller=HARNESS, run_id=self.run_id, path=path, question={"text": "Which?"}),
            apply,
        )
        if then != "wait" and self.some(asking):
            self.answer(pick=0, withdraw=then == "withdraw")

    @precondition(lambda self: self.some(asking))
    @rule(pick=PICK, withdraw=st.booleans())
    def answer(self, pick: int, withdraw: bool) -> None:
        path, state, _ = self.pick_state(pick, asking)
        stored = self.stored_state(path)
        question_id = stored.open_question or "qst_none"

        def apply() -> None:
            state.questions = [*state.questions[:-1], {"question_id": "", "answered_at": NOW, "closed": None}]
            move(state, "running", NOW)

        def call() -> RunWrite:
            if withdraw:
                body = {"question_id": question_id}
                return withdraw_question(caller=HARNESS, run_id=self.run_id, path=path, withdrawal=body)
            body = {"question_id": question_id, "response": {"text": "this one"}}
            return answer_question(caller=self.person, run_id=self.run_id, path=path, answer=body)

        self.attempt(call, apply)

    @rule(pick=PICK, reason=st.sampled_from(["lost the race", None]))
    def stale(self, pick: int, reason: str | None) -> None:
        path, state, _ = self.pick_state(pick)

        def apply() -> None:
            state.stale = None if reason is None else {"reason": reason}

        mark = {"reason": reason}
        self.attempt(
            lambda: mark_step_stale(caller=self.person, run_id=self.run_id, path=path, mark=mark), apply
        )

    @precondition(lambda self: self.model.status in {"failed", "completed"})
    @rule()
    def acknowledge(self) -> None:
        def apply() -> None:
            self.model.acknowledged = {"by": "ada"}

        self.attempt(lambda: acknowledge_run(caller=self.person, run_id=self.run_id), apply)

    # -- Amendments, while the harness goes on reporting -----------------------------------------------

    @rule(
        picks=st.lists(PICK, min_size=1, max_size=2),
        op=st.sampled_from(["insert_after", "update_step", "remove_step", "replay_step", "replay_step"]),
        scoped=st.booleans(),
    )
    def propose(self, picks: list[int], op: str, scoped: bool) -> None:
        operations = [self.operation(pick, op, scoped) for pick in picks]

        def call() -> RunWrite:
            write = propose_amendment(
                caller=HARNESS,
                run_id=self.run_id,
                proposed_by="planner",
                kind="history_edit",
                reason="the plan no longer fits",
                operations=operations,
            )
            self.pending = (write.full()["amendment_id"], operations)
            return write

        def apply() -> None:
            self.model.paused = True

        self.attempt(call, apply)

    def operation(self, pick: int, op: str, scoped: bool) -> Operation:
        path, state, _ = self.pick_state(pick)
        if op == "insert_after":
            self.inserted += 1
            new = Step(id=f"n{self.inserted}", type="task", goal="Do more")
            return Operation(op, state.step_id, step=new)
        if op == "update_step":
            was = self.plan.by_id.get(state.step_id)
            changed = (
                replace(was, goal=f"{was.goal}, better") if was else Step(state.step_id, state.type, "?")
            )
            return Operation(op, state.step_id, step=changed)
        inside = path[:-1] if scoped and len(path) > 1 else None
        return Operation(op, state.step_id, instance_path=inside)

    @precondition(lambda self: self.pending is not None)
    @rule(decision=st.sampled_from(["approve", "approve", "approve", "reject", "withdraw"]))
    def decide(self, decision: str) -> None:
        assert self.pending is not None
        amendment_id, operations = self.pending
        run = Run.objects.get(run_id=self.run_id)
        plan_before = self.plan
        never = set(RemovedStep.objects.filter(workflow=run.workflow_id).values_list("step_id", flat=True))
        finished = self.finished()

        def call() -> RunWrite:
            if decision == "approve":
                return approve_amendment(caller=self.person, amendment_id=amendment_id)
            if decision == "reject":
                return reject_amendment(caller=self.person, amendment_id=amendment_id)
            return withdraw_amendment(caller=HARNESS, amendment_id=amendment_id)

        def apply() -> None:
            self.pending = None
            self.model.paused = False
            if decision == "approve":
                stamp = Stamp(NOW, "ada", "ada", amendment_id)
                self.model = simulate(
                    plan_before, self.model, operations, kind="history_edit", never=never, stamp=stamp
                ).tree

        self.attempt(call, apply)
        for path, kept in finished.items():
            assert self.is_kept(path, kept), f"the result of {path} is gone"

    def finished(self) -> dict[tuple[str, ...], tuple[str, str | None, int]]:
        return {
            path: (state.status, state.summary, len(state.history))
            for path, state, _ in walk(self.stored())
            if state.status in {"completed", "failed"} and state.instances is None
        }

    def is_kept(self, path: tuple[str, ...], kept: tuple[str, str | None, int]) -> bool:
        """A finished result still stands, or is in its own history, or in that of something around it."""
        status, summary, snapshots = kept
        histories: list[list[dict[str, Any]]] = []
        for found, state, _ in walk(self.stored()):
            if found == path:
                if (state.status, state.summary) == (status, summary) or len(state.history) > snapshots:
                    return True
            elif path[: len(found)] == found:
                histories.append(state.history)
            for instance in (state.instances or {}).values():
                if path[: len(found) + 1] == (*found, instance.instance_id):
                    histories.append(instance.history)
        return any(histories)

    @precondition(lambda self: self.revision > 15)
    @rule()
    def cancel(self) -> None:
        def apply() -> None:
            self.pending = None
            self.model.paused = False
            self.model.acknowledged = None
            cancel(self.model, at=NOW, by="ada", actor="ada", reason=None)

        self.attempt(lambda: cancel_run(caller=self.person, run_id=self.run_id), apply)

    # -- The comparison --------------------------------------------------------------------------------

    @property
    def plan(self) -> Any:
        return load_plan(Run.objects.values_list("plan_id", flat=True).get(run_id=self.run_id))

    def some(self, likely: Callable[[StateNode], bool]) -> bool:
        return any(likely(state) for _, state, _ in walk(self.model))

    def pick_state(
        self, pick: int, likely: Callable[[StateNode], bool] = lambda state: True
    ) -> tuple[tuple[str, ...], StateNode, InstanceNode | None]:
        """A state of the model: four times in five one where the attempt is likely to be accepted."""
        every = list(walk(self.model))
        wanted = [found for found in every if likely(found[1])] if pick % 5 < 4 else []
        return (wanted or every)[pick % len(wanted or every)]

    def attempt(self, call: Any, apply: Any) -> None:
        """Make the call; where it is accepted the model follows, where it is refused nothing may have changed."""
        doing = sys._getframe(1).f_code.co_name
        trace = self.trace()
        failed_before = self.failed()
        try:
            write = call()
        except ChiefError:
            assert self.trace() == trace, "a refusal left a trace"
            SEEN[doing, "refused"] += 1
            self.check(None)
            return
        apply()
        derive_all(self.model, self.plan, NOW)
        if self.failed() - failed_before:
            self.model.acknowledged = None
        self.revision += 1
        SEEN[doing, "accepted"] += 1
        SEEN["run", self.model.status] += 1
        self.check(write)

    def failed(self) -> set[tuple[str, ...]]:
        return {path for path, state, _ in walk(self.model) if state.status == "failed"}

    def trace(self) -> tuple[Any, ...]:
        run = Run.objects.get(run_id=self.run_id)
        reports = Report.objects.filter(run=run).count()
        return run.revision, run.audit_hash, reports, AuditEntry.objects.count(), describe(self.stored())

    def stored(self) -> RunTree:
        run = Run.objects.get(run_id=self.run_id)
        return load_tree(run, load_plan(run.plan_id)).tree

    def stored_state(self, path: tuple[str, ...]) -> StateNode:
        return next(state for found, state, _ in walk(self.stored()) if found == path)

    def check(self, write: RunWrite | None) -> None:
        run = Run.objects.get(run_id=self.run_id)
        stored = self.stored()
        assert describe(stored) == describe(self.model)
        assert run.revision == self.revision
        assert stored.status == run.status
        # The oracle over what is stored changes nothing, to the field and the millisecond.
        before = describe(stored, exact=True)
        derive_all(stored, load_plan(run.plan_id), NOW)
        assert describe(stored, exact=True) == before
        if write is not None:
            assert write.minimal["revision"] == run.revision
            assert write.minimal["run_status"] == run.status


def describe(tree: RunTree, *, exact: bool = False) -> dict[str, Any]:
    """Everything stored about a run, comparable; without ``exact``, times only as there or not there."""

    def time(moment: datetime | None) -> Any:
        return moment if exact else moment is not None

    def node(one: StateNode | InstanceNode) -> dict[str, Any]:
        common = {
            "status": one.status,
            "skip_cause": one.skip_cause,
            "summary": one.summary,
            "metadata": one.metadata,
            "stale": one.stale and one.stale["reason"],
            "started_at": time(one.started_at),
            "completed_at": time(one.completed_at),
            "started": one.started,
            "failures": one.failures,
            "tally": one.tally,
            "history": len(one.history),
        }
        if isinstance(one, InstanceNode):
            return common | {"index": one.index, "kind": one.kind, "body": one.body}
        return common | {
            "type": one.type,
            "criteria_met": one.criteria_met,
            "checkpoint": one.checkpoint and one.checkpoint["decision"],
            "closed": one.instances_closed,
            "next_index": one.next_index,
            "open_question": one.open_question is not None,
            "questions": len(one.questions),
        }

    found: dict[str, Any] = {}
    for path, state, _ in walk(tree):
        found["/".join(path)] = node(state)
        for instance in (state.instances or {}).values():
            found["/".join((*path, instance.instance_id))] = node(instance)
    return {
        "run": (
            tree.status,
            tree.tally,
            tree.blocked_on_person,
            tree.acknowledged and tree.acknowledged["by"],
        ),
        "nodes": found,
    }


def test_any_history_leaves_what_the_whole_tree_derivation_says() -> None:
    run_state_machine_as_test(
        Histories,
        settings=settings(
            max_examples=HISTORIES,
            stateful_step_count=25,
            deadline=None,
            suppress_health_check=list(HealthCheck),
            print_blob=True,
        ),
    )
    verbs = [
        "report_one",
        "register_one",
        "close",
        "instance_update",
        "resolve",
        "ask",
        "answer",
        "stale",
        "propose",
    ]
    wanted = [(verb, "accepted") for verb in (*verbs, "acknowledge", "decide", "cancel")]
    wanted += [(verb, "refused") for verb in ("report_one", "register_one", "propose")]
    wanted += [("run", status) for status in RUN_STATUSES]
    assert not [one for one in wanted if SEEN[one] < HISTORIES / 100], SEEN
