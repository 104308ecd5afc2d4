"""What an amendment's operations come to, as facts for sentences."""

from dataclasses import replace
from datetime import UTC, datetime

from amendments.domain.operations import Operation
from amendments.domain.words import Standing, Told, describe_operations, together
from workflows.domain.plan import Criterion, Plan, Step

A = Step("a", "task", "Do a")
L = Step("l", "loop", "Repeat", depends_on=("a",), body=("x", "y"), on_instance_failure="fail_fast")
X = Step("x", "task", "Do x")
Y = Step("y", "task", "Do y", depends_on=("x",))
C = Step("c", "checkpoint", "Look", harness="human", depends_on=("l",))
PLAN = Plan((A, L, X, Y, C))
DONE = Standing({"completed": 2, "failed": 1, "pending": 4}, datetime(2026, 11, 27, 18, 2, tzinfo=UTC))


def told(*operations: Operation, **states: Standing) -> list[Told]:
    return describe_operations(operations, PLAN, states)


def test_an_insert_says_beside_what_and_in_which_body_it_stands() -> None:
    new = Step("n", "task", "Check", depends_on=("x",))
    (found,) = told(Operation("insert_before", "y", step=new))
    assert (found.code, found.step.id, found.side, found.beside, found.within) == (
        "inserts",
        "n",
        "before",
        "y",
        "l",
    )
    assert (found.was, found.now, found.standing) == (None, new, None)


def test_an_update_says_what_about_the_step_changes() -> None:
    same, words, wires, more = (
        Operation("update_step", "y", step=step)
        for step in (
            Y,
            replace(Y, goal="Do why"),
            replace(Y, depends_on=()),
            replace(Y, goal="Do why", criteria=(Criterion("c1", "It holds"),)),
        )
    )
    assert [told(each)[0].code for each in (same, words, wires, more)] == [
        "leaves",
        "rewords",
        "rewires",
        "changes",
    ]
    assert told(words)[0].was == Y
    assert told(wires)[0].needs_removed == ("x",)
    assert told(more)[0].changed == ("goal", "criteria")


def test_a_finished_target_keeps_its_result_and_one_that_waits_has_none() -> None:
    remove = Operation("remove_step", "a")
    assert told(remove, a=DONE)[0].keeps
    assert told(remove, a=DONE)[0].standing == DONE
    assert not told(remove, a=Standing({"pending": 1}))[0].keeps
    assert not told(remove)[0].keeps


def test_the_liveliest_copy_says_how_a_step_stands() -> None:
    assert DONE.word == "finished"
    assert DONE.finished == 3
    assert Standing({"running": 1, "blocked": 1}).word == "blocked"
    assert Standing({"running": 1, "pending": 9}).word == "running"
    assert Standing({"pending": 1}).word == Standing({}).word == "waiting"


def test_a_replay_of_an_instance_is_told_from_one_of_a_step_inside_it() -> None:
    inside = Operation("replay_step", "x", instance_id="inst_00")
    whole = Operation("replay_step", "l", instance_path=("l", "inst_00"))
    everywhere = Operation("replay_step", "x")
    found = told(inside, whole, everywhere)
    assert [each.code for each in found] == ["reruns", "reruns_instance", "reruns"]
    assert [each.path for each in found] == ["l/inst_00", "l/inst_00", None]
    assert all(each.keeps for each in found)


def test_a_step_that_is_changed_and_replayed_is_told_once() -> None:
    change = Operation("update_step", "a", step=replace(A, goal="Do it better"))
    again = Operation("replay_step", "a")
    other = Operation("replay_step", "x")
    for order in ([change, again, other], [again, change, other]):
        first, second = together(told(*order, a=DONE))
        assert (first.code, first.again, first.keeps, first.op) == ("rewords", True, True, "update_step")
        assert (second.code, second.again) == ("reruns", False)


def test_operations_build_on_those_before_them() -> None:
    new = Step("n", "task", "Check")
    found = told(
        Operation("insert_after", "a", step=new),
        Operation("update_step", "n", step=replace(new, goal="Check twice")),
        Operation("remove_step", "n"),
    )
    assert [each.code for each in found] == ["inserts", "rewords", "removes"]
    assert found[2].step.goal == "Check twice"
    assert found[2].now is None
