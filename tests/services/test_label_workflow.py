"""Contract 2: what a workflow is filed under."""

import json
from typing import Any

import pytest

from chief_project.shared.caller import Caller
from chief_project.shared.errors import Forbidden, PreconditionFailed, ValidationFailed
from chief_project.shared.models import AuditEntry
from chief_project.shared.paging import Paging
from tests.amendments import amend, insert_after
from tests.plans import task
from tests.refusals import contents, refused
from tests.runs import new_run
from tests.workflows import new_approved, new_draft
from workflows import selectors
from workflows.services.archive_workflow import archive_workflow
from workflows.services.label_workflow import label_workflow

pytestmark = pytest.mark.django_db


def detail(event: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(AuditEntry.objects.filter(event=event).latest("id").text)["detail"]
    return found


def test_labels_change_at_any_status_and_the_audit_keeps_what_was(reviewer: Caller) -> None:
    made = new_approved(reviewer, project="P", origin_dir="/w")
    name = made["workflow_id"]
    archive_workflow(caller=reviewer, workflow_id=name)
    found = label_workflow(caller=reviewer, workflow_id=name, changes={"project": "Q", "origin_dir": "/w"})
    assert (found["project"], found["origin_dir"], found["title"]) == ("Q", "/w", "A plan")
    assert detail("workflow.labelled") == {"project": "Q", "project_was": "P", "via": "rest"}
    found = label_workflow(caller=reviewer, workflow_id=name, changes={"project": None, "title": "Other"})
    assert (found["project"], found["title"], found["revision"]) == (None, "Other", 1)
    rows = selectors.list_workflows(caller=reviewer, paging=Paging(), q="other").rows
    assert [each["workflow_id"] for each in rows] == [name]


def test_labels_that_are_the_same_write_nothing(reviewer: Caller, harness: Caller) -> None:
    made = new_draft(reviewer, project="P")
    before = contents()
    label_workflow(
        caller=reviewer, workflow_id=made["workflow_id"], changes={"project": "P", "title": "A plan"}
    )
    assert contents() == before
    with refused(ValidationFailed, "nothing to change"):
        label_workflow(caller=reviewer, workflow_id=made["workflow_id"], changes={})
    with refused(Forbidden, "label a workflow"):
        label_workflow(caller=harness, workflow_id=made["workflow_id"], changes={"project": "Q"})


def test_a_stale_label_is_told_what_an_amendment_changed(reviewer: Caller) -> None:
    run = new_run(reviewer, "a", run_id="r1")
    name = run["workflow_id"]
    etag = selectors.workflow_etag(caller=reviewer, workflow_id=name)
    amend(reviewer, insert_after("a", task("b")), run_id="r1")
    with refused(PreconditionFailed, "has changed since you read it") as found:
        label_workflow(caller=reviewer, workflow_id=name, changes={"project": "Q"}, if_match=etag)
    assert (found.value.details["version"], found.value.details["revision"]) == (2, 1)
    assert [step["id"] for step in found.value.details["difference"]["added"]] == ["b"]
