"""What one report changes (contract 3): skipped chains, tolerated failures, the run, by hand and against the oracle.

``Board`` is a run in memory. It moves a step as a service does, by the local derivation alone, and then lets the
whole-tree derivation confirm that nothing was missed.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from runs.domain.settle import Chain, Neighbour, RunHead, made_ready, settle, settle_construct, wanted
from runs.domain.tree import InstanceNode, RunTree, StateNode, derive_all, new_state, put_aside, walk
from tests.plans import checkpoint, loop, parallel, task
from workflows.documents import StepDocument, plan_value
from workflows.domain.plan import Plan

NOW = datetime(2030, 1, 1, tzinfo=UTC)


class Board:
    """A run of ``steps``; every write is a minute after the one before."""

    def __init__(self, *steps: dict[str, Any]) -> None:
        self.plan: Plan = plan_value([StepDocument.model_validate(step) for step in steps], [])
        self.tree = RunTree("running", {each: self._new(each) for each in self.plan.top_level})
        derive_all(self.tree, self.plan, NOW)
        self.acknowledged: dict[str, Any] | None = None
        self.now = NOW

    def _new(self, step_id: str) -> StateNode:
        return new_state(step_id, self.plan.by_id[step_id].type)

    def at(self, path: str) -> StateNode:
        """The state at ``path``."""
        return self._chain(path)[1]

    def instance(self, path: str) -> InstanceNode:
        construct, _, name = path.rpartition("/")
        return (self.at(construct).instances or {})[name]

    def statuses(self, at: str = "") -> dict[str, str]:
        """The statuses of a scope: the top level, or an instance's body."""
        scope = self.instance(at).states if at else self.tree.states
        return {step_id: state.status for step_id, state in scope.items()}

    def _chain(self, path: str) -> tuple[list[tuple[StateNode, InstanceNode]], StateNode]:
        scope, levels = self.tree.states, []
        tokens = path.split("/")
        for construct_id, instance_id in zip(tokens[:-1:2], tokens[1::2], strict=True):
            construct = scope[construct_id]
            inside = (construct.instances or {})[instance_id]
            levels.append((construct, inside))
            scope = inside.states
        return levels, scope[tokens[-1]]

    def _head(self) -> RunHead:
        tree = self.tree
        return RunHead(
            pk=1,
            run_id="r1",
            workflow_id="w1",
            workflow_pk=1,
            plan_pk=1,
            status=tree.status,
            revision=1,
            reports=0,
            blocked_on_person=tree.blocked_on_person,
            audit_length=0,
            audit_hash="",
            pending_amendment_id="amd_1" if tree.paused else None,
            acknowledged=tree.acknowledged,
            tally=tree.tally,
            failed_at=None,
        )

    def _took(self, head: RunHead) -> None:
        self.tree.status, self.tree.acknowledged = head.status, head.acknowledged
        self.tree.blocked_on_person = head.blocked_on_person
        self.confirm()

    def move(self, path: str, status: str) -> list[str]:
        """Report ``status`` on a leaf; the ids of the steps that are skipped by it."""
        self.now += timedelta(minutes=1)
        levels, target = self._chain(path)
        chain = Chain(self._head(), levels, target)
        scopes = [self.tree.states, *(inside.states for _, inside in levels)]
        near = {
            want.depth: {
                step_id: Neighbour(0, step_id, node.status, node.skip_cause)
                for step_id, node in scopes[want.depth].items()
                if step_id in want.steps
            }
            for want in wanted(chain, self.plan, status)
        }
        skipped = settle(chain, self.plan, status, self.now, near)
        for scope in scopes:
            for neighbour in skipped:
                if neighbour.step_id in scope:
                    scope[neighbour.step_id].status = "skipped"
                    scope[neighbour.step_id].skip_cause = neighbour.skip_cause
        self._took(chain.run)
        return [neighbour.step_id for neighbour in skipped]

    def add(self, path: str) -> str:
        """Register an instance; its path."""
        levels, construct = self._chain(path)
        assert construct.instances is not None
        index = len(construct.instances)
        body = self.plan.by_id[construct.step_id].body or ()
        kind = "iteration" if construct.type == "loop" else "branch"
        node = InstanceNode(f"i{index}", index, kind, body, states={each: self._new(each) for each in body})
        node.tally["pending"] = len(body)
        construct.instances[node.instance_id] = node
        construct.tally["pending"] += 1
        self._construct(levels, construct)
        return f"{path}/{node.instance_id}"

    def close(self, path: str) -> None:
        levels, construct = self._chain(path)
        construct.started = construct.instances_closed = True
        self._construct(levels, construct)

    def _construct(self, levels: list[tuple[StateNode, InstanceNode]], construct: StateNode) -> None:
        self.now += timedelta(minutes=1)
        chain = Chain(self._head(), levels, construct)
        settle_construct(chain, self.plan, construct, len(levels), self.now)
        self._took(chain.run)

    def confirm(self) -> None:
        """The whole-tree derivation changes nothing."""
        before = everything(self.tree)
        derive_all(self.tree, self.plan, self.now)
        assert everything(self.tree) == before


def everything(tree: RunTree) -> Any:
    def state(node: StateNode) -> Any:
        inside = {name: instance(each) for name, each in (node.instances or {}).items()}
        times = (node.started_at, node.completed_at)
        return node.status, node.skip_cause, times, node.failures, dict(node.tally), inside

    def instance(node: InstanceNode) -> Any:
        inside = {name: state(each) for name, each in node.states.items()}
        return node.status, node.started_at, node.completed_at, node.failures, dict(node.tally), inside

    states = {name: state(each) for name, each in tree.states.items()}
    return tree.status, tree.acknowledged, tree.blocked_on_person, dict(tree.tally), states


def chain(*ids: str) -> list[dict[str, Any]]:
    return [task(each, depends_on=[before] if before else []) for before, each in zip(("", *ids), ids)]  # noqa: B905


DIAMOND = [
    task("a"),
    task("b", depends_on=["a"]),
    task("c", depends_on=["a"]),
    task("d", depends_on=["b", "c"]),
    task("e", depends_on=["d"]),
    task("z"),
]


# -- Skipped chains ----------------------------------------------------------------------------------


def test_a_failure_skips_the_whole_chain_behind_it_and_nothing_else() -> None:
    board = Board(*chain("a", "b", "c", "d"), task("z"))
    board.move("a", "completed")
    assert board.move("b", "failed") == ["c", "d"]
    assert board.statuses() == {
        "a": "completed",
        "b": "failed",
        "c": "skipped",
        "d": "skipped",
        "z": "pending",
    }
    assert board.at("d").skip_cause == "dependency"
    assert (board.at("d").started_at, board.at("d").completed_at) == (None, None)
    assert board.tree.status == "failed"


def test_one_side_of_a_diamond_is_enough_to_skip_where_the_sides_meet() -> None:
    board = Board(*DIAMOND)
    board.move("a", "completed")
    assert board.move("b", "failed") == ["d", "e"]
    assert board.statuses()["c"] == "pending"
    board.move("c", "completed")  # the other side goes on, and changes nothing
    assert board.statuses()["d"] == "skipped"


def test_the_head_of_a_diamond_skips_all_of_it_once() -> None:
    board = Board(*DIAMOND)
    assert board.move("a", "failed") == ["b", "c", "d", "e"]
    assert board.tree.tally == {
        "pending": 1, "running": 0, "blocked": 0, "completed": 0, "failed": 1, "skipped": 4,
    }  # fmt: skip


def test_both_sides_of_a_diamond_failing_skip_the_rest_only_once() -> None:
    board = Board(*DIAMOND)
    board.move("a", "completed")
    assert board.move("b", "failed") == ["d", "e"]
    assert board.move("c", "failed") == []
    assert board.tree.tally["skipped"] == 2


@pytest.mark.parametrize("status", ["running", "completed", "failed"])
def test_a_step_that_began_keeps_its_state_and_ends_the_chain(status: str) -> None:
    board = Board(*chain("a", "b", "c"), task("d", depends_on=["c"]))
    board.move("b", status)  # order is recorded, not enforced
    was = board.statuses()
    assert board.move("a", "failed") == []
    assert board.statuses() == was | {"a": "failed"}


def test_a_blocked_step_ends_the_chain_too() -> None:
    board = Board(task("a"), checkpoint("gate", depends_on=["a"]), task("c", depends_on=["gate"]))
    board.move("gate", "blocked")
    assert board.move("a", "failed") == []
    assert board.statuses() == {"a": "failed", "gate": "blocked", "c": "pending"}


def test_the_chain_goes_on_beside_a_step_that_began() -> None:
    """``b`` runs and ends its own chain; ``d`` still waits for the failed ``a`` by way of ``c``."""
    board = Board(*DIAMOND)
    board.move("b", "running")
    assert board.move("a", "failed") == ["c", "d", "e"]
    assert board.statuses()["b"] == "running"


def test_a_running_step_behind_a_failure_may_finish_and_fail() -> None:
    board = Board(*chain("a", "b", "c"))
    board.move("b", "running")
    board.move("a", "failed")
    assert board.statuses()["c"] == "pending"
    assert board.move("b", "failed") == ["c"]


def test_a_running_step_behind_a_failure_that_goes_back_to_pending_is_skipped() -> None:
    """Only a pending step is skipped: it is one now. What waits for it goes with it."""
    board = Board(*chain("a", "b", "c"))
    board.move("b", "running")
    board.move("a", "failed")
    board.move("b", "pending")
    assert (board.at("b").status, board.at("b").skip_cause) == ("skipped", "dependency")
    assert (board.at("b").started_at, board.at("b").completed_at) == (None, None)
    assert board.at("c").status == "skipped"


def test_skips_stay_in_the_scope_of_the_failure() -> None:
    board = Board(
        loop("l", ["x", "y"], on_instance_failure="continue"),
        task("x"),
        task("y", depends_on=["x"]),
        task("after", depends_on=["l"]),
    )
    first, second = board.add("l"), board.add("l")
    assert board.move(f"{first}/x", "failed") == ["y"]
    assert board.statuses(first) == {"x": "failed", "y": "skipped"}
    assert board.statuses(second) == {"x": "pending", "y": "pending"}
    assert board.statuses() == {"l": "running", "after": "pending"}


def test_a_failure_that_reaches_the_top_skips_in_each_scope_on_its_way() -> None:
    board = Board(
        loop("out", ["in", "beside", "waits"]),
        loop("in", ["x", "y"]),
        task("x"),
        task("y", depends_on=["x"]),
        task("beside"),
        task("waits", depends_on=["in"]),
        task("after", depends_on=["out"]),
        task("apart"),
    )
    outer = board.add("out")
    inner = board.add(f"{outer}/in")
    assert sorted(board.move(f"{inner}/x", "failed")) == ["after", "waits", "y"]
    assert board.statuses(inner) == {"x": "failed", "y": "skipped"}
    assert board.statuses(outer) == {"in": "failed", "beside": "pending", "waits": "skipped"}
    assert board.statuses() == {"out": "failed", "after": "skipped", "apart": "pending"}
    assert board.tree.status == "failed"


def test_a_dependency_skip_is_taken_back_when_its_cause_clears_and_a_removal_is_not() -> None:
    board = Board(*chain("a", "b", "c"), task("gone", depends_on=["a"]), task("d", depends_on=["gone"]))
    put_aside(board.at("gone"), "removed", NOW)
    derive_all(board.tree, board.plan, NOW)
    board.move("a", "failed")
    assert {each: board.at(each).skip_cause for each in ("b", "c", "gone", "d")} == {
        "b": "dependency",
        "c": "dependency",
        "gone": "removed",
        "d": "dependency",
    }
    board.at("a").status = "pending"  # as a replay does
    derive_all(board.tree, board.plan, NOW)
    assert board.statuses() == {
        "a": "pending",
        "b": "pending",
        "c": "pending",
        "gone": "skipped",
        "d": "skipped",  # behind a skipped step; an amendment that removes one rewires what waited for it
    }
    assert board.tree.status == "running"


def test_a_step_behind_two_failures_waits_for_the_second_when_the_first_clears() -> None:
    board = Board(*DIAMOND)
    board.move("b", "failed")
    board.move("c", "failed")
    board.at("b").status = "pending"
    derive_all(board.tree, board.plan, NOW)
    assert board.statuses()["d"] == "skipped"
    board.at("c").status = "pending"
    derive_all(board.tree, board.plan, NOW)
    assert board.statuses() == dict.fromkeys("abcdez", "pending")


# -- Constructs and instances ------------------------------------------------------------------------


def test_an_instance_and_its_construct_follow_the_body() -> None:
    board = Board(parallel("p", ["x", "y"]), task("x"), task("y", depends_on=["x"]))
    one = board.add("p")
    assert (board.at("p").status, board.instance(one).status) == ("running", "pending")
    assert board.instance(one).started_at is None
    board.move(f"{one}/x", "running")
    assert board.instance(one).status == "running"
    began = board.instance(one).started_at
    board.move(f"{one}/x", "completed")
    board.move(f"{one}/y", "completed")
    assert board.instance(one).status == "completed"
    assert (board.instance(one).started_at, board.instance(one).completed_at) == (began, board.now)
    assert board.at("p").status == "running"  # more may come
    board.close("p")
    assert (board.at("p").status, board.at("p").completed_at) == ("completed", board.now)
    assert board.tree.status == "completed"


def test_the_last_instance_to_finish_completes_a_closed_construct_at_any_depth() -> None:
    board = Board(loop("out", ["in"]), loop("in", ["x"]), task("x"))
    outer = board.add("out")
    inner = board.add(f"{outer}/in")
    board.close(f"{outer}/in")
    board.close("out")
    assert board.tree.status == "running"
    board.move(f"{inner}/x", "completed")
    assert (board.at(f"{outer}/in").status, board.instance(outer).status) == ("completed", "completed")
    assert (board.at("out").status, board.tree.status) == ("completed", "completed")


def test_a_failed_construct_stays_failed_while_its_other_branches_go_on() -> None:
    board = Board(parallel("p", ["x"]), task("x"))
    one, two = board.add("p"), board.add("p")
    board.move(f"{one}/x", "failed")
    failed_at = board.at("p").completed_at
    board.move(f"{two}/x", "completed")
    assert (board.at("p").status, board.at("p").completed_at) == ("failed", failed_at)


def test_taking_the_only_begun_step_back_makes_an_instance_pending_again() -> None:
    board = Board(loop("l", ["x"]), task("x"))
    one = board.add("l")
    board.move(f"{one}/x", "running")
    board.move(f"{one}/x", "pending")
    assert (board.instance(one).status, board.instance(one).started_at) == ("pending", None)
    assert board.at("l").status == "running"  # it has an instance


# -- Tolerated failures ------------------------------------------------------------------------------


def test_under_continue_an_instance_completes_and_tells_its_failures() -> None:
    board = Board(
        parallel("p", ["x", "y", "z"], on_instance_failure="continue"),
        task("x"),
        task("y", depends_on=["x"]),
        task("z"),
    )
    one, two = board.add("p"), board.add("p")
    board.move(f"{one}/x", "failed")
    assert (board.instance(one).status, board.instance(one).failures) == ("running", 1)
    board.move(f"{one}/z", "failed")
    assert (board.instance(one).status, board.instance(one).failures) == ("completed", 2)
    for step in "xyz":
        board.move(f"{two}/{step}", "completed")
    assert board.instance(two).failures == 0
    board.close("p")
    assert (board.at("p").status, board.at("p").failures) == ("completed", 2)
    assert board.tree.status == "completed"


def test_under_fail_fast_nothing_is_tolerated() -> None:
    board = Board(parallel("p", ["x"]), task("x"))
    one = board.add("p")
    board.move(f"{one}/x", "failed")
    assert (board.instance(one).failures, board.at("p").failures) == (0, 0)


def test_tolerated_failures_below_are_counted_at_every_level_above() -> None:
    """``in`` tolerates; ``out`` doesn't need to, and counts what was tolerated below it."""
    board = Board(
        loop("out", ["in"]),
        parallel("in", ["x"], on_instance_failure="continue"),
        task("x"),
    )
    outer = board.add("out")
    for _ in range(3):
        branch = board.add(f"{outer}/in")
        board.move(f"{branch}/x", "failed")
    assert [
        board.at(f"{outer}/in").failures,
        board.instance(outer).failures,
        board.at("out").failures,
    ] == [3, 3, 3]
    assert board.at("out").status == "running"


def test_a_failure_is_counted_once_where_it_is_tolerated() -> None:
    """``x`` fails ``in`` (fail_fast); ``out`` tolerates ``in``: one failed step was tolerated there."""
    board = Board(
        loop("out", ["in"], on_instance_failure="continue"),
        parallel("in", ["x"]),
        task("x"),
    )
    outer = board.add("out")
    branch = board.add(f"{outer}/in")
    board.move(f"{branch}/x", "failed")
    assert (board.at(f"{outer}/in").status, board.at(f"{outer}/in").failures) == ("failed", 0)
    assert (board.instance(outer).status, board.instance(outer).failures) == ("completed", 1)
    assert board.at("out").failures == 1
    second = board.add(f"{outer}/in") if board.at(f"{outer}/in").status == "running" else None
    assert second is None


# -- The run -----------------------------------------------------------------------------------------


def test_a_run_waits_on_a_person_for_a_checkpoint_anywhere_in_its_tree() -> None:
    board = Board(loop("l", ["gate"]), checkpoint("gate"), task("z"))
    one = board.add("l")
    board.move("z", "running")
    assert board.tree.status == "running"
    board.move(f"{one}/gate", "blocked")
    assert (board.tree.status, board.tree.blocked_on_person) == ("waiting_on_human", 1)
    assert board.at("l").status == "running"
    board.move(f"{one}/gate", "completed")
    assert (board.tree.status, board.tree.blocked_on_person) == ("running", 0)


def test_a_failed_run_stays_failed_while_something_waits_for_a_person() -> None:
    board = Board(task("a"), checkpoint("gate"))
    board.move("gate", "blocked")
    board.move("a", "failed")
    assert board.tree.status == "failed"


def test_a_pending_amendment_pins_the_pause_over_everything() -> None:
    board = Board(task("a"), checkpoint("gate"))
    board.tree.paused = True
    derive_all(board.tree, board.plan, NOW)
    for path, status in (("gate", "blocked"), ("gate", "completed"), ("a", "failed")):
        board.move(path, status)
        assert board.tree.status == "paused_for_approval"


def test_an_acknowledgement_outlives_other_reports_and_ends_with_the_next_failure() -> None:
    board = Board(task("a"), task("b"), task("c"))
    board.move("a", "failed")
    board.tree.acknowledged = {"by": "ada"}
    board.move("b", "running")
    board.move("b", "completed")
    assert board.tree.acknowledged == {"by": "ada"}
    board.move("c", "failed")
    assert board.tree.acknowledged is None


def test_an_acknowledgement_outlives_a_pause() -> None:
    board = Board(task("a"), task("b"))
    board.move("a", "failed")
    board.tree.acknowledged = {"by": "ada"}
    board.tree.paused = True
    derive_all(board.tree, board.plan, NOW)
    board.move("b", "running")
    assert board.tree.acknowledged == {"by": "ada"}


# -- What became ready -------------------------------------------------------------------------------


def test_a_step_is_made_ready_by_the_last_of_its_dependencies() -> None:
    board = Board(*DIAMOND)

    def ready(step_id: str) -> list[str]:
        scope = {
            each: Neighbour(0, each, node.status, node.skip_cause) for each, node in board.tree.states.items()
        }
        return made_ready(step_id, board.plan, scope)

    board.move("a", "completed")
    assert ready("a") == ["b", "c"]
    board.move("b", "completed")
    assert ready("b") == []
    board.move("c", "completed")
    assert ready("c") == ["d"]


# -- Any scope, any order ----------------------------------------------------------------------------


@st.composite
def graphs(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Three to nine tasks in a random order, each waiting for any of those drawn before it."""
    count = draw(st.integers(3, 9))
    steps = [
        task(f"s{place}", depends_on=[f"s{need}" for need in range(place) if draw(st.booleans())])
        for place in range(count)
    ]
    return draw(st.permutations(steps))


def expected(board: Board) -> set[str]:
    """By the words of contract 3: the pending steps that a path of pending steps leads to from a failed one."""
    reached, frontier = set(), [each for each, node in board.tree.states.items() if node.status == "failed"]
    while frontier:
        for behind in board.plan.dependents.get(frontier.pop(), ()):
            if behind not in reached and board.tree.states[behind].status in {"pending", "skipped"}:
                reached.add(behind)
                frontier.append(behind)
    return reached


@settings(max_examples=400, deadline=None)
@given(
    graphs(),
    st.lists(
        st.tuples(
            st.integers(0, 8), st.sampled_from(["running", "pending", "failed", "running", "completed"])
        ),
        min_size=10,
        max_size=30,
    ),
)
def test_what_is_skipped_is_what_a_chain_of_pending_steps_joins_to_a_failure(
    steps: list[dict[str, Any]], moves: list[tuple[int, str]]
) -> None:
    board = Board(*steps)
    for pick, status in moves:
        open_steps = [each for each, now in board.statuses().items() if now in {"pending", "running"}]
        if not open_steps:
            return
        board.move(open_steps[pick % len(open_steps)], status)
        assert {each for each, now in board.statuses().items() if now == "skipped"} == expected(board)


@st.composite
def nested(draw: st.DrawFn) -> list[dict[str, Any]]:
    """A plan of up to three levels, constructs under both policies, edges within each scope."""
    steps: list[dict[str, Any]] = []

    def scope(depth: int) -> list[str]:
        members: list[str] = []
        for _ in range(draw(st.integers(1, 3))):
            step_id = f"s{len(steps)}"
            needs = [member for member in members if draw(st.booleans())]
            place = len(steps)
            steps.append({})
            if depth < 2 and draw(st.booleans()):
                policy = draw(st.sampled_from(["fail_fast", "continue"]))
                steps[place] = loop(step_id, scope(depth + 1), depends_on=needs, on_instance_failure=policy)
            else:
                steps[place] = task(step_id, depends_on=needs)
            members.append(step_id)
        return members

    scope(0)
    return steps


MOVES = ["running", "pending", "failed", "completed", "blocked", "add", "add", "add", "close"]


@settings(max_examples=400, deadline=None)
@given(nested(), st.lists(st.tuples(st.integers(0, 50), st.sampled_from(MOVES)), min_size=10, max_size=40))
def test_the_local_derivation_says_what_the_whole_one_says_in_any_tree(
    steps: list[dict[str, Any]], moves: list[tuple[int, str]]
) -> None:
    """``Board`` compares after every move; here it only has to be given something to do."""
    board = Board(*steps)
    for pick, what in moves:
        found = [("/".join(path), state) for path, state, _ in walk(board.tree)]
        constructs = [
            path
            for path, state in found
            if state.instances is not None
            and not state.instances_closed
            and state.status in {"pending", "running"}
        ]
        leaves = [
            path
            for path, state in found
            if state.instances is None and state.status in {"pending", "running", "blocked"}
        ]
        if what in {"add", "close"}:
            if constructs:
                (board.add if what == "add" else board.close)(constructs[pick % len(constructs)])
        elif leaves:
            board.move(leaves[pick % len(leaves)], what)
