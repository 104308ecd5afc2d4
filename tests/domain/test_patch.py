"""A plan under operations (contract 4): what each does, what it refuses, and what always holds."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amendments.domain.operations import Operation
from amendments.domain.patch import moved, patch, patch_head, released
from chief_project.shared.errors import ChiefError, Conflict, NotFound, ValidationFailed
from tests.plans import checkpoint, loop, task
from workflows.documents import StepDocument
from workflows.domain.plan import Group, Plan, Step
from workflows.domain.rules import problems


def step(document: dict[str, Any]) -> Step:
    return StepDocument.model_validate(document).value()


def plan(*documents: dict[str, Any], groups: tuple[Group, ...] = ()) -> Plan:
    return Plan(tuple(step(document) for document in documents), groups)


def insert_after(target: str, document: dict[str, Any]) -> Operation:
    return Operation("insert_after", target, step=step(document))


def insert_before(target: str, document: dict[str, Any]) -> Operation:
    return Operation("insert_before", target, step=step(document))


def update(target: str, document: dict[str, Any]) -> Operation:
    return Operation("update_step", target, step=step(document))


def remove(target: str) -> Operation:
    return Operation("remove_step", target)


def replay(target: str) -> Operation:
    return Operation("replay_step", target)


def ids(made: Plan) -> list[str]:
    return [each.id for each in made.steps]


CHAIN = plan(task("a"), task("b", depends_on=["a"]), task("c", depends_on=["b"]))
LOOPED = plan(task("a"), loop("l", ["x", "y"], depends_on=["a"]), task("x"), task("y", depends_on=["x"]))


def test_insert_after_places_the_step_behind_its_target_and_rewires_nothing() -> None:
    made = patch(CHAIN, [insert_after("a", task("n"))])
    assert ids(made) == ["a", "n", "b", "c"]
    assert made.by_id["b"].depends_on == ("a",)
    assert made.by_id["n"].depends_on == ()


def test_insert_before_places_the_step_in_front_of_its_target() -> None:
    assert ids(patch(CHAIN, [insert_before("a", task("n"))])) == ["n", "a", "b", "c"]


def test_an_insert_beside_a_body_step_joins_the_body_at_the_same_place() -> None:
    made = patch(LOOPED, [insert_before("y", task("n")), insert_after("y", task("m"))])
    assert made.by_id["l"].body == ("x", "n", "y", "m")
    assert ids(made) == ["a", "l", "x", "n", "y", "m"]
    assert "n" not in made.top_level


def test_a_step_that_the_body_lists_already_is_not_listed_twice() -> None:
    operations = [update("l", loop("l", ["x", "y", "n"], depends_on=["a"])), insert_after("x", task("n"))]
    assert patch(LOOPED, operations).by_id["l"].body == ("x", "y", "n")


def test_an_id_in_the_plan_is_already_in_use() -> None:
    with pytest.raises(Conflict, match="already in use") as refused:
        patch(CHAIN, [insert_after("a", task("n")), insert_after("a", task("c"))])
    assert refused.value.details == {"operation": 1, "pointer": "/operations/1/step/id"}


def test_an_id_that_was_removed_is_never_reused() -> None:
    with pytest.raises(Conflict, match="never reused"):
        patch(CHAIN, [insert_after("a", task("gone"))], never={"gone"})


def test_an_id_removed_by_the_same_set_is_never_reused() -> None:
    with pytest.raises(Conflict, match="never reused"):
        patch(CHAIN, [remove("c"), insert_after("a", task("c"))])


def test_an_update_replaces_the_whole_step() -> None:
    made = patch(CHAIN, [update("b", task("b", goal="Do it better", criteria=["tested"]))])
    assert made.by_id["b"].goal == "Do it better"
    assert made.by_id["b"].depends_on == ()
    assert [criterion.id for criterion in made.by_id["b"].criteria] == ["c1"]


def test_an_update_keeps_the_id_because_ids_are_permanent() -> None:
    with pytest.raises(ValidationFailed, match="permanent") as refused:
        patch(CHAIN, [update("b", task("other"))])
    assert refused.value.details["operation"] == 0


def test_a_removal_leaves_the_body_too() -> None:
    made = patch(LOOPED, [remove("y")])
    assert made.by_id["l"].body == ("x",)
    assert ids(made) == ["a", "l", "x"]


def test_removal_and_rewiring_pass_as_one_set_in_either_order() -> None:
    rewired = update("c", task("c", depends_on=["a"]))
    for operations in ([remove("b"), rewired], [rewired, remove("b")]):
        assert ids(patch(CHAIN, operations)) == ["a", "c"]


def test_a_removal_that_leaves_an_edge_dangling_is_refused_and_says_which() -> None:
    with pytest.raises(ValidationFailed, match="unknown step 'b'") as refused:
        patch(CHAIN, [remove("b")])
    assert refused.value.details["errors"]


def test_removing_the_last_step_is_refused() -> None:
    with pytest.raises(ValidationFailed, match="at least one step"):
        patch(plan(task("a")), [remove("a")])


def test_removing_the_last_step_of_a_body_is_refused() -> None:
    with pytest.raises(ValidationFailed, match="non-empty body"):
        patch(plan(loop("l", ["x"]), task("x")), [remove("x")])


def test_an_unknown_target_is_named() -> None:
    with pytest.raises(NotFound, match="unknown step 'nobody'") as refused:
        patch(CHAIN, [remove("nobody")])
    assert refused.value.details == {"operation": 0, "pointer": "/operations/0/target_step_id"}


def test_a_target_that_the_same_set_removed_is_unknown() -> None:
    with pytest.raises(NotFound, match="removes it"):
        patch(CHAIN, [remove("c"), update("c", task("c"))])


def test_a_step_inserted_before_can_be_a_target() -> None:
    operations = [
        insert_after("a", task("n")),
        update("n", task("n", goal="Later")),
        insert_after("n", task("m")),
    ]
    made = patch(CHAIN, operations)
    assert ids(made) == ["a", "n", "m", "b", "c"]
    assert made.by_id["n"].goal == "Later"


def test_body_steps_of_a_removed_construct_become_top_level() -> None:
    made = patch(LOOPED, [remove("l")])
    assert made.top_level == ("a", "x", "y")
    assert released(LOOPED, made) == [("x", "l"), ("y", "l")]
    assert moved(LOOPED, made) == ["x", "y"]


def test_a_step_that_its_construct_lists_no_more_becomes_top_level() -> None:
    made = patch(LOOPED, [update("l", loop("l", ["x"])), update("y", task("y"))])
    assert released(LOOPED, made) == [("y", "l")]


def test_a_dependency_that_crosses_scopes_afterwards_is_refused() -> None:
    with pytest.raises(ValidationFailed, match="same scope"):
        patch(LOOPED, [update("l", loop("l", ["x"]))])  # y stands at top level now, and waits for x


def test_replays_alone_give_the_very_same_plan() -> None:
    assert patch(CHAIN, [replay("a"), replay("b")]) is CHAIN


def test_an_update_that_says_the_same_gives_the_very_same_plan() -> None:
    assert patch(CHAIN, [update("a", task("a"))]) is CHAIN


def test_a_group_that_is_emptied_loses_its_description_and_the_others_keep_theirs() -> None:
    before = plan(
        task("a", group="lab/first"),
        task("b", group="desk"),
        groups=(Group("lab", "Wet"), Group("desk", "Dry")),
    )
    assert patch(before, [remove("a")]).groups == (Group("desk", "Dry"),)


def test_the_head_says_why_a_set_does_not_apply_to_it() -> None:
    head = plan(task("a"))
    made, why = patch_head(head, [update("c", task("c"))])
    assert made is None
    assert why is not None
    assert "unknown step 'c'" in why


def test_a_replay_fits_a_head_that_lost_the_step() -> None:
    head = plan(task("a"))
    assert patch_head(head, [replay("c")]) == (head, None)


NAMES = [f"s{number}" for number in range(8)]


@st.composite
def operations(draw: st.DrawFn) -> list[Operation]:
    """Sets that are often legal: small names, so that targets exist and ids collide now and then."""
    made = []
    for _ in range(draw(st.integers(1, 6))):
        op = draw(
            st.sampled_from(["insert_after", "insert_before", "update_step", "remove_step", "replay_step"])
        )
        target = draw(st.sampled_from(NAMES))
        if op in {"remove_step", "replay_step"}:
            made.append(Operation(op, target))
            continue
        own = target if op == "update_step" else draw(st.sampled_from(NAMES))
        needs = draw(st.lists(st.sampled_from(NAMES), max_size=2, unique=True))
        kind = draw(st.sampled_from(["task", "task", "checkpoint", "loop"]))
        document = {
            "task": task(own, depends_on=needs),
            "checkpoint": checkpoint(own, depends_on=needs),
            "loop": loop(own, draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=2, unique=True))),
        }[kind]
        made.append(Operation(op, target, step=step(document)))
    return made


BASE = plan(
    task("s0", group="g"),
    task("s1", depends_on=["s0"]),
    loop("s2", ["s3", "s4"], depends_on=["s1"]),
    task("s3"),
    task("s4", depends_on=["s3"]),
    groups=(Group("g", "First"),),
)


@given(operations())
def test_whatever_comes_out_keeps_every_rule_and_no_untouched_step_changes(made: list[Operation]) -> None:
    try:
        after = patch(BASE, made)
    except ChiefError as problem:
        assert problem.status in {404, 409, 422}  # noqa: PT017 - which one is for the tests above
        return
    assert problems(after) == []
    touched = {operation.target for operation in made if operation.op != "replay_step"}
    inserted = {
        operation.step.id for operation in made if operation.op.startswith("insert") and operation.step
    }
    removed = {operation.target for operation in made if operation.op == "remove_step"}
    assert set(ids(after)) == (set(ids(BASE)) | inserted) - removed
    for before in BASE.steps:
        if before.id not in touched and not before.is_construct:
            assert after.by_id[before.id] == before
    kept = [each for each in ids(after) if each in BASE.by_id]
    assert kept == [each for each in ids(BASE) if each not in removed]


@given(operations())
def test_a_set_that_applies_cannot_insert_its_ids_again(made: list[Operation]) -> None:
    try:
        after = patch(BASE, made)
    except ChiefError:
        return
    anywhere = after.steps[0].id
    for operation in made:
        if operation.op.startswith("insert") and operation.step:
            never = {other.target for other in made if other.op == "remove_step"}
            with pytest.raises(Conflict):
                patch(after, [insert_after(anywhere, task(operation.step.id))], never=never)
