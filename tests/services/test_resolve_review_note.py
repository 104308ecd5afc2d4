"""Contract 7: people close a note, or open it again."""

import json
from typing import Any

import pytest

from chief_project.shared.caller import Caller, Role
from chief_project.shared.errors import (
    Forbidden,
    InvalidTransition,
    NotFound,
)
from chief_project.shared.models import AuditEntry
from tests.refusals import refused
from tests.workflows import new_draft
from workflows.services.add_review_note import add_review_note
from workflows.services.resolve_review_note import resolve_review_note

pytestmark = pytest.mark.django_db

COMMAND = Caller(actor="cli", role=Role.ADMIN, via="cli")


def detail(event: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(AuditEntry.objects.filter(event=event).latest("id").text)["detail"]
    return found


def test_a_note_is_resolved_and_opened_again(harness: Caller, reviewer: Caller) -> None:
    draft = new_draft(harness)
    name = draft["workflow_id"]
    note = add_review_note(caller=reviewer, workflow_id=name, body="x")["note_id"]
    found = resolve_review_note(caller=reviewer, workflow_id=name, note_id=note, resolved_by="someone")
    assert (found["resolved"], found["resolved_by"]) == (True, "rita")
    assert (found["resolved_actor"], found["resolved_via"]) == ("rita", "rest")
    assert found["resolved_at"] is not None
    assert detail("workflow.note_resolved")["note_id"] == note
    with refused(InvalidTransition, "resolved already"):
        resolve_review_note(caller=reviewer, workflow_id=name, note_id=note)
    found = resolve_review_note(caller=reviewer, workflow_id=name, note_id=note, resolved=False)
    assert (found["resolved"], found["resolved_by"], found["resolved_at"]) == (False, None, None)
    assert (found["resolved_actor"], found["resolved_via"]) == (None, None)
    assert detail("workflow.note_reopened")["note_id"] == note
    with refused(InvalidTransition, "open already"):
        resolve_review_note(caller=reviewer, workflow_id=name, note_id=note, resolved=False)


def test_a_note_is_resolved_by_people_and_on_its_own_workflow(
    harness: Caller, relay: Caller, reviewer: Caller
) -> None:
    name = new_draft(harness)["workflow_id"]
    other = new_draft(harness)["workflow_id"]
    note = add_review_note(caller=reviewer, workflow_id=name, body="x")["note_id"]
    for caller in (harness, relay, COMMAND):
        with refused(Forbidden, "resolve a review note"):
            resolve_review_note(caller=caller, workflow_id=name, note_id=note)
    with refused(NotFound, f"has no note '{note}'"):
        resolve_review_note(caller=reviewer, workflow_id=other, note_id=note)
