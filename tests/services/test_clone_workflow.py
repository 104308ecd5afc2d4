"""Contract 2: a new draft from what another workflow, or its run, says."""

import json
from typing import Any

import pytest

from chief_project.shared.caller import Caller
from chief_project.shared.errors import Forbidden, NotFound, ValidationFailed
from chief_project.shared.models import AuditEntry
from tests.amendments import amend, insert_after
from tests.plans import task
from tests.refusals import refused
from tests.runs import new_run
from tests.workflows import new_draft
from workflows.services.add_review_note import add_review_note
from workflows.services.archive_workflow import archive_workflow
from workflows.services.clone_workflow import clone_workflow

pytestmark = pytest.mark.django_db


def detail(event: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(AuditEntry.objects.filter(event=event).latest("id").text)["detail"]
    return found


def test_a_clone_takes_the_plan_and_nothing_that_happened(harness: Caller, reviewer: Caller) -> None:
    groups = [{"path": "g", "description": "G"}]
    made = new_draft(
        reviewer, task("a", group="g"), groups=groups, project="P", origin_dir="/w", generated_by="me"
    )
    add_review_note(caller=reviewer, workflow_id=made["workflow_id"], body="x")
    archive_workflow(caller=reviewer, workflow_id=made["workflow_id"])
    found = clone_workflow(caller=harness, workflow_id=made["workflow_id"])
    assert found["workflow_id"] != made["workflow_id"]
    same = ("steps", "groups", "project", "origin_dir")
    assert {key: found[key] for key in same} == {key: made[key] for key in same}
    assert (found["title"], found["source"], found["generated_by"]) == ("A plan (copy)", "import", None)
    assert (found["status"], found["version"], found["revision"]) == ("draft", 1, 1)
    assert (found["review_notes"], found["from_template"]) == ([], None)
    assert detail("workflow.cloned")["cloned_from"] == made["workflow_id"]
    assert not AuditEntry.objects.filter(event="workflow.created", workflow_id=found["workflow_id"]).exists()


def test_a_clone_of_a_run_takes_its_amended_plan(reviewer: Caller) -> None:
    run = new_run(reviewer, "a", run_id="r1")
    amend(reviewer, insert_after("a", task("new")), run_id="r1")
    found = clone_workflow(caller=reviewer, workflow_id=run["workflow_id"], run_id="r1")
    assert [step["id"] for step in found["steps"]] == ["a", "new"]


def test_a_run_of_another_workflow_is_not_cloned(reviewer: Caller, viewer: Caller) -> None:
    run = new_run(reviewer, run_id="r1")
    other = new_draft(reviewer)
    with refused(ValidationFailed, "run 'r1' is of workflow"):
        clone_workflow(caller=reviewer, workflow_id=other["workflow_id"], run_id="r1")
    with refused(NotFound, "no run 'r9'"):
        clone_workflow(caller=reviewer, workflow_id=run["workflow_id"], run_id="r9")
    with refused(Forbidden, "clone a workflow"):
        clone_workflow(caller=viewer, workflow_id=run["workflow_id"])
