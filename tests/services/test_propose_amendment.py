"""Proposing an amendment (contract 4): what is kept, what the run does meanwhile, and what is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest

from amendments.models import Amendment
from amendments.services.cancel_run import cancel_run
from amendments.services.update_approval_policy import update_approval_policy
from chief_project.shared.caller import Caller
from chief_project.shared.errors import (
    ChiefError,
    Conflict,
    Forbidden,
    InvalidTransition,
    InvariantViolation,
    NotFound,
    PreconditionFailed,
    ValidationFailed,
)
from chief_project.shared.models import AuditEntry
from runs.selectors.runs import get_run, get_run_definition
from runs.services.ask_question import ask_question
from runs.services.register_run import register_run
from tests.amendments import amend, insert_after, propose, remove, replay, update
from tests.plans import checkpoint, loop, task
from tests.runs import add_instance, new_run, report
from workflows.models import Plan

pytestmark = pytest.mark.django_db


def test_a_proposal_is_kept_as_it_was_made_and_pauses_the_run(harness: Caller, reviewer: Caller) -> None:
    run = new_run(reviewer)
    made = propose(harness, insert_after("a", task("n", criteria=["tested"])), reason="more care")
    assert made["amendment_id"].startswith("amd_")
    assert made["run_id"] == "r1"
    assert made["workflow_id"] == run["workflow_id"]
    assert (made["status"], made["kind"], made["reason"]) == ("pending_approval", "forward", "more care")
    assert (made["proposed_by"], made["actor"], made["via"]) == ("planner", harness.actor, harness.via)
    assert (made["decided_at"], made["decided_by"], made["resulting_workflow_version"]) == (None, None, None)
    operation = made["operations"][0]
    assert (operation["op"], operation["target_step_id"]) == ("insert_after", "a")
    assert operation["instance_id"] is operation["instance_path"] is None
    assert operation["step"]["criteria"] == [{"id": "c1", "text": "tested"}]
    assert operation["step"]["body"] is None  # every key comes back
    now = get_run(caller=harness, run_id="r1")
    assert now["status"] == "paused_for_approval"
    assert now["pending_amendment_id"] == made["amendment_id"]
    assert now["revision"] == run["revision"] + 1
    assert "n" not in now["step_states"]
    entry = AuditEntry.objects.get(event="amendment.proposed")
    assert (entry.stream, entry.amendment_id, entry.actor) == ("run:r1", made["amendment_id"], harness.actor)
    (audited,) = json.loads(entry.text)["detail"]["operations"]
    assert audited == {"op": "insert_after", "target_step_id": "a", "step": operation["step"]}


def test_proposed_by_is_a_claim_whoever_says_it(reviewer: Caller) -> None:
    new_run(reviewer)
    made = propose(reviewer, insert_after("a", task("n")), proposed_by="somebody")
    assert (made["proposed_by"], made["actor"]) == ("somebody", "rita")


def test_a_run_has_one_pending_amendment_at_most(harness: Caller, reviewer: Caller) -> None:
    new_run(reviewer)
    first = propose(harness, insert_after("a", task("n")))
    with pytest.raises(InvariantViolation, match="one pending amendment") as refused:
        propose(harness, insert_after("a", task("m")))
    assert refused.value.details["amendment_id"] == first["amendment_id"]
    assert Amendment.objects.count() == 1


def test_a_paused_run_takes_reports_and_stays_paused(harness: Caller, reviewer: Caller) -> None:
    new_run(reviewer)
    propose(harness, insert_after("a", task("n")))
    assert report(harness, "a", "failed")["run_status"] == "paused_for_approval"
    assert get_run(caller=harness, run_id="r1")["step_states"]["b"]["status"] == "skipped"


def test_a_completed_and_a_failed_run_take_amendments(harness: Caller, reviewer: Caller) -> None:
    new_run(reviewer, "a")
    report(harness, "a", "completed")
    assert propose(harness, insert_after("a", task("n")))["status"] == "pending_approval"
    new_run(reviewer, "a", run_id="r2")
    report(harness, "a", "failed", run_id="r2")
    assert propose(harness, replay("a"), kind="history_edit", run_id="r2")["status"] == "pending_approval"


def test_a_cancelled_run_takes_none(reviewer: Caller) -> None:
    new_run(reviewer)
    cancel_run(caller=reviewer, run_id="r1")
    with pytest.raises(InvalidTransition, match="cancelled"):
        propose(reviewer, insert_after("a", task("n")))


def test_an_unknown_run_is_not_found(harness: Caller) -> None:
    with pytest.raises(NotFound, match="nowhere"):
        propose(harness, insert_after("a", task("n")), run_id="nowhere")


def test_a_viewer_may_not_propose(viewer: Caller, reviewer: Caller) -> None:
    new_run(reviewer)
    with pytest.raises(Forbidden):
        propose(viewer, insert_after("a", task("n")))
    assert not Amendment.objects.exists()


def test_a_stale_revision_is_refused(harness: Caller, reviewer: Caller) -> None:
    run = new_run(reviewer)
    report(harness, "a", "running")
    with pytest.raises(PreconditionFailed):
        propose(harness, insert_after("a", task("n")), if_match=run["revision"])
    assert propose(harness, insert_after("a", task("n")), if_match=run["revision"] + 1)


@pytest.mark.parametrize(
    ("operations", "problem", "said"),
    [
        ([insert_after("nobody", task("n"))], NotFound, "unknown step 'nobody'"),
        ([insert_after("a", task("b"))], Conflict, "already in use"),
        ([update(task("a")) | {"target_step_id": "b"}], ValidationFailed, "permanent"),
        ([remove("a")], ValidationFailed, "unknown step 'a'"),
        ([remove("a"), remove("b")], ValidationFailed, "at least one step"),
        ([replay("a")], InvariantViolation, "nothing to replay"),
        ([replay("a", instance_id="inst_00")], ValidationFailed, "no instances"),
        ([insert_after("a", loop("l", ["nobody"]))], ValidationFailed, "unknown step"),
    ],
)
def test_a_set_that_does_not_apply_is_refused_and_leaves_no_trace(
    harness: Caller, reviewer: Caller, operations: list[dict[str, Any]], problem: type[ChiefError], said: str
) -> None:
    run = new_run(reviewer)
    plans, entries = Plan.objects.count(), AuditEntry.objects.count()
    with pytest.raises(problem, match=said):
        propose(harness, *operations, kind="history_edit")
    assert not Amendment.objects.exists()
    assert (Plan.objects.count(), AuditEntry.objects.count()) == (plans, entries)
    assert get_run(caller=harness, run_id="r1") == run


def test_a_kind_that_says_too_little_names_the_one_that_is_required(
    harness: Caller, reviewer: Caller
) -> None:
    new_run(reviewer)
    report(harness, "a", "completed")
    with pytest.raises(InvariantViolation) as refused:
        propose(harness, insert_after("a", task("n")), update(task("a", goal="New")))
    assert refused.value.details["required_kind"] == "history_edit"
    assert refused.value.details["operation"] == 1


def test_saying_history_edit_where_forward_would_do_is_fine(harness: Caller, reviewer: Caller) -> None:
    new_run(reviewer)
    assert propose(harness, insert_after("a", task("n")), kind="history_edit")["kind"] == "history_edit"


def test_an_id_that_was_removed_is_never_reused_in_any_run_of_the_workflow(reviewer: Caller) -> None:
    run = new_run(reviewer, "a", "b")
    amend(reviewer, remove("b"))
    from_the_start = register_run(caller=reviewer, workflow_id=run["workflow_id"], run_id="r2").full()
    assert "b" not in from_the_start["step_states"]
    for run_id in ("r1", "r2"):
        with pytest.raises(Conflict, match="never reused"):
            propose(reviewer, insert_after("a", task("b")), run_id=run_id)


# -- The approval policy -----------------------------------------------------------------------------

INSERTS = {
    "match": "amendment.kind == 'forward' && amendment.ops subset_of ['insert_after', 'insert_before']"
}


def auto_approve(admin: Caller, match: str = "amendment.kind == 'forward'") -> None:
    update_approval_policy(caller=admin, rules=[{"id": "quick", "match": match, "auto_approve": True}])


def test_what_the_policy_approves_is_applied_at_once(admin: Caller, harness: Caller) -> None:
    new_run(admin)
    auto_approve(admin)
    made = propose(harness, insert_after("a", task("n")))
    assert (made["status"], made["decided_by"], made["decided_actor"]) == ("approved", "policy:quick", None)
    assert made["decision_reason"] == "a rule of the approval policy matched"
    assert made["resulting_workflow_version"] == 2
    now = get_run(caller=harness, run_id="r1")
    assert (now["status"], now["pending_amendment_id"]) == ("running", None)
    assert now["step_states"]["n"]["status"] == "pending"
    assert now["applied_amendment_ids"] == [made["amendment_id"]]
    events = list(AuditEntry.objects.filter(stream="run:r1").order_by("id").values_list("event", flat=True))
    assert events[-2:] == ["amendment.proposed", "amendment.approved"]


def test_a_policy_never_approves_a_history_edit(admin: Caller, harness: Caller) -> None:
    new_run(admin)
    auto_approve(admin)
    assert propose(harness, insert_after("a", task("n")), kind="history_edit")["status"] == "pending_approval"


def test_a_policy_never_takes_a_checkpoint_out(admin: Caller, harness: Caller) -> None:
    new_run(admin, "a", checkpoint("gate", depends_on=["a"]), task("b", depends_on=["gate"]))
    auto_approve(admin)
    made = propose(harness, update(task("b", depends_on=["a"])))
    assert made["status"] == "pending_approval"


def test_a_policy_never_removes_a_step_that_asks_a_person(admin: Caller, harness: Caller) -> None:
    new_run(admin, "a", "b")
    auto_approve(admin)
    report(harness, "b", "running")
    ask_question(caller=harness, run_id="r1", path=("b",), question={"text": "Which?", "fields": []})
    assert propose(harness, remove("b"))["status"] == "pending_approval"


def test_what_does_not_fit_the_head_waits_for_a_person(admin: Caller, harness: Caller) -> None:
    run = new_run(admin, "a", "b")
    register_run(caller=admin, workflow_id=run["workflow_id"], run_id="r2")
    amend(admin, remove("b"))
    auto_approve(admin)
    made = propose(harness, update(task("b", goal="New")), run_id="r2")
    assert made["status"] == "pending_approval"
    assert get_run(caller=harness, run_id="r2")["status"] == "paused_for_approval"


def test_body_steps_are_inserted_into_the_body_and_into_unfinished_instances(
    admin: Caller, harness: Caller
) -> None:
    new_run(admin, loop("l", ["x"]), task("x"))
    add_instance(harness, "l")
    auto_approve(admin, INSERTS["match"])
    propose(harness, insert_after("x", task("n", depends_on=["x"])))
    definition = get_run_definition(caller=harness, run_id="r1")
    assert next(step["body"] for step in definition["steps"] if step["id"] == "l") == ["x", "n"]
    instance = get_run(caller=harness, run_id="r1")["step_states"]["l"]["instances"][0]
    assert instance["body"] == ["x", "n"]
    assert instance["step_states"]["n"]["status"] == "pending"
