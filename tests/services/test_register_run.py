"""Registering a run (contract 3)."""

from __future__ import annotations

import pytest

from amendments.services.delete_workflow import delete_workflow
from chief_project.shared.caller import Caller
from chief_project.shared.errors import (
    Conflict,
    Forbidden,
    InvalidTransition,
    NotFound,
    PreconditionFailed,
    ValidationFailed,
)
from chief_project.shared.models import AuditEntry
from chief_project.shared.paging import Paging
from runs.models import Report, Run, StepState
from runs.selectors.runs import get_run, list_runs
from runs.services.outcome import RunWrite
from runs.services.register_run import register_run
from tests.plans import loop, task
from tests.refusals import refused
from tests.run_calls import assert_agrees
from tests.runs import new_run, report
from tests.workflows import new_approved, new_draft
from workflows.services.archive_workflow import archive_workflow

pytestmark = pytest.mark.django_db


def register(caller: Caller, workflow_id: str, **keys: object) -> RunWrite:
    return register_run(caller=caller, workflow_id=workflow_id, **keys)  # type: ignore[arg-type]


def test_a_run_begins_with_a_pending_state_per_top_level_step(reviewer: Caller, harness: Caller) -> None:
    made = new_approved(reviewer, "a", loop("l", ["x"]), task("x"), task("b", depends_on=["a"]))
    write = register(harness, made["workflow_id"], run_id="r1", metadata={"seed": 0})
    run = write.full()
    assert run["run_id"] == "r1"
    assert (run["status"], run["revision"], run["base_version"]) == ("running", 1, 1)
    assert run["metadata"] == {"seed": 0}
    assert run["applied_amendment_ids"] == []
    assert run["last_report_at"] is None
    assert list(run["step_states"]) == ["a", "l", "b"]  # x stands in a body: it has no state of its own
    a, fan = run["step_states"]["a"], run["step_states"]["l"]
    assert a == {
        "step_id": "a",
        "status": "pending",
        "summary": None,
        "artifacts": [],
        "metadata": {},
        "started_at": None,
        "completed_at": None,
        "instances": None,
        "instances_closed": False,
        "checkpoint": None,
        "criteria_met": {},
        "questions": [],
        "stale": None,
        "history": [],
        "skip_cause": None,
        "failures": 0,
    }
    assert (fan["instances"], fan["instances_closed"]) == ([], False)
    assert run == get_run(caller=harness, run_id="r1")
    assert_agrees(harness, write)


def test_the_minimal_answer_names_what_may_begin_at_most_twenty_of_it(
    reviewer: Caller, harness: Caller
) -> None:
    made = new_approved(reviewer, *(f"s{place}" for place in range(23)), task("late", depends_on=["s0"]))
    write = register(harness, made["workflow_id"])
    offered = write.minimal["next"]
    assert [item["step_id"] for item in offered["items"]] == [f"s{place}" for place in range(20)]
    assert offered["more"] == 3
    assert_agrees(harness, write)


def test_an_id_is_minted_and_a_workflow_may_have_several_runs(reviewer: Caller, harness: Caller) -> None:
    made = new_approved(reviewer)
    first, second = (register(harness, made["workflow_id"]).minimal["run_id"] for _ in range(2))
    assert first != second
    assert first.startswith("run_")
    page = list_runs(caller=harness, paging=Paging(limit=10), workflow_id=made["workflow_id"])
    assert [run["run_id"] for run in page.rows] == [second, first]


def test_a_registration_is_audited_and_is_no_report(reviewer: Caller, harness: Caller) -> None:
    made = new_approved(reviewer)
    register(harness, made["workflow_id"], run_id="r1")
    entry = AuditEntry.objects.get(event="run.registered")
    assert (entry.stream, entry.position, entry.actor, entry.via) == ("run:r1", 1, "planner", "rest")
    assert (entry.workflow_id, entry.run_id) == (made["workflow_id"], "r1")
    assert Report.objects.count() == 0


def test_a_draft_takes_no_run(reviewer: Caller, harness: Caller) -> None:
    made = new_draft(reviewer)
    with refused(InvalidTransition, "draft"):
        register(harness, made["workflow_id"])


def test_an_archived_workflow_takes_no_run_and_its_running_ones_go_on(
    reviewer: Caller, harness: Caller
) -> None:
    run = new_run(reviewer)
    archive_workflow(caller=reviewer, workflow_id=run["workflow_id"])
    with refused(InvalidTransition, "archived"):
        register(harness, run["workflow_id"])
    assert report(harness, "a", "completed")["state"]["status"] == "completed"


def test_an_unknown_workflow_is_named(harness: Caller) -> None:
    with refused(NotFound, "wf_nowhere"):
        register(harness, "wf_nowhere")


def test_an_id_in_use_is_a_conflict_also_after_its_workflow_was_deleted(
    admin: Caller, harness: Caller
) -> None:
    run = new_run(admin)
    other = new_approved(admin)
    with refused(Conflict, "r1"):
        register(harness, other["workflow_id"], run_id="r1")
    delete_workflow(caller=admin, workflow_id=run["workflow_id"])
    with refused(Conflict, "never used again"):
        register(harness, other["workflow_id"], run_id="r1")


@pytest.mark.parametrize("run_id", ["", ".", "..", "a b", "ä", "a/b", "x" * 201])
def test_what_can_be_no_id_is_refused(reviewer: Caller, harness: Caller, run_id: str) -> None:
    made = new_approved(reviewer)
    with refused(ValidationFailed, "run_id") as caught:
        register(harness, made["workflow_id"], run_id=run_id)
    assert caught.value.details["pointer"] == "/run_id"


def test_the_longest_id_and_every_sign_are_fine(reviewer: Caller, harness: Caller) -> None:
    made = new_approved(reviewer)
    for run_id in ("x" * 200, "A-z_0.9:1", "-"):
        assert register(harness, made["workflow_id"], run_id=run_id).minimal["run_id"] == run_id


def test_a_viewer_may_not_register(reviewer: Caller, viewer: Caller) -> None:
    made = new_approved(reviewer)
    with refused(Forbidden, "register a run"):
        register(viewer, made["workflow_id"])


def test_a_stale_if_match_names_the_workflows_state(reviewer: Caller, harness: Caller) -> None:
    made = new_approved(reviewer)
    with refused(PreconditionFailed, made["workflow_id"]):
        register(harness, made["workflow_id"], if_match=0)


def test_a_large_plan_is_registered_whole(reviewer: Caller, harness: Caller) -> None:
    made = new_approved(reviewer, *(task(f"s{place}") for place in range(2_500)))
    write = register(harness, made["workflow_id"], run_id="big")
    assert StepState.objects.filter(run__run_id="big").count() == 2_500
    assert Run.objects.get().n_pending == 2_500
    assert write.minimal["next"]["more"] == 2_480
