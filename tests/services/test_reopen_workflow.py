"""Contract 2: an approved workflow without runs becomes a draft again."""

import json
from typing import Any

import pytest

from chief_project.shared.caller import Caller
from chief_project.shared.errors import Forbidden, InvalidTransition, InvariantViolation
from chief_project.shared.models import AuditEntry
from tests.plans import task
from tests.refusals import refused
from tests.runs import new_run
from tests.workflows import new_approved, new_draft, revised
from workflows import selectors
from workflows.services.approve_workflow import approve_workflow
from workflows.services.reopen_workflow import reopen_workflow

pytestmark = pytest.mark.django_db


def detail(event: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(AuditEntry.objects.filter(event=event).latest("id").text)["detail"]
    return found


def test_a_reopened_workflow_is_a_draft_with_the_next_version(harness: Caller, reviewer: Caller) -> None:
    made = new_approved(reviewer)
    name = made["workflow_id"]
    found = reopen_workflow(caller=reviewer, workflow_id=name, reason="one more")
    assert (found["status"], found["version"], found["revision"]) == ("draft", 2, 1)
    assert (found["review"]["state"], found["review"]["reason"]) == ("waiting", "one more")
    assert detail("workflow.reopened")["version"] == 2
    revised(reviewer, made, task("z"))
    approve_workflow(caller=reviewer, workflow_id=name)
    first = selectors.get_version(caller=harness, workflow_id=name, number=1)
    second = selectors.get_version(caller=harness, workflow_id=name, number=2)
    assert (first["steps"], [step["id"] for step in second["steps"]]) == (made["steps"], ["z"])


def test_a_workflow_with_runs_is_not_reopened(reviewer: Caller, harness: Caller) -> None:
    run = new_run(reviewer)
    with refused(InvariantViolation, "has runs.*amendment"):
        reopen_workflow(caller=reviewer, workflow_id=run["workflow_id"])
    with refused(Forbidden, "reopen"):
        reopen_workflow(caller=harness, workflow_id=run["workflow_id"])
    draft = new_draft(harness)
    with refused(InvalidTransition, "is draft"):
        reopen_workflow(caller=reviewer, workflow_id=draft["workflow_id"])
