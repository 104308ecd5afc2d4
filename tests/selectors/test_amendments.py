"""Reading amendments (contract 4): lists, and the difference that one makes."""

from __future__ import annotations

import pytest
from pytest_django import DjangoAssertNumQueries

from amendments.documents import AmendmentAnswer, AmendmentDiff
from amendments.selectors.amendments import get_amendment, get_amendment_diff, list_amendments
from amendments.services.reject_amendment import reject_amendment
from chief_project.shared.caller import Caller
from chief_project.shared.errors import NotFound
from chief_project.shared.paging import Paging
from runs.services.register_run import register_run
from tests.amendments import amend, approve, insert_after, propose, remove, replay, update
from tests.plans import loop, task
from tests.runs import add_instance, new_run, report
from workflows.mappers import plan_cache

pytestmark = pytest.mark.django_db
ALL = Paging()


def test_lists_are_newest_first_and_take_filters(reviewer: Caller) -> None:
    run = new_run(reviewer)
    register_run(caller=reviewer, workflow_id=run["workflow_id"], run_id="r2")
    first = amend(reviewer, insert_after("a", task("n")))["amendment_id"]
    second = propose(reviewer, insert_after("a", task("m")))["amendment_id"]
    third = propose(reviewer, insert_after("a", task("k")), run_id="r2")["amendment_id"]

    def names(**filters: str) -> list[str]:
        return [row["amendment_id"] for row in list_amendments(caller=reviewer, paging=ALL, **filters).rows]

    assert names() == [third, second, first]
    assert names(run_id="r1") == [second, first]
    assert names(status="approved") == [first]
    assert names(run_id="r1", status="pending_approval") == [second]
    with pytest.raises(NotFound, match="nowhere"):
        names(run_id="nowhere")


def test_pages_follow_one_another(reviewer: Caller) -> None:
    new_run(reviewer)
    made = [amend(reviewer, insert_after("a", task(f"n{number}")))["amendment_id"] for number in range(3)]
    page = list_amendments(caller=reviewer, paging=Paging(limit=2))
    assert [row["amendment_id"] for row in page.rows] == made[:0:-1]
    rest = list_amendments(caller=reviewer, paging=Paging(limit=2, cursor=page.next_cursor))
    assert [row["amendment_id"] for row in rest.rows] == made[:1]


def test_a_list_costs_the_same_whatever_it_holds(
    reviewer: Caller, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    new_run(reviewer)
    for number in range(3):
        amend(reviewer, insert_after("a", task(f"n{number}")), insert_after("a", task(f"m{number}")))
    with django_assert_num_queries(4):  # the run, the page, the count, the operations
        rows = list_amendments(caller=reviewer, paging=Paging(limit=2), run_id="r1").rows
    for row in rows:
        AmendmentAnswer.model_validate(row)
    with django_assert_num_queries(2):
        get_amendment(caller=reviewer, amendment_id=rows[0]["amendment_id"])


def test_an_unknown_amendment_is_not_found(reviewer: Caller) -> None:
    for read in (get_amendment, get_amendment_diff):
        with pytest.raises(NotFound, match="amd_nobody"):
            read(caller=reviewer, amendment_id="amd_nobody")


def test_the_difference_shows_each_step_before_and_after(reviewer: Caller) -> None:
    new_run(reviewer, "a", "b")
    report(reviewer, "a", "completed")
    operations = [
        insert_after("a", task("n", goal="Weigh it", depends_on=["a"])),
        update(task("n", goal="Weigh it twice", depends_on=["a"])),
        remove("b"),
        replay("a"),
    ]
    made = propose(reviewer, *operations, kind="history_edit")
    diff = get_amendment_diff(caller=reviewer, amendment_id=made["amendment_id"])
    AmendmentDiff.model_validate(diff)
    inserted, updated, removed, replayed = diff["operations"]
    assert inserted["before"] is None
    assert (inserted["step_id"], inserted["after"]["goal"]) == ("n", "Weigh it")
    assert (updated["before"]["goal"], updated["after"]["goal"]) == ("Weigh it", "Weigh it twice")
    assert (removed["before"]["id"], removed["after"]) == ("b", None)
    assert replayed["before"] == replayed["after"]
    assert replayed["text"] == "re-runs step 'a' and keeps its old result"
    assert "inserts task 'n' after 'a'" in diff["text"]
    assert [step["id"] for step in diff["plan"]["before"]] == ["a", "b"]
    assert [step["id"] for step in diff["plan"]["after"]] == ["a", "n"]
    assert [step["id"] for step in diff["plan"]["diff"]["added"]] == ["n"]
    assert diff["becomes_top_level"] == []
    assert diff["head"] == {"applies": True, "why": None, "differs": []}


def test_the_difference_says_in_words_which_body_steps_become_top_level(reviewer: Caller) -> None:
    new_run(reviewer, loop("l", ["x", "y"]), task("x"), task("y"))
    made = propose(reviewer, remove("l"), remove("y"))
    diff = get_amendment_diff(caller=reviewer, amendment_id=made["amendment_id"])
    assert diff["becomes_top_level"] == [{"step_id": "x", "construct_id": "l"}]
    assert "step 'x' loses its construct 'l' and becomes top-level" in diff["text"]


def test_a_scoped_operation_names_its_instance(reviewer: Caller) -> None:
    new_run(reviewer, loop("l", ["x"]), task("x"))
    add_instance(reviewer, "l")
    report(reviewer, "l/inst_00/x", "failed")
    made = propose(reviewer, replay("x", instance_id="inst_00"), kind="history_edit")
    change = get_amendment_diff(caller=reviewer, amendment_id=made["amendment_id"])["operations"][0]
    assert change["instance_path"] == "l/inst_00"
    assert change["text"] == "re-runs step 'x' in 'l/inst_00' and keeps its old result"


def test_a_scoped_removal_says_whose_work_is_kept_and_that_the_rest_stays(reviewer: Caller) -> None:
    new_run(reviewer, loop("l", ["x", "y"]), task("x"), task("y"))
    add_instance(reviewer, "l")
    made = propose(reviewer, remove("x", instance_id="inst_00"))
    (change,) = get_amendment_diff(caller=reviewer, amendment_id=made["amendment_id"])["operations"]
    assert change["text"] == (
        "takes task 'x' out of the plan; what it did in 'l/inst_00' stays in its history, and finished copies"
        " elsewhere stay as they are"
    )


def test_the_difference_shows_where_the_head_tells_a_step_otherwise(reviewer: Caller) -> None:
    run = new_run(reviewer, "a", "b")
    register_run(caller=reviewer, workflow_id=run["workflow_id"], run_id="r2")
    amend(reviewer, update(task("b", goal="Do b with care")))
    made = propose(reviewer, update(task("b", goal="Do b fast")), run_id="r2")
    diff = get_amendment_diff(caller=reviewer, amendment_id=made["amendment_id"])
    differs = diff["head"]["differs"]
    assert (differs[0]["run"]["goal"], differs[0]["head"]["goal"]) == ("Do b", "Do b with care")
    assert diff["head"]["applies"]
    amend(reviewer, remove("b"))
    diff = get_amendment_diff(caller=reviewer, amendment_id=made["amendment_id"])
    assert diff["head"]["differs"][0]["head"] is None
    assert not diff["head"]["applies"]
    assert "unknown step 'b'" in diff["head"]["why"]
    assert "has no step 'b' any more" in diff["text"]


def test_the_difference_stays_the_same_after_the_decision(reviewer: Caller) -> None:
    new_run(reviewer, "a", "b")
    made = propose(reviewer, remove("b"), insert_after("a", task("n")))
    pending = get_amendment_diff(caller=reviewer, amendment_id=made["amendment_id"])
    approve(reviewer, made["amendment_id"])
    amend(reviewer, update(task("a", goal="Something else")))
    later = get_amendment_diff(caller=reviewer, amendment_id=made["amendment_id"])
    assert later == pending | {"status": "approved"}
    rejected = propose(reviewer, insert_after("a", task("m")))
    pending = get_amendment_diff(caller=reviewer, amendment_id=rejected["amendment_id"])
    reject_amendment(caller=reviewer, amendment_id=rejected["amendment_id"])
    amend(reviewer, remove("n"))
    later = get_amendment_diff(caller=reviewer, amendment_id=rejected["amendment_id"])
    assert later == pending | {"status": "rejected"}


def test_a_difference_takes_three_statements_once_its_plans_are_known(
    reviewer: Caller, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    new_run(reviewer)
    made = propose(reviewer, insert_after("a", task("n")), insert_after("a", task("m")))
    plan_cache.clear()
    first = get_amendment_diff(caller=reviewer, amendment_id=made["amendment_id"])
    with django_assert_num_queries(3):
        assert get_amendment_diff(caller=reviewer, amendment_id=made["amendment_id"]) == first
