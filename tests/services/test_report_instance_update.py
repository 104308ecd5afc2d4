"""Reporting on an instance as a whole (contract 3, ``InstanceUpdate``)."""

from __future__ import annotations

import json

import pytest

from chief_project.shared.caller import Caller
from chief_project.shared.errors import (
    Forbidden,
    InvalidTransition,
    InvariantViolation,
    PreconditionFailed,
)
from chief_project.shared.models import AuditEntry
from runs.models import Report
from runs.selectors.runs import get_run
from runs.services.report_instance_update import report_instance_update
from tests.amendments import amend, replay
from tests.derivation import assert_derived
from tests.plans import checkpoint, loop, parallel, task
from tests.refusals import refused
from tests.run_calls import asked, assert_agrees, node_at, register, resolve, update, update_instance
from tests.runs import new_run

pytestmark = pytest.mark.django_db


def fan(reviewer: Caller, harness: Caller, *body: dict[str, object]) -> None:
    """A run with one branch of a parallel over ``body``, besides a task ``a``."""
    new_run(reviewer, parallel("p", [str(step["id"]) for step in body]), *body, "a")
    register(harness, "p", metadata={"n": 1})


def test_summary_metadata_and_artifacts_are_the_instances_own(reviewer: Caller, harness: Caller) -> None:
    fan(reviewer, harness, task("x"), task("y"))
    write = update_instance(
        harness,
        "p/inst_00",
        summary="half of it",
        metadata={"tokens": 5},
        artifacts=[{"artifact_id": "one", "type": "t", "data": {}}],
    )
    now = write.minimal["state"]
    assert (now["summary"], now["metadata"]) == ("half of it", {"n": 1, "tokens": 5})
    assert [made["artifact_id"] for made in now["artifacts"]] == ["one"]
    assert "step_states" not in now
    assert now["status"] == "running"  # it was started
    assert write.minimal["path"] == "p/inst_00"
    assert_agrees(harness, write)
    run = write.full()
    assert {node_at(run, f"p/inst_00/{step}")["status"] for step in ("x", "y")} == {"pending"}
    assert {node_at(run, f"p/inst_00/{step}")["summary"] for step in ("x", "y")} == {None}
    assert_derived()


def test_a_report_is_logged_as_sent_and_audited(reviewer: Caller, harness: Caller) -> None:
    fan(reviewer, harness, task("x"))
    update_instance(harness, "p/inst_00", "completed", metadata={"k": None})
    row = Report.objects.order_by("-number").values_list("number", "kind", "path", "payload").first()
    assert row == (
        2,
        "instance_update",
        "p/inst_00",
        {"summary": "as a whole", "status": "completed", "metadata": {"k": None}},
    )
    detail = json.loads(AuditEntry.objects.get(event="instance.updated").text)["detail"]
    assert (detail["status_was"], detail["status"], detail["report"]) == ("pending", "completed", 2)


@pytest.mark.parametrize("status", ["pending", "running", "completed", "failed"])
def test_a_status_is_written_through_to_the_one_step_of_the_body(
    reviewer: Caller, harness: Caller, status: str
) -> None:
    fan(reviewer, harness, task("x"))
    write = update_instance(harness, "p/inst_00", status, metadata={"k": 1})
    step = node_at(write.full(), "p/inst_00/x")
    assert (step["status"], step["summary"]) == (status, "as a whole")
    assert step["metadata"] == {}  # metadata is the instance's
    assert write.minimal["state"]["status"] == status
    assert write.minimal["state"]["metadata"] == {"n": 1, "k": 1}
    assert_agrees(harness, write)
    assert_derived()


def test_a_failed_instance_under_continue_is_completed_with_failures(
    reviewer: Caller, harness: Caller
) -> None:
    new_run(reviewer, parallel("p", ["x"], on_instance_failure="continue"), task("x"))
    register(harness, "p")
    write = update_instance(harness, "p/inst_00", "failed")
    assert (write.minimal["state"]["status"], write.minimal["state"]["failures"]) == ("completed", 1)
    assert_agrees(harness, write)


def test_the_status_of_a_longer_body_is_derived(reviewer: Caller, harness: Caller) -> None:
    fan(reviewer, harness, task("x"), task("y"))
    with refused(InvariantViolation, r"derived.*x, y"):
        update_instance(harness, "p/inst_00", "completed")


def test_criteria_hold_an_instances_completion_up(reviewer: Caller, harness: Caller) -> None:
    fan(reviewer, harness, task("x", criteria=["It runs"]))
    with refused(InvariantViolation, "cannot be completed yet") as caught:
        update_instance(harness, "p/inst_00", "completed")
    assert caught.value.details["unmet"] == [{"id": "c1", "text": "It runs"}]
    update(harness, "p/inst_00/x", criteria_met={"c1": "yes"})
    assert update_instance(harness, "p/inst_00", "completed").minimal["state"]["status"] == "completed"


def test_a_checkpoint_as_the_body_is_reached_and_never_decided_by_a_report(
    reviewer: Caller, harness: Caller
) -> None:
    fan(reviewer, harness, checkpoint("gate"))
    for status in ("pending", "completed", "failed"):
        with refused(InvalidTransition, "resolve_checkpoint"):
            update_instance(harness, "p/inst_00", status)
    write = update_instance(harness, "p/inst_00", "running")
    assert write.minimal["run_status"] == "waiting_on_human"
    assert write.minimal["state"]["status"] == "running"
    assert [(item["path"], item["state"]) for item in write.minimal["next"]["items"]] == [
        ("p/inst_00/gate", "blocked")
    ]
    assert_agrees(harness, write)
    resolve(reviewer, "p/inst_00/gate")
    with refused(InvalidTransition, "immutable"):
        update_instance(harness, "p/inst_00")


@pytest.mark.parametrize("status", ["pending", "running", "completed", "failed"])
def test_an_open_question_holds_a_status_up(reviewer: Caller, harness: Caller, status: str) -> None:
    fan(reviewer, harness, task("x"))
    question = asked(harness, "p/inst_00/x")
    with refused(InvalidTransition, question):
        update_instance(harness, "p/inst_00", status)
    update_instance(harness, "p/inst_00")


def test_a_construct_as_the_body_derives_its_status(reviewer: Caller, harness: Caller) -> None:
    new_run(reviewer, parallel("p", ["in"]), loop("in", ["x"]), task("x"))
    register(harness, "p")
    with refused(InvariantViolation, "derived"):
        update_instance(harness, "p/inst_00", "completed")


@pytest.mark.parametrize("was", ["completed", "failed"])
@pytest.mark.parametrize("status", [None, "running"])
def test_a_finished_instance_is_immutable(
    reviewer: Caller, harness: Caller, was: str, status: str | None
) -> None:
    fan(reviewer, harness, task("x"))
    update_instance(harness, "p/inst_00", was)
    with refused(InvalidTransition, r"immutable.*replay_step"):
        update_instance(harness, "p/inst_00", status)


def test_a_branch_of_a_failed_construct_goes_on(reviewer: Caller, harness: Caller) -> None:
    fan(reviewer, harness, task("x"))
    register(harness, "p")
    update_instance(harness, "p/inst_00", "failed")
    write = update_instance(harness, "p/inst_01", "completed")
    assert (write.minimal["state"]["status"], write.minimal["run_status"]) == ("completed", "failed")
    assert_derived()


def test_a_replayed_instance_begins_again_with_its_history(reviewer: Caller, harness: Caller) -> None:
    fan(reviewer, harness, task("x"))
    update_instance(
        harness, "p/inst_00", "failed", artifacts=[{"artifact_id": "one", "type": "t", "ref": "r"}]
    )
    amend(reviewer, replay("p", instance_id="inst_00"), kind="history_edit")
    write = update_instance(harness, "p/inst_00", "completed")
    (before,) = write.minimal["state"]["history"]
    assert (before["status"], before["summary"]) == ("failed", "as a whole")
    assert before["artifacts"][0]["artifact_id"] == "one"
    assert write.minimal["run_status"] == "running"
    assert_agrees(harness, write)
    assert_derived()


def test_a_viewer_may_not_report(reviewer: Caller, harness: Caller, viewer: Caller) -> None:
    fan(reviewer, harness, task("x"))
    with refused(Forbidden, "report on an instance"):
        update_instance(viewer, "p/inst_00")


def test_a_stale_if_match_is_refused(reviewer: Caller, harness: Caller) -> None:
    fan(reviewer, harness, task("x"))
    for report in ({"summary": "s"}, {"summary": "s", "status": "running"}):
        with refused(PreconditionFailed, "revision 2"):
            report_instance_update(
                caller=harness, run_id="r1", path=("p", "inst_00"), report=report, if_match=1
            )
    assert get_run(caller=harness, run_id="r1")["revision"] == 2
