"""Approving an amendment (contract 4): what changes, all at once, and when nothing may."""

from __future__ import annotations

from typing import Any

import pytest

from amendments.models import Amendment
from amendments.services.approve_amendment import approve_amendment
from amendments.services.reject_amendment import reject_amendment
from chief_project.shared.caller import Caller
from chief_project.shared.errors import (
    ChiefError,
    Conflict,
    Forbidden,
    InvalidTransition,
    InvariantViolation,
    NotFound,
    PreconditionFailed,
)
from chief_project.shared.models import AuditEntry
from chief_project.shared.search import matching
from runs.models import Run
from runs.selectors.runs import get_run, get_run_definition
from runs.services.acknowledge_run import acknowledge_run
from runs.services.answer_question import answer_question
from runs.services.ask_question import ask_question
from runs.services.register_run import register_run
from runs.services.resolve_checkpoint import resolve_checkpoint
from tests.amendments import amend, approve, insert_after, propose, remove, replay, update
from tests.derivation import assert_derived
from tests.plans import loop, parallel, task
from tests.runs import add_instance, new_run, report
from workflows.models import Plan, RemovedStep, Version, Workflow
from workflows.selectors.workflows import get_workflow
from workflows.services.archive_workflow import archive_workflow

pytestmark = pytest.mark.django_db


def state_of(caller: Caller, path: str, run_id: str = "r1") -> dict[str, Any]:
    """The ``StepState`` at ``path``."""
    tokens = path.split("/")
    states = get_run(caller=caller, run_id=run_id)["step_states"]
    for construct, instance_id in zip(tokens[:-1:2], tokens[1::2], strict=True):
        inside = states[construct]["instances"]
        states = next(each for each in inside if each["instance_id"] == instance_id)["step_states"]
    found: dict[str, Any] = states[tokens[-1]]
    return found


def test_an_approval_changes_the_runs_plan_and_the_head_alike(reviewer: Caller, harness: Caller) -> None:
    run = new_run(reviewer)
    made = propose(harness, insert_after("a", task("n", depends_on=["a"])))
    decided = approve(reviewer, made["amendment_id"], reason="fine")
    assert decided["status"] == "approved"
    assert (decided["decided_by"], decided["decided_actor"], decided["decision_reason"]) == (
        "rita",
        "rita",
        "fine",
    )
    assert decided["resulting_workflow_version"] == 2
    workflow = get_workflow(caller=reviewer, workflow_id=run["workflow_id"])
    assert (workflow["version"], workflow["revision"]) == (2, 1)
    assert [step["id"] for step in workflow["steps"]] == ["a", "n", "b"]
    definition = get_run_definition(caller=reviewer, run_id="r1")
    assert definition["steps"] == workflow["steps"]
    assert definition["base_version"] == 1
    assert definition["applied_amendment_ids"] == [made["amendment_id"]]
    before = get_run_definition(caller=reviewer, run_id="r1", applied=0)
    assert [step["id"] for step in before["steps"]] == ["a", "b"]
    now = get_run(caller=reviewer, run_id="r1")
    assert (now["status"], now["pending_amendment_id"]) == ("running", None)
    assert list(now["step_states"]) == ["a", "n", "b"]
    assert Run.objects.get().plan_id == Workflow.objects.get().plan_id  # one Plan, two pointers
    version = Version.objects.get(number=2)
    assert (version.by, version.via, version.plan_id) == (
        "rita",
        reviewer.via,
        Workflow.objects.get().plan_id,
    )
    entry = AuditEntry.objects.get(event="amendment.approved")
    assert (entry.stream, entry.actor, entry.amendment_id) == ("run:r1", "rita", made["amendment_id"])
    assert_derived()


def test_a_relayed_decision_keeps_the_claim_and_names_the_principal(relay: Caller, harness: Caller) -> None:
    new_run(relay)
    decided = approve(relay, propose(harness, insert_after("a", task("n")))["amendment_id"], decided_by="Ada")
    assert (decided["decided_by"], decided["decided_actor"]) == ("Ada", relay.actor)


def test_a_harness_that_may_not_relay_cannot_approve(relay: Caller, harness: Caller) -> None:
    new_run(relay)
    made = propose(harness, insert_after("a", task("n")))
    with pytest.raises(Forbidden):
        approve(harness, made["amendment_id"])
    assert Amendment.objects.get().status == "pending_approval"


def test_only_a_pending_amendment_can_be_approved(reviewer: Caller) -> None:
    new_run(reviewer)
    first = amend(reviewer, insert_after("a", task("n")))
    with pytest.raises(InvalidTransition, match="approved already"):
        approve(reviewer, first["amendment_id"])
    second = propose(reviewer, insert_after("a", task("m")))
    reject_amendment(caller=reviewer, amendment_id=second["amendment_id"])
    with pytest.raises(InvalidTransition, match="rejected already"):
        approve(reviewer, second["amendment_id"])


def test_an_unknown_amendment_is_not_found(reviewer: Caller) -> None:
    with pytest.raises(NotFound, match="amd_nobody"):
        approve(reviewer, "amd_nobody")


def test_a_stale_revision_is_refused(reviewer: Caller) -> None:
    new_run(reviewer)
    made = propose(reviewer, insert_after("a", task("n")))
    revision = get_run(caller=reviewer, run_id="r1")["revision"]
    report(reviewer, "a", "running")
    with pytest.raises(PreconditionFailed):
        approve(reviewer, made["amendment_id"], if_match=revision)
    approve(reviewer, made["amendment_id"], if_match=revision + 1)


def test_the_minimal_answer_says_what_became_ready(reviewer: Caller) -> None:
    new_run(reviewer)
    report(reviewer, "a", "completed")
    made = propose(reviewer, insert_after("a", task("n", depends_on=["a"])))
    write = approve_amendment(caller=reviewer, amendment_id=made["amendment_id"])
    assert write.minimal["amendment_id"] == made["amendment_id"]
    assert write.minimal["run_status"] == "running"
    assert write.minimal["revision"] == get_run(caller=reviewer, run_id="r1")["revision"]
    assert [entry["step_id"] for entry in write.minimal["next"]["items"]] == ["n"]


# -- Approval looks again ----------------------------------------------------------------------------


def test_a_forward_amendment_whose_target_finished_meanwhile_is_refused_and_changes_nothing(
    reviewer: Caller, harness: Caller
) -> None:
    new_run(reviewer)
    made = propose(harness, update(task("a", goal="New")))
    report(harness, "a", "completed")
    before = get_run(caller=reviewer, run_id="r1")
    entries = AuditEntry.objects.count()
    with pytest.raises(InvariantViolation, match="no longer fits") as refused:
        approve(reviewer, made["amendment_id"])
    assert refused.value.details["required_kind"] == "history_edit"
    assert get_run(caller=reviewer, run_id="r1") == before
    assert AuditEntry.objects.count() == entries
    assert Amendment.objects.get().status == "pending_approval"
    assert Workflow.objects.get().version == 1


def test_a_move_whose_step_began_meanwhile_is_refused(reviewer: Caller, harness: Caller) -> None:
    new_run(reviewer, loop("l", ["x"]), task("x"), task("b"))
    made = propose(harness, update(loop("l", ["x", "b"])))
    report(harness, "b", "running")
    with pytest.raises(InvariantViolation, match="moved between the top level"):
        approve(reviewer, made["amendment_id"])


def test_an_instance_that_finished_meanwhile_keeps_its_body(reviewer: Caller, harness: Caller) -> None:
    new_run(reviewer, loop("l", ["x"]), task("x"))
    add_instance(harness, "l")
    add_instance(harness, "l")
    made = propose(harness, insert_after("x", task("n")))
    report(harness, "l/inst_00/x", "completed")
    approve(reviewer, made["amendment_id"])
    first, second = get_run(caller=reviewer, run_id="r1")["step_states"]["l"]["instances"]
    assert (first["status"], first["body"], list(first["step_states"])) == ("completed", ["x"], ["x"])
    assert (second["body"], second["step_states"]["n"]["status"]) == (["x", "n"], "pending")
    assert_derived()


# -- The head and sibling runs -----------------------------------------------------------------------


def test_a_sibling_run_goes_on_with_its_own_plan(reviewer: Caller) -> None:
    run = new_run(reviewer)
    register_run(caller=reviewer, workflow_id=run["workflow_id"], run_id="r2")
    amend(reviewer, insert_after("a", task("n")))
    sibling = get_run_definition(caller=reviewer, run_id="r2")
    assert [step["id"] for step in sibling["steps"]] == ["a", "b"]
    amend(reviewer, insert_after("b", task("m")), run_id="r2")
    head = get_workflow(caller=reviewer, workflow_id=run["workflow_id"])
    assert (head["version"], [step["id"] for step in head["steps"]]) == (3, ["a", "n", "b", "m"])
    sibling = get_run_definition(caller=reviewer, run_id="r2")
    assert [step["id"] for step in sibling["steps"]] == ["a", "b", "m"]


@pytest.mark.parametrize(
    "operations", [[update(task("b", goal="New"))], [insert_after("b", task("n"))], [remove("b")]]
)
def test_what_the_head_cannot_take_is_refused_naming_the_sibling_run_and_the_way_out(
    reviewer: Caller, operations: list[dict[str, Any]]
) -> None:
    run = new_run(reviewer, "a", "b")
    register_run(caller=reviewer, workflow_id=run["workflow_id"], run_id="r2")
    amend(reviewer, remove("b"))
    made = propose(reviewer, *operations, run_id="r2")
    before, plans = get_run(caller=reviewer, run_id="r2"), Plan.objects.count()
    with pytest.raises(Conflict, match="sibling run") as refused:
        approve(reviewer, made["amendment_id"])
    assert "Reject" in refused.value.message
    assert "run_id=r2" in refused.value.message
    assert get_run(caller=reviewer, run_id="r2") == before
    assert (Workflow.objects.get().version, Plan.objects.count()) == (2, plans)


def test_an_id_that_a_sibling_run_inserted_is_refused_at_approval(reviewer: Caller) -> None:
    run = new_run(reviewer)
    register_run(caller=reviewer, workflow_id=run["workflow_id"], run_id="r2")
    amend(reviewer, insert_after("a", task("n")))
    made = propose(reviewer, insert_after("b", task("n", goal="Another")), run_id="r2")
    with pytest.raises(Conflict, match="already in use"):
        approve(reviewer, made["amendment_id"])


def test_a_replay_applies_although_the_head_lost_the_step(reviewer: Caller) -> None:
    run = new_run(reviewer, "a", "b")
    register_run(caller=reviewer, workflow_id=run["workflow_id"], run_id="r2")
    report(reviewer, "b", "failed", run_id="r2")
    amend(reviewer, remove("b"))
    assert amend(reviewer, replay("b"), run_id="r2", kind="history_edit")["resulting_workflow_version"] == 3


def test_an_archived_workflow_still_takes_the_amendments_of_its_runs(reviewer: Caller) -> None:
    run = new_run(reviewer)
    archive_workflow(caller=reviewer, workflow_id=run["workflow_id"])
    assert amend(reviewer, insert_after("a", task("n")))["resulting_workflow_version"] == 2
    assert get_workflow(caller=reviewer, workflow_id=run["workflow_id"])["status"] == "archived"


# -- What it does to the run -------------------------------------------------------------------------


def test_a_set_of_replays_makes_a_new_version_with_the_same_plan(reviewer: Caller) -> None:
    new_run(reviewer, "a")
    report(reviewer, "a", "completed")
    plan, plans = Workflow.objects.get().plan_id, Plan.objects.count()
    decided = amend(reviewer, replay("a"), kind="history_edit")
    assert decided["resulting_workflow_version"] == 2
    assert (Workflow.objects.get().plan_id, Plan.objects.count()) == (plan, plans)
    assert Version.objects.get(number=2).plan_id == plan


def test_a_replay_keeps_the_old_result_in_history(reviewer: Caller) -> None:
    new_run(reviewer, task("a", criteria=["tested"]), task("b", depends_on=["a"]))
    artifact = {"artifact_id": "art_1", "type": "text", "data": {"text": "draft"}}
    report(reviewer, "a", "running", artifacts=[artifact], metadata={"n": 1}, criteria_met={"c1": "yes"})
    report(reviewer, "a", "failed")
    assert state_of(reviewer, "b")["skip_cause"] == "dependency"
    decided = amend(reviewer, replay("a"), kind="history_edit")
    state = state_of(reviewer, "a")
    assert (state["status"], state["summary"], state["artifacts"], state["metadata"]) == (
        "pending",
        None,
        [],
        {},
    )
    assert (state["criteria_met"], state["started_at"], state["completed_at"]) == ({}, None, None)
    kept = state["history"][0]
    assert (kept["status"], kept["summary"], kept["metadata"]) == ("failed", "a is failed", {"n": 1})
    assert kept["artifacts"][0]["artifact_id"] == "art_1"
    assert kept["criteria_met"] == {"c1": "yes"}
    assert kept["superseded_at"] is not None
    assert kept["amendment_id"] == decided["amendment_id"]
    assert state_of(reviewer, "b")["status"] == "pending"
    assert_derived()
    report(reviewer, "a", "completed", criteria_met={"c1": "again"})
    assert state_of(reviewer, "a")["history"] == [kept]


def test_the_artifact_id_of_a_superseded_result_stays_used(reviewer: Caller) -> None:
    new_run(reviewer, "a")
    artifact = {"artifact_id": "art_1", "type": "text", "data": {"text": "draft"}}
    report(reviewer, "a", "completed", artifacts=[artifact])
    amend(reviewer, replay("a"), kind="history_edit")
    with pytest.raises(ChiefError) as refused:
        report(reviewer, "a", "running", artifacts=[artifact])
    assert refused.value.status == 409


def test_a_second_replay_keeps_both_results_apart(reviewer: Caller) -> None:
    new_run(reviewer, "a")
    for status in ("failed", "completed"):
        report(reviewer, "a", status)
        amend(reviewer, replay("a"), kind="history_edit")
    history = state_of(reviewer, "a")["history"]
    assert [entry["status"] for entry in history] == ["failed", "completed"]
    assert "history" not in history[1]


def test_a_replayed_construct_opens_again(reviewer: Caller) -> None:
    new_run(reviewer, loop("l", ["x"]), task("x"))
    add_instance(reviewer, "l")
    report(reviewer, "l/inst_00/x", "completed")
    report(reviewer, "l", instances_closed=True)
    assert get_run(caller=reviewer, run_id="r1")["status"] == "completed"
    amend(reviewer, replay("l"), kind="history_edit")
    state = state_of(reviewer, "l")
    assert (state["status"], state["instances"], state["instances_closed"]) == ("pending", [], False)
    assert state["history"][0]["instances"][0]["step_states"]["x"]["summary"] == "l/inst_00/x is completed"
    assert get_run(caller=reviewer, run_id="r1")["status"] == "running"
    assert add_instance(reviewer, "l")["path"].endswith("inst_00")
    assert_derived()


def test_a_replay_of_one_branch_leaves_the_others_and_their_histories(reviewer: Caller) -> None:
    new_run(reviewer, parallel("p", ["x", "y"], on_instance_failure="continue"), task("x"), task("y"))
    for _ in range(2):
        add_instance(reviewer, "p")
    report(reviewer, "p/inst_00/x", "failed")
    report(reviewer, "p/inst_00/y", "completed")
    amend(reviewer, replay("p", instance_id="inst_00"), kind="history_edit")
    first, second = state_of(reviewer, "p")["instances"]
    assert (first["status"], len(first["history"])) == ("pending", 1)
    assert first["history"][0]["step_states"]["x"]["status"] == "failed"
    assert {state["status"] for state in first["step_states"].values()} == {"pending"}
    assert second["history"] == []
    assert_derived()


def test_replaying_one_copy_by_its_path(reviewer: Caller) -> None:
    new_run(reviewer, parallel("p", ["l"]), loop("l", ["x"]), task("x"))
    add_instance(reviewer, "p")
    add_instance(reviewer, "p/inst_00/l")
    report(reviewer, "p/inst_00/l/inst_00/x", "failed")
    amend(reviewer, replay("x", instance_path="p/inst_00/l/inst_00"), kind="history_edit")
    assert state_of(reviewer, "p/inst_00/l/inst_00/x")["status"] == "pending"
    assert get_run(caller=reviewer, run_id="r1")["status"] == "running"
    assert_derived()


def test_a_removed_step_stays_visible_and_says_which_amendment_removed_it(reviewer: Caller) -> None:
    new_run(reviewer, "a", "b")
    report(reviewer, "b", "failed")
    decided = amend(reviewer, remove("b"), kind="history_edit")
    state = state_of(reviewer, "b")
    assert (state["status"], state["skip_cause"], state["history"][0]["status"]) == (
        "skipped",
        "removed",
        "failed",
    )
    assert decided["amendment_id"] in state["summary"]
    assert RemovedStep.objects.get().step_id == "b"
    assert get_run(caller=reviewer, run_id="r1")["status"] == "running"
    with pytest.raises(InvalidTransition, match=decided["amendment_id"]):
        report(reviewer, "b", "running")
    assert_derived()


def test_removing_a_step_that_asks_closes_its_question_for_good(reviewer: Caller) -> None:
    new_run(reviewer, "a", "b")
    report(reviewer, "b", "running")
    asked = ask_question(
        caller=reviewer, run_id="r1", path=("b",), question={"text": "Which?", "fields": []}
    ).full()
    question_id = asked["step_states"]["b"]["questions"][0]["question_id"]
    amend(reviewer, remove("b"))
    question = state_of(reviewer, "b")["questions"][0]
    assert question["closed"]["by"] == "rita"
    assert question["closed"]["at"]
    assert get_run(caller=reviewer, run_id="r1")["status"] == "running"
    with pytest.raises(ChiefError) as refused:
        answer_question(
            caller=reviewer,
            run_id="r1",
            path=("b",),
            answer={"question_id": question_id, "response": {"text": "this"}},
        )
    assert refused.value.status == 409
    assert_derived()


def test_a_checkpoint_replayed_asks_again_and_keeps_the_old_decision(reviewer: Caller) -> None:
    from_the_plan = {"id": "gate", "type": "checkpoint", "goal": "Look", "harness": "human"}
    new_run(reviewer, from_the_plan)
    report(reviewer, "gate", "running")
    resolve_checkpoint(
        caller=reviewer, run_id="r1", path=("gate",), resolution={"decision": "rejected", "note": "no"}
    )
    amend(reviewer, replay("gate"), kind="history_edit")
    state = state_of(reviewer, "gate")
    assert (state["status"], state["checkpoint"]) == ("pending", None)
    assert state["history"][0]["checkpoint"]["decision"] == "rejected"


def test_a_run_that_failed_goes_on_once_its_failure_is_replayed(reviewer: Caller) -> None:
    new_run(reviewer)
    report(reviewer, "a", "failed")
    acknowledge_run(caller=reviewer, run_id="r1", by="human")
    made = propose(reviewer, replay("a"), kind="history_edit")
    assert get_run(caller=reviewer, run_id="r1")["acknowledged"] is not None  # a pause is not leaving
    approve(reviewer, made["amendment_id"])
    now = get_run(caller=reviewer, run_id="r1")
    assert (now["status"], now["acknowledged"]) == ("running", None)
    assert Run.objects.get().failed_at is None


def test_a_released_body_step_runs_at_top_level(reviewer: Caller) -> None:
    new_run(reviewer, loop("l", ["x", "y"]), task("x"), task("y"))
    amend(reviewer, update(loop("l", ["x"])))
    assert list(get_run(caller=reviewer, run_id="r1")["step_states"]) == ["l", "y"]
    report(reviewer, "y", "completed")
    amend(reviewer, update(task("x", goal="Still inside")))
    assert_derived()


def test_a_step_moved_into_a_body_leaves_the_top_level(reviewer: Caller) -> None:
    new_run(reviewer, loop("l", ["x"]), task("x"), task("b"))
    add_instance(reviewer, "l")
    amend(reviewer, update(loop("l", ["x", "b"])))
    assert list(get_run(caller=reviewer, run_id="r1")["step_states"]) == ["l"]
    assert state_of(reviewer, "l/inst_00/b")["status"] == "pending"
    assert_derived()


def test_a_task_that_never_ran_can_become_a_loop(reviewer: Caller) -> None:
    new_run(reviewer, "a", "b")
    amend(reviewer, update(loop("b", ["x"])), insert_after("b", task("x")))
    assert add_instance(reviewer, "b")["path"] == "b/inst_00"
    report(reviewer, "b/inst_00/x", "completed")
    assert_derived()


def test_operations_may_build_on_one_another(reviewer: Caller) -> None:
    new_run(reviewer)
    operations = [insert_after("a", task("n")), insert_after("n", task("m", depends_on=["n"])), remove("b")]
    amend(reviewer, *operations)
    states = get_run(caller=reviewer, run_id="r1")["step_states"]
    assert [name for name, state in states.items() if state["status"] == "pending"] == ["a", "n", "m"]
    assert_derived()


def test_a_completed_run_runs_again_when_a_step_is_added(reviewer: Caller) -> None:
    new_run(reviewer, "a")
    report(reviewer, "a", "completed")
    amend(reviewer, insert_after("a", task("n")))
    assert get_run(caller=reviewer, run_id="r1")["status"] == "running"


def test_a_value_that_only_looks_the_same_is_a_change(reviewer: Caller) -> None:
    new_run(reviewer, task("a", inputs={"n": 1}))
    amend(reviewer, update(task("a", inputs={"n": True})))
    inputs = get_run_definition(caller=reviewer, run_id="r1")["steps"][0]["inputs"]
    assert inputs["n"] is True


def test_the_head_is_found_by_what_an_amendment_added(reviewer: Caller) -> None:
    run = new_run(reviewer)
    amend(reviewer, insert_after("a", task("n", goal="Calibrate the spectrometer")))
    found = Workflow.objects.filter(matching("workflow", "spectro"))
    assert [row.workflow_id for row in found] == [run["workflow_id"]]
