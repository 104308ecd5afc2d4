"""Contract 2: a workflow is put away."""

import json
from typing import Any

import pytest

from chief_project.shared.caller import Caller
from chief_project.shared.errors import Forbidden, InvalidTransition
from chief_project.shared.models import AuditEntry
from tests.refusals import refused
from tests.workflows import new_approved, new_draft
from workflows.services.approve_workflow import approve_workflow
from workflows.services.archive_workflow import archive_workflow
from workflows.services.reopen_workflow import reopen_workflow

pytestmark = pytest.mark.django_db


def detail(event: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(AuditEntry.objects.filter(event=event).latest("id").text)["detail"]
    return found


def test_a_draft_or_an_approved_workflow_is_archived(harness: Caller, reviewer: Caller) -> None:
    draft, approved = new_draft(harness), new_approved(reviewer)
    found = archive_workflow(caller=reviewer, workflow_id=draft["workflow_id"], reason="old")
    assert (found["status"], found["review"]) == ("archived", None)
    assert detail("workflow.archived")["from"] == "draft"
    archive_workflow(caller=reviewer, workflow_id=approved["workflow_id"])
    assert detail("workflow.archived")["from"] == "approved"


def test_what_is_archived_stays_so(harness: Caller, reviewer: Caller) -> None:
    made = new_draft(harness)
    with refused(Forbidden, "archive a workflow.*relay"):
        archive_workflow(caller=harness, workflow_id=made["workflow_id"])
    archive_workflow(caller=reviewer, workflow_id=made["workflow_id"])
    with refused(InvalidTransition, "archived already"):
        archive_workflow(caller=reviewer, workflow_id=made["workflow_id"])
    with refused(InvalidTransition, "archived"):
        approve_workflow(caller=reviewer, workflow_id=made["workflow_id"])
    with refused(InvalidTransition, "only an approved one"):
        reopen_workflow(caller=reviewer, workflow_id=made["workflow_id"])
