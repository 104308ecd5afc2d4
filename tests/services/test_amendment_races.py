"""Amendments and reports at the same time: one wins, the other gets a clean refusal, and the run stays whole."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection

from amendments.models import Amendment
from amendments.services.cancel_run import cancel_run
from amendments.services.reject_amendment import reject_amendment
from chief_project.shared.caller import Caller
from chief_project.shared.errors import ChiefError
from chief_project.shared.models import AuditEntry
from runs.models import AppliedAmendment, Run
from runs.selectors.runs import get_run, get_run_definition
from runs.services.register_run import register_run
from tests.amendments import approve, insert_after, propose, remove, update
from tests.derivation import assert_derived
from tests.plans import loop, task
from tests.runs import add_instance, new_run, report
from workflows.models import Version, Workflow

pytestmark = pytest.mark.django_db(transaction=True)
ROUNDS = 4


def together(*calls: Callable[[], Any]) -> list[Any]:
    """What each call answered or raised, all begun at once; anything but a ``ChiefError`` is a fault."""
    start = threading.Barrier(len(calls))
    outcomes: list[Any] = [None] * len(calls)

    def run(place: int, call: Callable[[], Any]) -> None:
        try:
            start.wait()
            outcomes[place] = call()
        except Exception as problem:
            outcomes[place] = problem
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=each) for each in enumerate(calls)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for outcome in outcomes:
        if isinstance(outcome, Exception) and not isinstance(outcome, ChiefError):
            raise outcome
    return outcomes


def refusals(outcomes: list[Any]) -> list[ChiefError]:
    return [outcome for outcome in outcomes if isinstance(outcome, ChiefError)]


def assert_whole(run_id: str = "r1") -> None:
    """The chain has no gap, the run is derived, and a pause has its amendment."""
    assert_derived(run_id)
    positions = AuditEntry.objects.filter(stream=f"run:{run_id}").order_by("position")
    assert list(positions.values_list("position", flat=True)) == list(range(1, len(positions) + 1))
    run = Run.objects.get(run_id=run_id)
    pending = Amendment.objects.filter(run=run, status="pending_approval")
    assert [each.amendment_id for each in pending] == (
        [run.pending_amendment_id] if run.pending_amendment_id else []
    )
    assert (run.status == "paused_for_approval") == pending.exists()


def test_of_two_approvals_one_wins(reviewer: Caller, admin: Caller) -> None:
    new_run(reviewer)
    for number in range(ROUNDS):
        made = propose(reviewer, insert_after("a", task(f"n{number}")))["amendment_id"]
        outcomes = together(lambda: approve(reviewer, made), lambda: approve(admin, made))  # noqa: B023
        (refused,) = refusals(outcomes)
        assert (refused.status, refused.code) == (409, "invalid_transition")
        assert "approved already" in refused.message
    assert Workflow.objects.get().version == 1 + ROUNDS
    assert AppliedAmendment.objects.count() == ROUNDS
    assert_whole()


def test_an_approval_and_a_rejection_do_not_both_happen(reviewer: Caller, admin: Caller) -> None:
    new_run(reviewer)
    for number in range(ROUNDS):
        made = propose(reviewer, insert_after("a", task(f"n{number}")))["amendment_id"]
        outcomes = together(
            lambda: approve(reviewer, made),  # noqa: B023
            lambda: reject_amendment(caller=admin, amendment_id=made).full(),  # noqa: B023
        )
        assert [refused.status for refused in refusals(outcomes)] == [409]
        there = f"n{number}" in get_run(caller=reviewer, run_id="r1")["step_states"]
        assert there == (Amendment.objects.get(amendment_id=made).status == "approved")
    assert_whole()


def test_of_two_proposals_one_wins(reviewer: Caller, harness: Caller) -> None:
    new_run(reviewer)
    for number in range(ROUNDS):
        outcomes = together(
            lambda: propose(reviewer, insert_after("a", task(f"n{number}"))),  # noqa: B023
            lambda: propose(harness, insert_after("a", task(f"m{number}"))),  # noqa: B023
        )
        (refused,) = refusals(outcomes)
        assert refused.status == 409
        assert "one pending amendment" in refused.message
        assert_whole()
        pending = Amendment.objects.get(status="pending_approval").amendment_id
        reject_amendment(caller=reviewer, amendment_id=pending)
    assert Amendment.objects.count() == ROUNDS


def test_an_approval_and_a_report_that_ends_its_fit(reviewer: Caller, harness: Caller) -> None:
    for number in range(ROUNDS):
        run_id = f"r{number}"
        new_run(reviewer, run_id=run_id)
        report(harness, "a", "running", run_id=run_id)
        made = propose(harness, update(task("a", goal="New")), run_id=run_id)["amendment_id"]
        approved, reported = together(
            lambda: approve(reviewer, made),  # noqa: B023
            lambda: report(harness, "a", "completed", run_id=run_id),  # noqa: B023
        )
        assert not isinstance(reported, ChiefError)
        steps = get_run_definition(caller=reviewer, run_id=run_id)["steps"]
        if isinstance(approved, ChiefError):
            assert approved.details["required_kind"] == "history_edit"
            assert steps[0]["goal"] == "Do a"
        else:
            assert steps[0]["goal"] == "New"
        assert get_run(caller=reviewer, run_id=run_id)["step_states"]["a"]["status"] == "completed"
        assert_whole(run_id)


def test_an_approval_among_many_reports_loses_none_of_them(reviewer: Caller, harness: Caller) -> None:
    new_run(reviewer, loop("l", ["x", "y"]), task("x"), task("y", depends_on=["x"]))
    for _ in range(6):
        add_instance(harness, "l")
    made = propose(harness, insert_after("x", task("n", depends_on=["x"])))["amendment_id"]
    outcomes = together(
        lambda: approve(reviewer, made),
        *(
            lambda at=f"l/inst_{number:02}/{step}": report(harness, at, "completed")
            for number in range(3)
            for step in ("x", "y")
        ),
        lambda: add_instance(harness, "l"),
    )
    assert refusals(outcomes) == []
    instances = get_run(caller=reviewer, run_id="r1")["step_states"]["l"]["instances"]
    assert len(instances) == 7
    for instance in instances[:3]:
        assert {instance["step_states"][step]["status"] for step in ("x", "y")} == {"completed"}
    assert_whole()


def test_approvals_of_sibling_runs_number_their_versions_apart(reviewer: Caller, admin: Caller) -> None:
    run = new_run(reviewer)
    register_run(caller=reviewer, workflow_id=run["workflow_id"], run_id="r2")
    for number in range(ROUNDS):
        first = propose(reviewer, insert_after("a", task(f"n{number}")))["amendment_id"]
        second = propose(reviewer, insert_after("b", task(f"m{number}")), run_id="r2")["amendment_id"]
        outcomes = together(lambda: approve(reviewer, first), lambda: approve(admin, second))  # noqa: B023
        assert refusals(outcomes) == []
    assert Workflow.objects.get().version == 1 + 2 * ROUNDS
    numbers = Version.objects.order_by("number").values_list("number", flat=True)
    assert list(numbers) == list(range(1, 2 + 2 * ROUNDS))
    for run_id in ("r1", "r2"):
        assert_whole(run_id)


def test_a_cancellation_and_what_races_it(reviewer: Caller, harness: Caller) -> None:
    for number in range(ROUNDS):
        run_id = f"r{number}"
        new_run(reviewer, run_id=run_id)
        made = propose(harness, remove("b"), run_id=run_id)["amendment_id"]
        outcomes = together(
            lambda: cancel_run(caller=reviewer, run_id=run_id).full(),  # noqa: B023
            lambda: approve(reviewer, made),  # noqa: B023
            lambda: report(harness, "a", "running", run_id=run_id),  # noqa: B023
        )
        assert not isinstance(outcomes[0], ChiefError)
        now = get_run(caller=reviewer, run_id=run_id)
        assert now["status"] == "cancelled"
        assert {state["status"] for state in now["step_states"].values()} == {"skipped"}
        assert Amendment.objects.get(amendment_id=made).status in {"approved", "withdrawn"}
