"""Contract 2: a person asks for changes to a draft."""

import json
from typing import Any

import pytest

from chief_project.shared.caller import Caller, Role
from chief_project.shared.errors import (
    Forbidden,
    InvalidTransition,
    NotFound,
    PreconditionFailed,
)
from chief_project.shared.models import AuditEntry
from tests.plans import task
from tests.refusals import refused
from tests.workflows import new_approved, new_draft, revised
from workflows import models, selectors
from workflows.services.add_review_note import add_review_note
from workflows.services.approve_workflow import approve_workflow
from workflows.services.resolve_review_note import resolve_review_note
from workflows.services.send_back_workflow import send_back_workflow

pytestmark = pytest.mark.django_db

COMMAND = Caller(actor="cli", role=Role.ADMIN, via="cli")


def detail(event: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(AuditEntry.objects.filter(event=event).latest("id").text)["detail"]
    return found


def test_a_draft_is_sent_back_with_its_open_notes(harness: Caller, reviewer: Caller) -> None:
    draft = new_draft(harness)
    name = draft["workflow_id"]
    add_review_note(caller=reviewer, workflow_id=name, body="done since")
    closed = selectors.get_workflow(caller=reviewer, workflow_id=name)["review_notes"][0]
    resolve_review_note(caller=reviewer, workflow_id=name, note_id=closed["note_id"])
    note = add_review_note(caller=reviewer, workflow_id=name, body="split this", step_id="a")
    found = send_back_workflow(caller=reviewer, workflow_id=name, reason="see notes", revision=1)
    assert (found["status"], found["revision"], found["version"]) == ("draft", 1, 1)
    review = found["review"]
    assert (review["state"], review["revision"], review["by"]) == ("sent_back", 1, "rita")
    assert review["reason"] == "see notes"
    assert detail("workflow.sent_back")["open_notes"] == [note["note_id"]]
    assert not selectors.drafts_waiting(caller=reviewer)


def test_a_persons_token_may_name_who_sends_back_and_is_named_itself(
    harness: Caller, reviewer: Caller
) -> None:
    draft = new_draft(harness)
    token = Caller(actor="rita", role=reviewer.role, via="rest", user_id=reviewer.user_id, token_id=99)
    found = send_back_workflow(caller=token, workflow_id=draft["workflow_id"], decided_by="Ada")
    assert (found["review"]["by"], found["review"]["actor"]) == ("Ada", "rita")


def test_a_draft_that_was_sent_back_may_still_be_approved(reviewer: Caller) -> None:
    draft = new_draft(reviewer)
    send_back_workflow(caller=reviewer, workflow_id=draft["workflow_id"])
    assert approve_workflow(caller=reviewer, workflow_id=draft["workflow_id"])["status"] == "approved"


def test_who_approves_what_still_waited_on_their_screen_hears_that_it_was_sent_back(
    reviewer: Caller, admin: Caller
) -> None:
    workflow_id = new_draft(reviewer)["workflow_id"]
    send_back_workflow(caller=admin, workflow_id=workflow_id)
    with refused(InvalidTransition, "was sent back by owner while you were reading") as found:
        approve_workflow(caller=reviewer, workflow_id=workflow_id, revision=1, unless_sent_back=True)
    assert found.value.details == {"by": "owner"}
    assert models.Workflow.objects.get().status == "draft"
    assert not models.Version.objects.exists()
    assert not AuditEntry.objects.filter(event="workflow.approved").exists()


def test_only_people_send_back(harness: Caller, relay: Caller, viewer: Caller) -> None:
    draft = new_draft(harness)
    for caller in (harness, relay, viewer, COMMAND):
        with refused(Forbidden, "send a draft back"):
            send_back_workflow(caller=caller, workflow_id=draft["workflow_id"])


def test_only_a_draft_that_waits_is_sent_back(reviewer: Caller) -> None:
    made = new_approved(reviewer)
    with refused(InvalidTransition, "only a draft"):
        send_back_workflow(caller=reviewer, workflow_id=made["workflow_id"])
    draft = new_draft(reviewer)
    send_back_workflow(caller=reviewer, workflow_id=draft["workflow_id"])
    with refused(InvalidTransition, "sent back already, by "):
        send_back_workflow(caller=reviewer, workflow_id=draft["workflow_id"])
    with refused(NotFound, "no workflow"):
        send_back_workflow(caller=reviewer, workflow_id="nowhere")


def test_what_was_not_read_is_not_sent_back(harness: Caller, reviewer: Caller) -> None:
    draft = new_draft(harness, "a")
    revised(harness, draft, task("a"), task("b"))
    with refused(PreconditionFailed, "send back revision 1") as found:
        send_back_workflow(caller=reviewer, workflow_id=draft["workflow_id"], revision=1)
    assert [step["id"] for step in found.value.details["difference"]["added"]] == ["b"]
