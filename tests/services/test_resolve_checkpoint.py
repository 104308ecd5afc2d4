"""A person's decision on a checkpoint (contract 3, "checkpoints")."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from chief_project.shared.caller import Caller, Via
from chief_project.shared.errors import Forbidden, InvalidTransition, ValidationFailed
from chief_project.shared.models import AuditEntry
from runs.models import Report
from runs.selectors.runs import get_run
from tests.amendments import amend, remove, replay
from tests.derivation import assert_derived
from tests.plans import checkpoint, loop, task
from tests.refusals import refused
from tests.run_calls import assert_agrees, node_at, register, resolve, update
from tests.runs import new_run

pytestmark = pytest.mark.django_db

FIELDS = [{"name": "budget"}, {"name": "why", "required": False}]


def reached(reviewer: Caller, harness: Caller) -> None:
    """A checkpoint that asks for a budget, blocked; ``b`` waits for it."""
    new_run(reviewer, checkpoint("gate", fields=FIELDS), task("b", depends_on=["gate"]))
    update(harness, "gate", "running")


def test_approved_completes_and_makes_ready_what_waited(reviewer: Caller, harness: Caller) -> None:
    reached(reviewer, harness)
    write = resolve(reviewer, "gate", response={"budget": "100", "why": ""}, note="Fine.")
    now = write.minimal["state"]
    assert (now["status"], now["summary"]) == ("completed", "Approved by rita: Fine.")
    decided_at = now["checkpoint"].pop("decided_at")
    assert decided_at.endswith("Z")
    assert now["checkpoint"] == {
        "decision": "approved",
        "response": {"budget": "100", "why": ""},
        "note": "Fine.",
        "decided_by": "rita",
        "actor": "rita",
        "via": "rest",
    }
    assert now["completed_at"] is not None
    assert write.minimal["run_status"] == "running"
    assert [item["path"] for item in write.minimal["next"]["items"]] == ["b"]
    now["checkpoint"]["decided_at"] = decided_at
    assert_agrees(harness, write)
    assert_derived()


def test_rejected_fails_and_skips_what_waited(reviewer: Caller, harness: Caller) -> None:
    reached(reviewer, harness)
    write = resolve(reviewer, "gate", "rejected", note="Too dear.")
    assert (write.minimal["state"]["status"], write.minimal["run_status"]) == ("failed", "failed")
    assert write.minimal["state"]["summary"] == "Rejected by rita: Too dear."
    assert node_at(write.full(), "b")["skip_cause"] == "dependency"
    assert_agrees(harness, write)
    assert_derived()


def test_a_decision_is_audited_and_is_no_report(reviewer: Caller, harness: Caller) -> None:
    reached(reviewer, harness)
    resolve(reviewer, "gate", response={"budget": "1"})
    entry = AuditEntry.objects.get(event="checkpoint.resolved")
    assert (entry.actor, entry.via, entry.run_id) == ("rita", "rest", "r1")
    detail = json.loads(entry.text)["detail"]
    assert (detail["decision"], detail["response"], detail["decided_by"]) == (
        "approved",
        {"budget": "1"},
        "rita",
    )
    assert list(Report.objects.values_list("kind", flat=True)) == ["step_update"]


@pytest.mark.parametrize("door", ["rest", "mcp", "web", "admin", "cli"])
def test_a_decision_tells_the_door_it_came_through(reviewer: Caller, harness: Caller, door: Via) -> None:
    reached(reviewer, harness)
    caller = replace(reviewer, via=door, relay=True)
    kept = resolve(caller, "gate", response={"budget": "1"}).minimal["state"]["checkpoint"]
    assert kept["via"] == door
    assert AuditEntry.objects.get(event="checkpoint.resolved").via == door


def test_a_relayed_decision_keeps_the_claim_and_tells_the_token(
    reviewer: Caller, harness: Caller, relay: Caller
) -> None:
    reached(reviewer, harness)
    kept = resolve(relay, "gate", response={"budget": "1"}, decided_by="Ada").minimal["state"]
    assert (kept["checkpoint"]["decided_by"], kept["checkpoint"]["actor"]) == ("Ada", "relayer")
    assert kept["summary"].startswith("Approved by Ada")


def test_a_relayed_decision_is_a_humans_unless_it_says_whose(
    reviewer: Caller, harness: Caller, relay: Caller
) -> None:
    reached(reviewer, harness)
    kept = resolve(relay, "gate", response={"budget": "1"}).minimal["state"]["checkpoint"]
    assert kept["decided_by"] == "human"


def test_a_signed_in_person_decides_under_their_own_name(reviewer: Caller, harness: Caller) -> None:
    reached(reviewer, harness)
    kept = resolve(reviewer, "gate", response={"budget": "1"}, decided_by="Ada").minimal["state"]
    assert kept["checkpoint"]["decided_by"] == "rita"


def test_who_may_not_decide_may_not_resolve(reviewer: Caller, harness: Caller, viewer: Caller) -> None:
    reached(reviewer, harness)
    for caller in (harness, viewer):
        with refused(Forbidden, "resolve a checkpoint"):
            resolve(caller, "gate", response={"budget": "1"})


@pytest.mark.parametrize("decision", ["approved", "rejected"])
def test_an_unknown_field_is_refused(reviewer: Caller, harness: Caller, decision: str) -> None:
    reached(reviewer, harness)
    with refused(ValidationFailed, "did not ask for budgit") as caught:
        resolve(reviewer, "gate", decision, response={"budget": "1", "budgit": "1"}, note="n")
    assert caught.value.details["unknown"] == ["budgit"]


@pytest.mark.parametrize("response", [{}, {"budget": ""}, {"budget": " \n"}, {"why": "so"}])
def test_a_required_field_is_needed_to_approve(
    reviewer: Caller, harness: Caller, response: dict[str, str]
) -> None:
    reached(reviewer, harness)
    with refused(ValidationFailed, r"requires \['budget'\]") as caught:
        resolve(reviewer, "gate", response=response)
    assert caught.value.details["missing"] == ["budget"]
    resolve(reviewer, "gate", "rejected", response=response, note="no")


@pytest.mark.parametrize("note", [None, "", "  \n"])
def test_a_rejection_needs_a_note(reviewer: Caller, harness: Caller, note: str | None) -> None:
    reached(reviewer, harness)
    with refused(ValidationFailed, "needs a note saying why") as caught:
        resolve(reviewer, "gate", "rejected", note=note)
    assert caught.value.details["pointer"] == "/note"


def test_only_a_blocked_checkpoint_is_decided(reviewer: Caller, harness: Caller) -> None:
    new_run(reviewer, "a", checkpoint("gate"), checkpoint("late", depends_on=["a"]))
    with refused(InvalidTransition, "not 'blocked'") as caught:
        resolve(reviewer, "gate")
    assert caught.value.details["status"] == "pending"
    update(harness, "a", "failed")
    with refused(InvalidTransition, "not 'blocked'"):
        resolve(reviewer, "late")


@pytest.mark.parametrize("decision", ["approved", "rejected"])
def test_a_decided_checkpoint_says_so(reviewer: Caller, harness: Caller, decision: str) -> None:
    reached(reviewer, harness)
    resolve(reviewer, "gate", decision, response={"budget": "1"}, note="n")
    for again in ("approved", "rejected"):
        with refused(InvalidTransition, f"already been decided: {decision} by rita") as caught:
            resolve(reviewer, "gate", again, response={"budget": "1"}, note="n")
        assert caught.value.details["decision"] == decision


def test_a_removed_checkpoint_is_not_decided(reviewer: Caller, harness: Caller) -> None:
    new_run(reviewer, "a", checkpoint("gate"))
    update(harness, "gate", "running")
    amend(reviewer, remove("gate"))
    with refused(InvalidTransition, "not 'blocked'"):
        resolve(reviewer, "gate")


def test_only_checkpoints_are_decided(reviewer: Caller, harness: Caller) -> None:
    new_run(reviewer, "a", loop("l", ["x"]), task("x"))
    for path in ("a", "l"):
        with refused(ValidationFailed, "not a checkpoint"):
            resolve(reviewer, path)


def test_a_replayed_checkpoint_asks_again(reviewer: Caller, harness: Caller) -> None:
    reached(reviewer, harness)
    resolve(reviewer, "gate", "rejected", note="Too dear.")
    amend(reviewer, replay("gate"), kind="history_edit")
    now = node_at(get_run(caller=harness, run_id="r1"), "gate")
    assert (now["status"], now["checkpoint"]) == ("pending", None)
    assert now["history"][0]["checkpoint"]["note"] == "Too dear."
    with refused(InvalidTransition, "not 'blocked'"):
        resolve(reviewer, "gate", response={"budget": "1"})
    update(harness, "gate", "running")
    write = resolve(reviewer, "gate", response={"budget": "1"})
    assert write.minimal["state"]["status"] == "completed"
    assert_agrees(harness, write)


def test_each_branch_is_decided_on_its_own(reviewer: Caller, harness: Caller) -> None:
    new_run(reviewer, loop("l", ["gate"]), checkpoint("gate"))
    for _ in range(2):
        register(harness, "l")
    for name in ("inst_00", "inst_01"):
        update(harness, f"l/{name}/gate", "running")
    write = resolve(reviewer, "l/inst_01/gate")
    assert write.minimal["run_status"] == "waiting_on_human"
    assert node_at(write.full(), "l/inst_00/gate")["status"] == "blocked"
    assert_derived()
