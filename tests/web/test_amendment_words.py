"""What an amendment's operations do, in sentences that a person can decide on."""

import html
import re
from dataclasses import replace

from amendments.domain.operations import Operation
from amendments.domain.words import Standing, describe_operations, together
from chief_project.web.amendment_words import sentence
from workflows.domain.plan import Criterion, Plan, Step

A = Step("a", "task", "Do a")
L = Step("l", "loop", "Repeat", depends_on=("a",), body=("x", "y"), on_instance_failure="fail_fast")
X = Step("x", "task", "Do x")
Y = Step("y", "task", "Do y", depends_on=("x",))
C = Step("c", "checkpoint", "Look", harness="human", depends_on=("l",))
PLAN = Plan((A, L, X, Y, C))
DONE = Standing({"completed": 1})
WAITS = Standing({"pending": 1})


def said(*operations: Operation, **states: Standing) -> list[str]:
    told = together(describe_operations(operations, PLAN, states))
    return [html.unescape(re.sub(r"<[^>]+>", "", sentence(each).html)) for each in told]


def update(step: Step) -> Operation:
    return Operation("update_step", step.id, step=step)


def test_inserts() -> None:
    new = Step("n", "task", "Check")
    assert said(Operation("insert_after", "a", step=new)) == ["Adds n after a: Check"]
    assert said(Operation("insert_before", "y", step=new)) == ["Adds n before y, inside l: Check"]
    asks = Step("n", "checkpoint", "Look", harness="human")
    assert said(Operation("insert_before", "a", step=asks)) == ["Adds the checkpoint n before a: Look"]


def test_removals_say_what_is_lost_and_what_is_kept() -> None:
    gone = Operation("remove_step", "a")
    assert said(gone) == ["Removes a."]
    assert said(gone, a=WAITS) == ["Removes a, which has not started."]
    assert said(gone, a=DONE) == ["Removes a, which is finished; its result is kept."]
    assert said(gone, a=Standing({"running": 1})) == [
        "Removes a, which is running; what it reported is kept."
    ]
    assert said(gone, a=Standing({"blocked": 1})) == ["Removes a, which waits for a person."]
    assert said(gone, a=Standing({"completed": 3, "failed": 1})) == [
        "Removes a; it is finished in 4 places, and those results are kept."
    ]
    assert said(Operation("remove_step", "c"), c=WAITS) == [
        "Removes the checkpoint c, which has not started. Nobody is asked there any more."
    ]
    assert said(Operation("remove_step", "x", instance_id="inst_00")) == [
        "Removes x; what it did in l/inst_00 is kept."
    ]


def test_changes() -> None:
    assert said(update(A)) == ["Leaves a as it is."]
    assert said(update(replace(A, goal="More")), a=WAITS) == ["Changes the goal of a."]
    assert said(update(replace(A, goal="More")), a=DONE) == [
        "Changes the goal of a. It is finished; its result is kept."
    ]
    assert said(update(replace(Y, depends_on=()))) == ["y no longer waits for x."]
    assert said(update(replace(C, depends_on=("l", "a")))) == ["c waits for a, too."]
    assert said(update(replace(C, depends_on=("a",)))) == ["c waits for a instead of l."]


def test_replays_always_keep_the_old_result() -> None:
    assert said(Operation("replay_step", "a"), a=DONE) == ["Runs a again and keeps its old result."]
    assert said(Operation("replay_step", "x"), x=Standing({"completed": 3})) == [
        "Runs x again in 3 places and keeps the old results."
    ]
    assert said(Operation("replay_step", "x", instance_id="inst_00"), x=DONE) == [
        "Runs x again in l/inst_00 and keeps its old result."
    ]
    assert said(Operation("replay_step", "l", instance_id="inst_00")) == [
        "Runs inst_00 of l again, all of it, and keeps its old result."
    ]


def test_a_change_and_a_replay_are_one_sentence() -> None:
    change = update(replace(A, goal="More", criteria=(Criterion("c1", "It holds"),)))
    assert said(change, Operation("replay_step", "a"), a=DONE) == [
        "Runs a again, after changing the goal and the criteria, and keeps its old result."
    ]
    assert said(update(A), Operation("replay_step", "a"), a=DONE) == [
        "Runs a again and keeps its old result."
    ]


def test_goals_are_escaped_and_braces_are_words() -> None:
    new = Step("n", "task", "<b> {0} {what} %s")
    (told,) = describe_operations([Operation("insert_after", "a", step=new)], PLAN, {})
    assert sentence(told).html.endswith("&lt;b&gt; {0} {what} %s")
