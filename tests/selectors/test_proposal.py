"""An amendment as whoever decides on it reads it."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from amendments.selectors.proposal import get_proposal, pending_of_workflow
from amendments.services.reject_amendment import reject_amendment
from chief_project.shared.caller import Caller
from chief_project.shared.errors import NotFound
from runs.services.register_run import register_run
from tests.amendments import amend, approve, insert_after, propose, remove, replay, update
from tests.plans import checkpoint, loop, task
from tests.runs import add_instance, new_run, report
from workflows.mappers import plan_cache

pytestmark = pytest.mark.django_db


def test_what_each_operation_does_comes_with_how_its_step_stands(reviewer: Caller, viewer: Caller) -> None:
    new_run(reviewer, task("a"), task("b", depends_on=["a"]), task("c"), task("d"))
    report(reviewer, "a", "completed")
    report(reviewer, "d", "running")
    made = propose(
        reviewer, replay("a"), insert_after("a", task("n")), remove("c"), remove("d"), kind="history_edit"
    )
    found = get_proposal(caller=viewer, amendment_id=made["amendment_id"])
    assert found.pending
    assert [(each.code, each.standing and each.standing.word) for each in found.told] == [
        ("reruns", "finished"),
        ("inserts", None),
        ("removes", "waiting"),
        ("removes", "running"),
    ]
    assert [step.id for step in found.after.plan.steps] == ["a", "n", "b"]
    assert (found.unchanged, found.running, found.released) == (1, ["d"], [])
    assert found.only_people == "a history edit is a human decision"
    assert found.run["status"] == "paused_for_approval"
    assert found.workflow["version"] == 1
    assert found.shared.plan == found.before.plan


def test_why_only_people_decide_is_told(reviewer: Caller) -> None:
    new_run(reviewer, "a", checkpoint("c"))
    gone = propose(reviewer, remove("c"))["amendment_id"]
    assert get_proposal(caller=reviewer, amendment_id=gone).only_people == "it removes checkpoint 'c'"
    reject_amendment(caller=reviewer, amendment_id=gone)
    plain = propose(reviewer, insert_after("a", task("n")))["amendment_id"]
    assert get_proposal(caller=reviewer, amendment_id=plain).only_people is None


def test_what_is_decided_says_nothing_of_how_steps_stand_now(reviewer: Caller) -> None:
    run = new_run(reviewer)
    register_run(caller=reviewer, workflow_id=run["workflow_id"], run_id="r2")
    first = amend(reviewer, insert_after("a", task("n")))["amendment_id"]
    second = propose(reviewer, remove("b"))["amendment_id"]
    found = get_proposal(caller=reviewer, amendment_id=first)
    assert (found.pending, found.standings, found.siblings) == (False, {}, 1)
    assert (found.place, get_proposal(caller=reviewer, amendment_id=second).place) == (1, None)
    assert [(each["amendment_id"], each["status"]) for each in found.former] == [(second, "pending_approval")]
    assert found.head["applies"]
    assert [each["amendment_id"] for each in get_proposal(caller=reviewer, amendment_id=second).former] == [
        first
    ]


def test_a_head_that_a_sibling_changed_is_told(reviewer: Caller) -> None:
    run = new_run(reviewer, "a", "b")
    register_run(caller=reviewer, workflow_id=run["workflow_id"], run_id="r2")
    waits = propose(reviewer, update(task("b", goal="More")), run_id="r2")["amendment_id"]
    amend(reviewer, remove("b"))
    found = get_proposal(caller=reviewer, amendment_id=waits)
    assert not found.head["applies"]
    assert [each["step_id"] for each in found.head["differs"]] == ["b"]


def test_body_steps_that_come_to_stand_at_top_level_are_named(reviewer: Caller) -> None:
    new_run(reviewer, loop("l", ["x"]), task("x"))
    made = propose(reviewer, remove("l"))["amendment_id"]
    assert get_proposal(caller=reviewer, amendment_id=made).released == [
        {"step_id": "x", "construct_id": "l"}
    ]


@pytest.mark.parametrize("count", [1, 12])
def test_it_takes_the_same_statements_whatever_there_is(reviewer: Caller, count: int) -> None:
    steps: list[Any] = [loop("l", ["x"]), task("x"), *(task(f"s{number}") for number in range(count))]
    new_run(reviewer, *steps)
    for _ in range(count):
        add_instance(reviewer, "l")
        amend(reviewer, update(task("s0")))
    made = propose(reviewer, *(remove(f"s{number}") for number in range(count)))["amendment_id"]
    plan_cache.clear()
    for statements in (14, 8):
        with CaptureQueriesContext(connection) as asked:
            get_proposal(caller=reviewer, amendment_id=made)
        assert len(asked) == statements
    approve(reviewer, made)
    with CaptureQueriesContext(connection) as asked:
        get_proposal(caller=reviewer, amendment_id=made)
    assert len(asked) == 6


def test_there_is_none(viewer: Caller) -> None:
    with pytest.raises(NotFound, match="no amendment 'x'"):
        get_proposal(caller=viewer, amendment_id="x")


def test_what_waits_in_the_runs_of_a_workflow_is_found(reviewer: Caller) -> None:
    run = new_run(reviewer)
    register_run(caller=reviewer, workflow_id=run["workflow_id"], run_id="r2")
    amend(reviewer, insert_after("a", task("done")))
    made = [propose(reviewer, insert_after("a", task(f"n{name}")), run_id=name) for name in ("r2", "r1")]
    found = pending_of_workflow(caller=reviewer, workflow_id=run["workflow_id"])
    assert [(each["amendment_id"], each["run_id"]) for each in found] == [
        (each["amendment_id"], each["run_id"]) for each in made
    ]
    assert pending_of_workflow(caller=reviewer, workflow_id="nowhere") == []
