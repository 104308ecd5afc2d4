"""What operations do to a run's tree, simulated on values (contract 4)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from amendments.domain.effects import Simulation, Stamp, simulate
from amendments.domain.operations import Operation
from chief_project.shared.errors import InvariantViolation, NotFound, ValidationFailed
from runs.domain.status import move
from runs.domain.tree import InstanceNode, RunTree, StateNode, derive_all, new_state, walk
from tests.plans import checkpoint, loop, parallel, task
from workflows.documents import StepDocument
from workflows.domain.plan import Plan, Step

THEN = datetime(2026, 1, 1, tzinfo=UTC)
NOW = THEN + timedelta(hours=1)
STAMP = Stamp(NOW, "rita", "relay", "amd_1")


def step(document: dict[str, Any]) -> Step:
    return StepDocument.model_validate(document).value()


def plan(*documents: dict[str, Any]) -> Plan:
    return Plan(tuple(step(document) for document in documents))


def tree_of(made: Plan, **statuses: str) -> RunTree:
    """A run of ``made``; keyword: the status of a top-level leaf."""
    tree = RunTree("running", {name: new_state(name, made.by_id[name].type) for name in made.top_level})
    for name, status in statuses.items():
        report(tree.states[name], status)
    derive_all(tree, made, THEN)
    return tree


def report(state: StateNode, status: str) -> StateNode:
    move(state, status, THEN)
    state.summary = f"{state.step_id} is {status}"
    return state


def instance(tree: RunTree, made: Plan, path: str, **statuses: str) -> InstanceNode:
    """Register an instance at ``construct/instance`` (any depth) with its body's statuses."""
    *outer, construct_id, instance_id = path.split("/")
    states = tree.states
    for construct, inside in zip(outer[::2], outer[1::2], strict=True):
        states = (states[construct].instances or {})[inside].states
    construct_state = states[construct_id]
    assert construct_state.instances is not None
    body = made.by_id[construct_id].body or ()
    kind = "iteration" if made.by_id[construct_id].type == "loop" else "branch"
    node = InstanceNode(instance_id, len(construct_state.instances), kind, body)
    node.states = {name: new_state(name, made.by_id[name].type) for name in body}
    for name, status in statuses.items():
        report(node.states[name], status)
    construct_state.instances = {**construct_state.instances, instance_id: node}
    derive_all(tree, made, THEN)
    return node


def at(tree: RunTree, path: str) -> StateNode:
    return next(state for where, state, _ in walk(tree) if "/".join(where) == path)


def apply(made: Plan, tree: RunTree, *operations: Operation, kind: str = "history_edit") -> Simulation:
    return simulate(made, tree, operations, kind=kind, never=(), stamp=STAMP)


def replay(target: str, **scope: Any) -> Operation:
    return Operation("replay_step", target, **scope)


def remove(target: str, **scope: Any) -> Operation:
    return Operation("remove_step", target, **scope)


def update(document: dict[str, Any], **scope: Any) -> Operation:
    return Operation("update_step", document["id"], step=step(document), **scope)


def insert_after(target: str, document: dict[str, Any], **scope: Any) -> Operation:
    return Operation("insert_after", target, step=step(document), **scope)


CHAIN = plan(task("a"), task("b", depends_on=["a"]), task("c", depends_on=["b"]))
LOOP = plan(loop("l", ["x", "y"]), task("x"), task("y", depends_on=["x"]))


# -- The kind ------------------------------------------------------------------------------------------


def test_a_replay_needs_a_history_edit() -> None:
    with pytest.raises(InvariantViolation) as refused:
        apply(CHAIN, tree_of(CHAIN, a="completed"), replay("a"), kind="forward")
    assert refused.value.details["required_kind"] == "history_edit"
    assert refused.value.details["operation"] == 0


@pytest.mark.parametrize("operation", [update(task("a", goal="New")), remove("a")])
@pytest.mark.parametrize("status", ["completed", "failed"])
def test_altering_finished_work_needs_a_history_edit(operation: Operation, status: str) -> None:
    rewired = update(task("b"))
    with pytest.raises(InvariantViolation) as refused:
        apply(CHAIN, tree_of(CHAIN, a=status), rewired, operation, kind="forward")
    assert refused.value.details["required_kind"] == "history_edit"
    assert refused.value.details["operation"] == 1


@pytest.mark.parametrize("status", ["pending", "running", "blocked"])
def test_altering_unfinished_work_is_forward(status: str) -> None:
    apply(CHAIN, tree_of(CHAIN, a=status), update(task("a", goal="New")), kind="forward")


def test_an_insert_beside_finished_work_is_forward() -> None:
    tree = tree_of(CHAIN, a="completed", b="completed", c="completed")
    after = apply(CHAIN, tree, insert_after("a", task("n")), kind="forward")
    assert after.tree.states["n"].status == "pending"
    assert after.tree.status == "running"


def test_an_unscoped_change_counts_every_copy_and_a_scoped_one_its_own() -> None:
    tree = tree_of(LOOP)
    instance(tree, LOOP, "l/inst_00", x="completed")
    instance(tree, LOOP, "l/inst_01", x="running")
    changed = task("x", goal="New")
    with pytest.raises(InvariantViolation):
        apply(LOOP, tree, update(changed), kind="forward")
    apply(LOOP, tree, update(changed, instance_id="inst_01"), kind="forward")
    with pytest.raises(InvariantViolation):
        apply(LOOP, tree, update(changed, instance_id="inst_00"), kind="forward")


# -- Replay --------------------------------------------------------------------------------------------


def test_a_replay_keeps_the_old_result_and_starts_over() -> None:
    made = plan(task("a", criteria=["tested"]), task("b", depends_on=["a"]))
    tree = tree_of(made, a="failed")
    state = tree.states["a"]
    state.criteria_met, state.metadata, state.artifacts = {"c1": "yes"}, {"n": 1}, [{"artifact_id": "art"}]
    state.stale = {"reason": "old"}
    assert tree.states["b"].skip_cause == "dependency"
    after = apply(made, tree, replay("a")).tree
    a = after.states["a"]
    assert (a.status, a.summary, a.metadata, a.artifacts, a.criteria_met, a.stale) == (
        "pending",
        None,
        {},
        [],
        {},
        None,
    )
    assert (a.started_at, a.completed_at) == (None, None)
    kept = a.history[0]
    assert (kept["status"], kept["summary"], kept["superseded_at"]) == ("failed", "a is failed", NOW)
    assert kept["criteria_met"] == {"c1": "yes"}
    assert after.states["b"].status == "pending"  # what it was skipped for is gone
    assert after.status == "running"


def test_the_tree_that_was_handed_in_does_not_change() -> None:
    tree = tree_of(LOOP)
    instance(tree, LOOP, "l/inst_00", x="completed", y="running")
    apply(LOOP, tree, replay("x"), insert_after("x", task("n")))
    assert at(tree, "l/inst_00/x").status == "completed"
    assert list((tree.states["l"].instances or {})["inst_00"].states) == ["x", "y"]


@pytest.mark.parametrize("status", ["pending", "running", "blocked"])
def test_there_is_nothing_to_replay_in_what_did_not_finish(status: str) -> None:
    with pytest.raises(InvariantViolation, match="nothing to replay"):
        apply(CHAIN, tree_of(CHAIN, a=status), replay("a"))


def test_replaying_twice_in_one_set_leaves_nothing_for_the_second() -> None:
    with pytest.raises(InvariantViolation, match="nothing to replay") as refused:
        apply(CHAIN, tree_of(CHAIN, a="completed"), replay("a"), replay("a"))
    assert refused.value.details["operation"] == 1


def test_an_unscoped_replay_of_a_body_step_takes_the_finished_copies_only() -> None:
    tree = tree_of(LOOP)
    instance(tree, LOOP, "l/inst_00", x="completed", y="completed")
    instance(tree, LOOP, "l/inst_01", x="running")
    after = apply(LOOP, tree, replay("x")).tree
    assert at(after, "l/inst_00/x").status == "pending"
    assert at(after, "l/inst_00/y").status == "completed"
    assert at(after, "l/inst_01/x").status == "running"
    assert at(after, "l/inst_01/x").history == []


def test_a_replayed_construct_opens_again_and_keeps_its_instances_in_history() -> None:
    tree = tree_of(LOOP)
    instance(tree, LOOP, "l/inst_00", x="completed", y="completed")
    tree.states["l"].instances_closed = True
    derive_all(tree, LOOP, THEN)
    assert tree.status == "completed"
    construct = apply(LOOP, tree, replay("l")).tree.states["l"]
    assert (construct.status, construct.instances, construct.instances_closed) == ("pending", {}, False)
    kept = construct.history[0]["instances"][0]
    assert kept["step_states"]["x"]["status"] == "completed"
    assert kept["history"] == []


def test_an_operation_scoped_to_an_instance_that_an_earlier_one_took_away_is_not_found() -> None:
    tree = tree_of(LOOP)
    instance(tree, LOOP, "l/inst_00", x="failed")
    with pytest.raises(NotFound, match="l/inst_00") as refused:
        apply(LOOP, tree, replay("l"), replay("x", instance_id="inst_00"))
    assert refused.value.details["operation"] == 1


def test_a_replay_scoped_to_an_instance_resets_it_with_a_history_of_its_own() -> None:
    made = plan(
        parallel("p", ["x"], instance_params=[{"name": "paper"}], on_instance_failure="continue"), task("x")
    )
    tree = tree_of(made)
    one = instance(tree, made, "p/inst_00", x="failed")
    one.metadata, one.summary = {"paper": "A", "score": 3}, "poor"
    instance(tree, made, "p/inst_01", x="completed")
    after = apply(made, tree, replay("p", instance_id="inst_00")).tree
    reset = (after.states["p"].instances or {})["inst_00"]
    assert (reset.status, reset.summary, reset.states["x"].status) == ("pending", None, "pending")
    assert reset.metadata == {"paper": "A"}  # what tells the branch apart stays
    assert (reset.history[0]["status"], reset.history[0]["summary"]) == ("completed", "poor")
    assert reset.history[0]["step_states"]["x"]["summary"] == "x is failed"
    assert reset.states["x"].history == []
    assert after.states["p"].failures == 0
    assert at(after, "p/inst_01/x").status == "completed"


def test_an_instance_that_did_not_finish_has_nothing_to_replay() -> None:
    tree = tree_of(LOOP)
    instance(tree, LOOP, "l/inst_00", x="completed")
    with pytest.raises(InvariantViolation, match="nothing to replay"):
        apply(LOOP, tree, replay("l", instance_id="inst_00"))


def test_a_replay_of_one_copy_leaves_the_others() -> None:
    tree = tree_of(LOOP)
    instance(tree, LOOP, "l/inst_00", x="completed", y="completed")
    instance(tree, LOOP, "l/inst_01", x="completed", y="completed")
    after = apply(LOOP, tree, replay("y", instance_id="inst_01")).tree
    assert at(after, "l/inst_00/y").status == "completed"
    assert at(after, "l/inst_01/y").status == "pending"
    assert len(at(after, "l/inst_01/y").history) == 1


def test_a_replay_closes_the_questions_it_makes_moot() -> None:
    tree = tree_of(LOOP)
    instance(tree, LOOP, "l/inst_00", x="failed")
    asking = instance(tree, LOOP, "l/inst_01", x="blocked").states["x"]
    asking.questions = [{"question_id": "qst_1", "answered_at": None, "closed": None}]
    after = apply(LOOP, tree, replay("l")).tree
    kept = after.states["l"].history[0]["instances"][1]["step_states"]["x"]["questions"][0]
    assert kept["closed"]["at"] == NOW
    assert kept["closed"]["by"] == "rita"
    assert "amd_1" in kept["closed"]["reason"]
    assert after.blocked_on_person == 0


# -- Scopes --------------------------------------------------------------------------------------------

NESTED = plan(parallel("p", ["l"]), loop("l", ["x"]), task("x"))


def test_a_nested_instance_is_named_by_its_path() -> None:
    tree = tree_of(NESTED)
    instance(tree, NESTED, "p/inst_00")
    instance(tree, NESTED, "p/inst_00/l/inst_00", x="failed")
    instance(tree, NESTED, "p/inst_00/l/inst_01", x="completed")
    path = ("p", "inst_00", "l", "inst_00")
    after = apply(NESTED, tree, replay("x", instance_path=path)).tree
    assert at(after, "p/inst_00/l/inst_00/x").status == "pending"
    assert at(after, "p/inst_00/l/inst_01/x").status == "completed"
    after = apply(NESTED, tree, replay("l", instance_path=path)).tree
    inner = (at(after, "p/inst_00/l").instances or {})["inst_00"]
    assert (inner.status, len(inner.history)) == ("pending", 1)


def test_an_instance_id_alone_is_refused_where_it_does_not_say_enough() -> None:
    tree = tree_of(NESTED)
    with pytest.raises(ValidationFailed, match="instance_path"):
        apply(NESTED, tree, replay("x", instance_id="inst_00"))


def test_an_unknown_instance_is_named() -> None:
    tree = tree_of(LOOP)
    with pytest.raises(NotFound, match="l/inst_07"):
        apply(LOOP, tree, update(task("x"), instance_id="inst_07"))


def test_an_instance_that_never_held_the_step_is_named() -> None:
    tree = tree_of(LOOP)
    instance(tree, LOOP, "l/inst_00", x="completed", y="completed")
    grown = apply(LOOP, tree, insert_after("x", task("n")))
    with pytest.raises(NotFound, match="holds no step 'n'"):
        apply(grown.plan, grown.tree, replay("n", instance_id="inst_00"))


def test_a_top_level_task_has_no_instances() -> None:
    with pytest.raises(ValidationFailed, match="no instances"):
        apply(CHAIN, tree_of(CHAIN, a="completed"), replay("a", instance_id="inst_00"))


def test_an_insert_cannot_be_scoped() -> None:
    tree = tree_of(LOOP)
    instance(tree, LOOP, "l/inst_00")
    with pytest.raises(ValidationFailed, match="scoped"):
        apply(LOOP, tree, insert_after("x", task("n"), instance_id="inst_00"))


def test_a_step_of_the_same_set_can_be_a_target_but_neither_replayed_nor_scoped() -> None:
    tree = tree_of(LOOP)
    instance(tree, LOOP, "l/inst_00", x="completed")
    inserted = insert_after("x", task("n"))
    assert (
        apply(LOOP, tree, inserted, update(task("n", goal="Better")), kind="forward").plan.by_id["n"].goal
        == "Better"
    )
    with pytest.raises(InvariantViolation, match="nothing to replay"):
        apply(LOOP, tree, inserted, replay("n"))
    with pytest.raises(ValidationFailed, match="scoped"):
        apply(LOOP, tree, inserted, update(task("n"), instance_id="inst_00"))


# -- Updates -------------------------------------------------------------------------------------------


def test_an_update_of_finished_work_keeps_a_copy_and_leaves_what_was_reported() -> None:
    made = plan(task("a", criteria=["tested", "written", "read"]))
    tree = tree_of(made, a="completed")
    tree.states["a"].criteria_met = {"c1": "yes", "c2": "too", "c3": "also"}
    after = apply(made, tree, update(task("a", criteria=["tested", "well written"]))).tree.states["a"]
    assert (after.status, after.summary) == ("completed", "a is completed")
    assert after.criteria_met == {"c1": "yes"}
    assert after.history[0]["criteria_met"] == {"c1": "yes", "c2": "too", "c3": "also"}


def test_an_update_of_running_work_drops_outdated_answers_and_keeps_no_copy() -> None:
    made = plan(task("a", criteria=["tested"]))
    tree = tree_of(made, a="running")
    tree.states["a"].criteria_met = {"c1": "yes"}
    after = apply(made, tree, update(task("a", criteria=["tested twice"]))).tree.states["a"]
    assert (after.criteria_met, after.history) == ({}, [])


def test_a_finished_copy_outside_the_scope_is_left_as_it_is() -> None:
    made = plan(loop("l", ["x"]), task("x", criteria=["tested"]))
    tree = tree_of(made)
    for name, status in (("inst_00", "completed"), ("inst_01", "running")):
        instance(tree, made, f"l/{name}", x=status).states["x"].criteria_met = {"c1": "yes"}
    operation = update(task("x", criteria=["tested twice"]), instance_id="inst_01")
    after = apply(made, tree, operation, kind="forward").tree
    assert at(after, "l/inst_00/x").criteria_met == {"c1": "yes"}
    assert at(after, "l/inst_00/x").history == []
    assert at(after, "l/inst_01/x").criteria_met == {}


def test_what_is_derived_follows_an_update_at_once() -> None:
    tree = tree_of(LOOP)
    instance(tree, LOOP, "l/inst_00", x="failed")
    assert tree.states["l"].status == "failed"
    tolerant = loop("l", ["x", "y"], on_instance_failure="continue")
    after = apply(LOOP, tree, update(tolerant)).tree
    assert after.states["l"].status == "running"
    assert after.states["l"].history[0]["status"] == "failed"
    assert after.states["l"].failures == 1
    assert after.status == "running"


# -- Removals ------------------------------------------------------------------------------------------


def test_a_removed_step_is_skipped_for_good_and_keeps_what_it_was() -> None:
    tree = tree_of(CHAIN, a="completed", b="failed")
    after = apply(CHAIN, tree, remove("b"), update(task("c", depends_on=["a"]))).tree
    assert (after.states["b"].status, after.states["b"].skip_cause) == ("skipped", "removed")
    assert after.states["b"].history[0]["status"] == "failed"
    assert after.states["c"].status == "pending"
    assert after.status == "running"


def test_a_pending_step_leaves_no_history_when_it_is_removed() -> None:
    after = apply(CHAIN, tree_of(CHAIN), remove("c"), kind="forward").tree
    assert after.states["c"].skip_cause == "removed"
    assert after.states["c"].history == []


def test_removing_what_asks_a_person_closes_the_question_and_frees_the_run() -> None:
    tree = tree_of(CHAIN, c="blocked")
    tree.states["c"].questions = [{"question_id": "qst_1", "answered_at": None, "closed": None}]
    derive_all(tree, CHAIN, THEN)
    assert tree.status == "waiting_on_human"
    simulation = apply(CHAIN, tree, remove("c"), kind="forward")
    assert simulation.blocked == {"c"}
    after = simulation.tree
    closed = after.states["c"].questions[0]["closed"]
    assert (closed["by"], closed["actor"]) == ("rita", "relay")
    assert after.blocked_on_person == 0
    assert after.status == "running"


def test_an_unscoped_removal_takes_every_copy_out() -> None:
    tree = tree_of(LOOP)
    instance(tree, LOOP, "l/inst_00", x="completed", y="failed")
    instance(tree, LOOP, "l/inst_01", x="completed")
    after = apply(LOOP, tree, remove("y")).tree
    for name in ("inst_00", "inst_01"):
        assert at(after, f"l/{name}/y").skip_cause == "removed"
    assert at(after, "l/inst_00/y").history[0]["status"] == "failed"
    assert (after.states["l"].instances or {})["inst_00"].status == "completed"


def test_a_scoped_removal_leaves_finished_instances_as_they_are() -> None:
    tree = tree_of(LOOP)
    instance(tree, LOOP, "l/inst_00", x="completed", y="completed")
    instance(tree, LOOP, "l/inst_01", x="completed")
    simulation = apply(LOOP, tree, remove("y", instance_id="inst_01"), kind="forward")
    after = simulation.tree
    assert at(after, "l/inst_00/y").status == "completed"
    assert (after.states["l"].instances or {})["inst_00"].body == ("x", "y")
    assert at(after, "l/inst_01/y").skip_cause == "removed"
    assert (after.states["l"].instances or {})["inst_01"].status == "completed"
    assert simulation.removed == {"y"}


def test_a_scoped_removal_leaves_finished_work_of_open_siblings_as_it_is() -> None:
    made = plan(loop("l", ["x", "y"]), task("x"), task("y"))
    tree = tree_of(made)
    instance(tree, made, "l/inst_00", x="completed")
    instance(tree, made, "l/inst_01", x="running")
    after = apply(made, tree, remove("x", instance_id="inst_01"), kind="forward").tree
    kept = at(after, "l/inst_00/x")
    assert (kept.status, kept.skip_cause, kept.summary, kept.history) == (
        "completed",
        None,
        "x is completed",
        [],
    )
    assert (after.states["l"].instances or {})["inst_00"].body == ("y",)
    assert (at(after, "l/inst_01/x").status, at(after, "l/inst_01/x").skip_cause) == ("skipped", "removed")


def test_a_history_edit_scoped_to_one_copy_keeps_that_one_alone_in_its_history() -> None:
    made = plan(loop("l", ["x", "y"]), task("x"), task("y"))
    tree = tree_of(made)
    instance(tree, made, "l/inst_00", x="completed")
    instance(tree, made, "l/inst_01", x="completed")
    with pytest.raises(InvariantViolation):
        apply(made, tree, remove("x", instance_id="inst_01"), kind="forward")
    after = apply(made, tree, remove("x", instance_id="inst_01")).tree
    assert (at(after, "l/inst_00/x").status, at(after, "l/inst_00/x").history) == ("completed", [])
    assert at(after, "l/inst_01/x").skip_cause == "removed"
    assert at(after, "l/inst_01/x").history[0]["status"] == "completed"


def test_an_instance_that_kept_a_finished_copy_can_be_replayed_and_ends_without_it() -> None:
    made = plan(loop("l", ["x", "y"]), task("x"), task("y"))
    tree = tree_of(made)
    instance(tree, made, "l/inst_00", x="completed", y="running")
    instance(tree, made, "l/inst_01")
    first = apply(made, tree, remove("x", instance_id="inst_01"), kind="forward")
    report(at(first.tree, "l/inst_00/y"), "completed")
    derive_all(first.tree, first.plan, THEN)
    assert (first.tree.states["l"].instances or {})["inst_00"].status == "completed"
    after = apply(first.plan, first.tree, replay("l", instance_id="inst_00")).tree
    assert at(after, "l/inst_00/y").status == "pending"
    assert at(after, "l/inst_00/x").skip_cause == "removed"
    kept = (after.states["l"].instances or {})["inst_00"].history[0]["step_states"]["x"]
    assert (kept["status"], kept["summary"]) == ("completed", "x is completed")


def test_a_finished_instance_that_tolerated_a_failure_stays_as_it_is_when_its_steps_leave_the_plan() -> None:
    made = plan(
        parallel("p", ["x", "y", "z"], on_instance_failure="continue"),
        task("x"),
        task("y", depends_on=["x"]),
        task("z"),
    )
    tree = tree_of(made)
    instance(tree, made, "p/inst_00", x="failed", z="completed")
    instance(tree, made, "p/inst_01")
    assert at(tree, "p/inst_00/y").skip_cause == "dependency"
    scope = {"instance_id": "inst_01"}
    after = apply(made, tree, remove("y", **scope), remove("x", **scope), kind="forward").tree
    kept = (after.states["p"].instances or {})["inst_00"]
    assert (kept.status, kept.body, kept.failures) == ("completed", ("x", "y", "z"), 1)
    assert at(after, "p/inst_00/x").status == "failed"
    assert at(after, "p/inst_00/y").skip_cause == "dependency"


def test_a_finished_copy_of_a_construct_that_left_the_plan_still_tolerates_its_failures() -> None:
    made = plan(
        loop("l", ["p", "z"]),
        parallel("p", ["x"], on_instance_failure="continue"),
        task("x"),
        task("z", depends_on=["p"]),
    )
    tree = tree_of(made)
    instance(tree, made, "l/inst_00", z="completed")
    at(tree, "l/inst_00/p").instances_closed = True
    instance(tree, made, "l/inst_00/p/one", x="failed")
    instance(tree, made, "l/inst_01")
    instance(tree, made, "l/inst_01/p/two")
    assert at(tree, "l/inst_00/p").status == "completed"
    after = apply(
        made,
        tree,
        update(task("z"), instance_id="inst_01"),
        remove("x", instance_path=("l", "inst_01", "p", "two")),
        remove("p", instance_id="inst_01"),
        kind="forward",
    ).tree
    assert (at(after, "l/inst_00/p").status, at(after, "l/inst_00/p").failures) == ("completed", 1)
    assert (after.states["l"].instances or {})["inst_00"].status == "completed"
    assert at(after, "l/inst_01/p").skip_cause == "removed"
    assert after.status == "running"


def test_removing_a_construct_puts_its_unfinished_work_aside() -> None:
    made = plan(task("a"), loop("l", ["x"]), task("x"))
    tree = tree_of(made)
    instance(tree, made, "l/inst_00", x="blocked")
    after = apply(made, tree, remove("l"), remove("x"), kind="forward").tree
    assert after.states["l"].skip_cause == "removed"
    assert at(after, "l/inst_00/x").skip_cause == "removed"
    assert after.blocked_on_person == 0
    assert after.status == "running"


# -- What can't be restructured ------------------------------------------------------------------------


@pytest.mark.parametrize("status", ["running", "completed", "blocked"])
def test_the_type_of_a_step_that_ran_cannot_be_changed(status: str) -> None:
    with pytest.raises(InvariantViolation, match="type cannot be changed"):
        apply(CHAIN, tree_of(CHAIN, a=status), update(checkpoint("a")))


def test_the_type_of_a_step_with_a_preserved_result_cannot_be_changed() -> None:
    tree = tree_of(CHAIN, a="completed")
    with pytest.raises(InvariantViolation, match="preserved result"):
        apply(CHAIN, tree, replay("a"), update(checkpoint("a")))


def test_the_type_of_a_step_that_never_ran_can_be_changed() -> None:
    after = apply(CHAIN, tree_of(CHAIN), update(checkpoint("c", depends_on=["b"])), kind="forward").tree
    assert after.states["c"].type == "checkpoint"


def test_a_task_that_becomes_a_loop_takes_instances() -> None:
    made = plan(task("a"), task("b"))
    after = apply(made, tree_of(made), update(loop("a", ["b"])), kind="forward")
    assert after.tree.states["a"].instances == {}
    assert list(after.tree.states) == ["a"]  # b stands in its body now


@pytest.mark.parametrize("status", ["running", "completed", "failed", "blocked"])
def test_a_step_that_ran_cannot_be_moved_into_a_body(status: str) -> None:
    made = plan(loop("l", ["x"]), task("x"), task("b"))
    with pytest.raises(InvariantViolation, match="moved between the top level") as refused:
        apply(made, tree_of(made, b=status), update(loop("l", ["x", "b"])))
    assert refused.value.details["operation"] == 0


@pytest.mark.parametrize("gone", [(remove("l"),), (update(loop("l", ["x"])), update(task("y")))])
def test_a_body_step_that_ran_cannot_become_top_level(gone: tuple[Operation, ...]) -> None:
    tree = tree_of(LOOP)
    instance(tree, LOOP, "l/inst_00", x="completed", y="running")
    with pytest.raises(InvariantViolation, match="moved between the top level"):
        apply(LOOP, tree, *gone)


def test_body_steps_that_never_ran_become_top_level_when_their_construct_goes() -> None:
    after = apply(LOOP, tree_of(LOOP), remove("l"), kind="forward")
    assert {name: state.status for name, state in after.tree.states.items()} == {
        "l": "skipped",
        "x": "pending",
        "y": "pending",
    }


# -- Bodies --------------------------------------------------------------------------------------------


def test_unfinished_instances_take_the_current_body_and_finished_ones_keep_theirs() -> None:
    tree = tree_of(LOOP)
    instance(tree, LOOP, "l/inst_00", x="completed", y="completed")
    instance(tree, LOOP, "l/inst_01", x="completed")
    after = apply(LOOP, tree, insert_after("x", task("n")), kind="forward").tree
    instances = after.states["l"].instances or {}
    assert instances["inst_00"].body == ("x", "y")
    assert "n" not in instances["inst_00"].states
    assert instances["inst_01"].body == ("x", "n", "y")
    assert list(instances["inst_01"].states) == ["x", "n", "y"]
    assert instances["inst_01"].states["n"].status == "pending"


def test_an_instance_that_a_replay_reopens_takes_the_current_body() -> None:
    tree = tree_of(LOOP)
    instance(tree, LOOP, "l/inst_00", x="completed", y="completed")
    grown = apply(LOOP, tree, insert_after("x", task("n")), kind="forward")
    reopened = apply(grown.plan, grown.tree, replay("y")).tree
    one = (reopened.states["l"].instances or {})["inst_00"]
    assert one.body == ("x", "n", "y")
    assert {name: state.status for name, state in one.states.items()} == {
        "x": "completed",
        "n": "pending",
        "y": "pending",
    }


def test_a_step_that_is_put_back_into_a_body_is_pending_again() -> None:
    made = plan(loop("l", ["x", "y"]), task("x"), task("y"))
    tree = tree_of(made)
    instance(tree, made, "l/inst_00", x="running")
    out = apply(made, tree, update(loop("l", ["x"])), kind="forward")
    assert at(out.tree, "l/inst_00/y").skip_cause == "removed"
    assert out.tree.states["y"].status == "pending"
    back = apply(out.plan, out.tree, update(loop("l", ["x", "y"])), kind="forward").tree
    assert at(back, "l/inst_00/y").status == "pending"
    assert "y" not in back.states


def test_a_step_behind_a_failed_one_is_skipped_as_soon_as_it_is_inserted() -> None:
    tree = tree_of(CHAIN, a="failed")
    after = apply(CHAIN, tree, insert_after("a", task("n", depends_on=["a"])), kind="forward").tree
    assert after.states["n"].skip_cause == "dependency"


def test_an_acknowledged_failure_stays_acknowledged_while_nothing_else_fails() -> None:
    tree = tree_of(CHAIN, a="failed")
    tree.acknowledged = {"by": "rita"}
    assert apply(CHAIN, tree, insert_after("a", task("n")), kind="forward").tree.acknowledged == {
        "by": "rita"
    }
    assert apply(CHAIN, tree, replay("a")).tree.acknowledged is None


def test_a_paused_run_is_derived_as_if_the_amendment_were_decided() -> None:
    tree = tree_of(CHAIN, a="completed")
    tree.paused = True
    derive_all(tree, CHAIN, THEN)
    assert tree.status == "paused_for_approval"
    assert apply(CHAIN, tree, insert_after("a", task("n")), kind="forward").tree.status == "running"
