"""What no policy may approve, whatever its rules say (contract 5)."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from amendments.domain.operations import Operation
from amendments.domain.patch import Draft
from amendments.domain.policy import why_a_person_decides
from workflows.domain.plan import Field, Plan, Step


def task(step_id: str, *needs: str, **keys: object) -> Step:
    return Step(id=step_id, type="task", goal=f"Do {step_id}", depends_on=needs, **keys)  # type: ignore[arg-type]


def checkpoint(step_id: str, *needs: str) -> Step:
    return Step(id=step_id, type="checkpoint", goal=f"Look at {step_id}", harness="human", depends_on=needs)


def loop(step_id: str, body: tuple[str, ...], *needs: str, on_failure: str = "fail_fast") -> Step:
    return Step(
        id=step_id,
        type="loop",
        goal=f"Repeat {step_id}",
        depends_on=needs,
        body=body,
        on_instance_failure=on_failure,
    )


def insert(step: Step, target: str) -> Operation:
    return Operation("insert_after", target, step=step)


def update(step: Step) -> Operation:
    return Operation("update_step", step.id, step=step)


def remove(step_id: str) -> Operation:
    return Operation("remove_step", step_id)


def why(
    before: Plan, *operations: Operation, kind: str = "forward", blocked: tuple[str, ...] = ()
) -> str | None:
    draft = Draft(before)
    for index, operation in enumerate(operations):
        draft.apply(index, operation)
    return why_a_person_decides(
        kind=kind, before=before, after=draft.plan(), operations=operations, blocked=blocked
    )


# a → k → b → c, and d beside them
LINE = Plan((task("a"), checkpoint("k", "a"), task("b", "k"), task("c", "b"), task("d")))
# A loop whose body is x → k → y; after waits for the loop.
LOOP = Plan(
    (
        loop("l", ("x", "k", "y")),
        task("x"),
        checkpoint("k", "x"),
        task("y", "k"),
        task("after", "l"),
        task("d"),
    )
)
# k, then a loop that waits for it
BEHIND = Plan((checkpoint("k"), loop("l", ("x", "y"), "k"), task("x"), task("y", "x"), task("d")))
# A loop in a loop, the inner one with a checkpoint
NESTED = Plan(
    (loop("outer", ("inner", "z")), loop("inner", ("k", "y")), checkpoint("k"), task("y", "k"), task("z"))
)


@pytest.mark.parametrize(
    "operations",
    [
        (insert(task("n"), "d"),),
        (insert(task("n", "b"), "b"),),
        (insert(checkpoint("k2", "d"), "d"),),
        (insert(task("n", "a"), "a"), update(task("b", "k", "n"))),
        (update(replace(task("a"), goal="Do it well")),),
        (update(replace(task("c", "b"), goal="Otherwise")),),
        (remove("d"),),
        (remove("c"),),
        (update(task("d", "k")),),
    ],
)
def test_a_forward_change_that_leaves_checkpoints_alone_may_be_approved_by_a_policy(
    operations: tuple[Operation, ...],
) -> None:
    assert why(LINE, *operations) is None


def test_a_history_edit_is_a_human_decision_also_when_it_is_only_declared() -> None:
    assert "human decision" in (why(LINE, insert(task("n"), "d"), kind="history_edit") or "")
    assert "human decision" in (why(LINE, Operation("replay_step", "d")) or "")


def test_removing_a_checkpoint_waits_for_a_person() -> None:
    rewired = (update(task("b", "a")), remove("k"))
    assert why(LINE, *rewired) == "it removes checkpoint 'k'"
    alone = Plan((task("a"), checkpoint("k")))
    assert why(alone, remove("k")) == "it removes checkpoint 'k'"


@pytest.mark.parametrize(
    "changed",
    [
        replace(checkpoint("k", "a"), goal="Glance at it"),
        replace(checkpoint("k", "a"), fields=(Field("why"),)),
        replace(checkpoint("k", "a"), group="g"),
        replace(checkpoint("k"), depends_on=()),
        checkpoint("k", "a"),  # not even an update that changes nothing
        task("k", "a"),
        loop("k", ("d",), "a"),
    ],
)
def test_changing_a_checkpoint_waits_for_a_person(changed: Step) -> None:
    assert why(LINE, update(changed)) == "it changes checkpoint 'k'"


def test_a_change_of_a_checkpoint_that_is_taken_back_in_the_same_set_waits_for_a_person() -> None:
    there_and_back = (update(task("k", "a")), update(checkpoint("k", "a")))
    assert why(LINE, *there_and_back) == "it changes checkpoint 'k'"


def test_turning_a_step_into_a_checkpoint_waits_for_a_person() -> None:
    assert why(LINE, update(checkpoint("d"))) == "it changes 'd' into a checkpoint"


def test_taking_a_checkpoint_out_of_a_depends_on_waits_for_a_person() -> None:
    for needs in ((), ("a",), ("d",)):
        assert why(LINE, update(task("b", *needs))) == "it takes checkpoint 'k' out of the depends_on of 'b'"


def test_a_stand_in_between_does_not_make_up_for_a_dropped_dependency() -> None:
    said = why(LINE, insert(task("n", "k"), "k"), update(task("b", "n")))
    assert said == "it takes checkpoint 'k' out of the depends_on of 'b'"


def test_removing_a_step_that_waits_for_a_checkpoint_takes_it_out_of_a_depends_on() -> None:
    said = why(LINE, update(task("c", "k")), remove("b"))
    assert said == "it removes 'b', which waits for checkpoint 'k'"


def test_a_step_that_no_longer_waits_through_others_waits_for_a_person() -> None:
    assert why(LINE, update(task("c"))) == "'c' would no longer wait for checkpoint 'k'"
    assert why(LINE, update(task("c", "a"))) == "'c' would no longer wait for checkpoint 'k'"
    long = Plan((checkpoint("k"), task("a", "k"), task("b", "a"), task("c", "b")))
    said = why(long, update(task("c", "a")), remove("b"))
    assert said is None  # c still waits for k, through a
    assert why(long, update(task("c")), remove("b")) == "'c' would no longer wait for checkpoint 'k'"


def test_a_step_that_waits_for_a_construct_waits_for_the_checkpoints_in_it() -> None:
    assert why(LOOP, update(task("after"))) == "'after' would no longer wait for checkpoint 'k'"
    assert why(LOOP, update(task("after", "l", "d"))) is None


def test_a_body_step_waits_for_what_its_construct_waits_for() -> None:
    said = why(BEHIND, update(loop("l", ("x",), "k")), update(task("y")))
    assert said == "'y' would no longer wait for checkpoint 'k'"
    said = why(BEHIND, update(task("y")), remove("l"))
    assert said == "it removes 'l', which waits for checkpoint 'k'"
    assert why(BEHIND, update(task("y"))) is None  # within the loop, which still waits


def test_moving_a_checkpoint_to_another_scope_waits_for_a_person() -> None:
    said = why(LOOP, update(loop("l", ("x", "y"))), update(task("y")), update(checkpoint("k")))
    assert said == "it changes checkpoint 'k'"
    nested_checkpoint_out = why(NESTED, update(task("y")), update(loop("inner", ("y",))))
    assert nested_checkpoint_out == "it moves checkpoint 'k' to another scope"
    assert why(NESTED, remove("inner")) == "it moves checkpoint 'k' to another scope"
    assert why(NESTED, update(loop("outer", ("z",)))) == "it moves checkpoint 'k' to another scope"
    beside = Plan((*NESTED.steps, task("d")))
    wrapped = why(beside, insert(loop("wrap", ("outer",)), "d"))
    assert wrapped == "it moves checkpoint 'k' to another scope"


@pytest.mark.parametrize(
    "changed",
    [
        loop("inner", ("k", "y"), on_failure="continue"),
        replace(loop("inner", ("k", "y")), type="parallel"),
        replace(loop("inner", ("k", "y")), exit_when="after one look"),
        replace(loop("inner", ("k", "y")), goal="Otherwise"),
    ],
)
def test_changing_how_a_construct_around_a_checkpoint_works_waits_for_a_person(changed: Step) -> None:
    assert why(NESTED, update(changed)) == "it changes 'inner', which contains checkpoint 'k'"


def test_a_rejection_must_keep_failing_the_outer_constructs_too() -> None:
    said = why(NESTED, update(loop("outer", ("inner", "z"), on_failure="continue")))
    assert said == "it changes 'outer', which contains checkpoint 'k'"


def test_a_construct_around_a_checkpoint_may_gain_and_lose_other_members_and_dependencies() -> None:
    assert why(NESTED, insert(task("n", "k"), "y")) is None
    assert why(NESTED, update(loop("outer", ("inner",)))) is None
    assert why(LOOP, update(loop("l", ("x", "k", "y"), "d"))) is None


def test_removing_a_blocked_step_waits_for_a_person() -> None:
    assert why(LINE, remove("d"), blocked=("d",)) == "it removes 'd', which is blocked on a person"
    assert why(LINE, remove("d"), blocked=("a",)) is None


def test_taking_a_blocked_step_out_of_its_construct_waits_for_a_person() -> None:
    plan = Plan((loop("l", ("x", "y")), task("x"), task("y"), task("d")))
    said = "it moves 'x', which is blocked on a person, to another scope"
    assert why(plan, update(loop("l", ("y",))), blocked=("x",)) == said
    assert why(plan, remove("l"), blocked=("x",)) == said
    assert why(plan, update(loop("l", ("x",))), blocked=("x",)) is None


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    """Up to ten steps named ``s0`` …: some are constructs around earlier ones, each may wait for its neighbours."""
    steps: list[Step] = []
    free: list[str] = []  # in no body yet
    for number in range(draw(st.integers(1, 10))):
        step_id = f"s{number}"
        body = tuple(draw(st.lists(st.sampled_from(free), unique=True, max_size=3))) if free else ()
        if body and draw(st.booleans()):
            free = [one for one in free if one not in body]
            steps.append(loop(step_id, body))
        else:
            steps.append(draw(st.sampled_from((task, task, checkpoint)))(step_id))
        free.append(step_id)
    bare = Plan(tuple(steps))
    wired = []
    for step in bare.steps:
        scope = bare.scope(bare.container.get(step.id))
        earlier = [one for one in scope if int(one[1:]) < int(step.id[1:])]
        needs = draw(st.lists(st.sampled_from(earlier), unique=True, max_size=2)) if earlier else []
        wired.append(replace(step, depends_on=tuple(needs)))
    return Plan(tuple(wired))


def could_start(plan: Plan, closed: str) -> set[str]:
    """The steps that could start while ``closed`` is never finished, found by playing the plan."""
    started: set[str] = set()
    done: set[str] = set()
    while True:
        start = {
            step.id
            for step in plan.steps
            if set(step.depends_on) <= done and plan.container.get(step.id, step.id) in started | {step.id}
        }
        end = {one for one in start if one != closed and set(plan.by_id[one].body or ()) <= done}
        if (start, end) == (started, done):
            return started
        started, done = start, end


@settings(max_examples=300)
@given(before=plans(), data=st.data())
def test_no_step_gets_past_a_checkpoint_that_it_waited_for(before: Plan, data: st.DataObject) -> None:
    after = before
    for _ in range(data.draw(st.integers(1, 2))):
        waiting = [step for step in after.steps if step.depends_on]
        if not waiting:
            return
        changed = data.draw(st.sampled_from(waiting))
        needs = data.draw(st.lists(st.sampled_from(changed.depends_on), unique=True, max_size=1))
        loosened = replace(changed, depends_on=tuple(needs))
        after = Plan(tuple(loosened if step is changed else step for step in after.steps))
    if why_a_person_decides(kind="forward", before=before, after=after, operations=(), blocked=()) is None:
        for step in before.steps:
            if step.type == "checkpoint":
                assert could_start(after, step.id) <= could_start(before, step.id)


def test_five_thousand_steps_are_judged_in_a_moment() -> None:
    steps = [checkpoint("s0")]
    for number in range(1, 5_000):
        make = checkpoint if number % 10 == 0 else task
        steps.append(make(f"s{number}", f"s{number - 1}"))
    before = Plan(tuple(steps))
    after = Plan((*steps, task("n")))
    operations = [insert(task("n"), "s7")]
    assert (
        why_a_person_decides(kind="forward", before=before, after=after, operations=operations, blocked=())
        is None
    )
