"""Contract 7: people say something about a plan, or one of its steps."""

import json
from typing import Any

import pytest

from chief_project.shared.caller import Caller, Role
from chief_project.shared.errors import (
    Forbidden,
    ValidationFailed,
)
from chief_project.shared.models import AuditEntry
from tests.refusals import refused
from tests.workflows import new_approved, new_draft
from workflows import selectors
from workflows.services.add_review_note import add_review_note

pytestmark = pytest.mark.django_db

COMMAND = Caller(actor="cli", role=Role.ADMIN, via="cli")


def detail(event: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(AuditEntry.objects.filter(event=event).latest("id").text)["detail"]
    return found


def test_a_note_keeps_what_its_step_said(harness: Caller, reviewer: Caller) -> None:
    draft = new_draft(harness, "a", "b")
    note = add_review_note(caller=reviewer, workflow_id=draft["workflow_id"], body="why?", step_id="b")
    assert note | {"note_id": "", "created_at": ""} == {
        "note_id": "",
        "workflow_id": draft["workflow_id"],
        "revision": 1,
        "step_id": "b",
        "step_goal": "Do b",
        "body": "why?",
        "author": "rita",
        "actor": "rita",
        "created_at": "",
        "resolved": False,
        "resolved_at": None,
        "resolved_by": None,
        "resolved_actor": None,
        "resolved_via": None,
        "via": "rest",
        "orphaned": False,
    }
    assert note["note_id"].startswith("rvw_")
    assert selectors.get_workflow(caller=harness, workflow_id=draft["workflow_id"])["review_notes"] == [note]
    assert detail("workflow.note_added")["body"] == "why?"


def test_a_note_may_speak_of_the_whole_plan_at_any_status(reviewer: Caller) -> None:
    made = new_approved(reviewer)
    note = add_review_note(caller=reviewer, workflow_id=made["workflow_id"], body="nice")
    assert (note["step_id"], note["step_goal"], note["orphaned"]) == (None, None, False)


def test_notes_are_for_people_and_for_steps_there_are(
    harness: Caller, relay: Caller, reviewer: Caller
) -> None:
    draft = new_draft(harness)
    for caller in (harness, relay, COMMAND):
        with refused(Forbidden, "write a review note"):
            add_review_note(caller=caller, workflow_id=draft["workflow_id"], body="x")
    with refused(ValidationFailed, "no step 'zz'") as found:
        add_review_note(caller=reviewer, workflow_id=draft["workflow_id"], body="x", step_id="zz")
    assert found.value.details["pointer"] == "/step_id"
