"""Rejecting and withdrawing (contract 4 and 9): the plan stays, the run goes on, and who may."""

from __future__ import annotations

import pytest

from amendments.models import Amendment
from amendments.services.reject_amendment import reject_amendment
from amendments.services.withdraw_amendment import withdraw_amendment
from chief_project.shared.caller import Caller
from chief_project.shared.errors import Forbidden, InvalidTransition, NotFound, PreconditionFailed
from chief_project.shared.models import AuditEntry
from runs.models import Run
from runs.selectors.runs import get_run
from tests.amendments import insert_after, propose, remove, replay
from tests.plans import checkpoint, task
from tests.runs import new_run, report
from workflows.models import RemovedStep, Workflow

pytestmark = pytest.mark.django_db


def test_a_rejection_changes_nothing_but_the_amendment_and_the_pause(
    reviewer: Caller, harness: Caller
) -> None:
    run = new_run(reviewer)
    made = propose(harness, remove("b"))
    decided = reject_amendment(caller=reviewer, amendment_id=made["amendment_id"], reason="no").full()
    assert (decided["status"], decided["decision_reason"]) == ("rejected", "no")
    assert (decided["decided_by"], decided["decided_actor"]) == ("rita", "rita")
    assert decided["resulting_workflow_version"] is None
    now = get_run(caller=reviewer, run_id="r1")
    assert (now["status"], now["pending_amendment_id"], now["applied_amendment_ids"]) == ("running", None, [])
    assert now["step_states"] == run["step_states"]
    assert now["revision"] == run["revision"] + 2
    assert Workflow.objects.get().version == 1
    assert not RemovedStep.objects.exists()
    entry = AuditEntry.objects.get(event="amendment.rejected")
    assert (entry.stream, entry.amendment_id) == ("run:r1", made["amendment_id"])
    assert propose(harness, remove("b"))["status"] == "pending_approval"  # the way is free again


@pytest.mark.parametrize(
    ("reported", "status"),
    [("completed", "completed"), ("failed", "failed"), ("running", "running"), (None, "running")],
)
def test_the_pause_ends_in_the_status_that_follows_now(
    reviewer: Caller, reported: str | None, status: str
) -> None:
    new_run(reviewer, "a")
    made = propose(reviewer, insert_after("a", task("n")))
    if reported:
        report(reviewer, "a", reported)
    reject_amendment(caller=reviewer, amendment_id=made["amendment_id"])
    assert get_run(caller=reviewer, run_id="r1")["status"] == status


def test_the_pause_ends_in_waiting_while_a_checkpoint_waits(reviewer: Caller) -> None:
    new_run(reviewer, checkpoint("gate"))
    made = propose(reviewer, insert_after("gate", task("n")))
    report(reviewer, "gate", "running")
    assert get_run(caller=reviewer, run_id="r1")["status"] == "paused_for_approval"
    withdraw_amendment(caller=reviewer, amendment_id=made["amendment_id"])
    assert get_run(caller=reviewer, run_id="r1")["status"] == "waiting_on_human"


def test_a_harness_takes_its_own_proposal_back(reviewer: Caller, harness: Caller) -> None:
    new_run(reviewer)
    made = propose(harness, remove("b"))
    taken = withdraw_amendment(caller=harness, amendment_id=made["amendment_id"], reason="moot").full()
    assert (taken["status"], taken["decided_by"], taken["decision_reason"]) == (
        "withdrawn",
        harness.actor,
        "moot",
    )
    assert AuditEntry.objects.filter(event="amendment.withdrawn", stream="run:r1").count() == 1


def test_another_harness_cannot_take_it_back_and_a_person_can(
    reviewer: Caller, harness: Caller, relay: Caller
) -> None:
    new_run(reviewer)
    made = propose(harness, remove("b"))
    with pytest.raises(Forbidden, match=harness.actor):
        withdraw_amendment(caller=relay, amendment_id=made["amendment_id"])
    assert Amendment.objects.get().status == "pending_approval"
    assert Run.objects.get().status == "paused_for_approval"
    taken = withdraw_amendment(caller=reviewer, amendment_id=made["amendment_id"]).full()
    assert taken["decided_by"] == "rita"


def test_a_viewer_and_a_plain_harness_may_not_reject(
    reviewer: Caller, harness: Caller, viewer: Caller
) -> None:
    new_run(reviewer)
    made = propose(harness, remove("b"))
    for caller in (harness, viewer):
        with pytest.raises(Forbidden):
            reject_amendment(caller=caller, amendment_id=made["amendment_id"])
    with pytest.raises(Forbidden):
        withdraw_amendment(caller=viewer, amendment_id=made["amendment_id"])
    assert Amendment.objects.get().status == "pending_approval"


def test_a_decided_amendment_is_neither_rejected_nor_withdrawn(reviewer: Caller) -> None:
    new_run(reviewer, "a")
    report(reviewer, "a", "completed")
    made = propose(reviewer, replay("a"), kind="history_edit")
    reject_amendment(caller=reviewer, amendment_id=made["amendment_id"])
    for decide in (reject_amendment, withdraw_amendment):
        with pytest.raises(InvalidTransition, match="rejected already"):
            decide(caller=reviewer, amendment_id=made["amendment_id"])


def test_an_unknown_amendment_is_not_found(reviewer: Caller) -> None:
    for decide in (reject_amendment, withdraw_amendment):
        with pytest.raises(NotFound):
            decide(caller=reviewer, amendment_id="amd_nobody")


def test_a_stale_revision_is_refused(reviewer: Caller) -> None:
    run = new_run(reviewer)
    made = propose(reviewer, remove("b"))
    for decide in (reject_amendment, withdraw_amendment):
        with pytest.raises(PreconditionFailed):
            decide(caller=reviewer, amendment_id=made["amendment_id"], if_match=run["revision"])
