"""Contract 2 and 7: what people do with a draft before and beside deciding it."""

import json

import pytest

from chief_project.shared.caller import Caller, Role
from chief_project.shared.errors import (
    Forbidden,
    InvalidTransition,
    NotFound,
    PreconditionFailed,
    ValidationFailed,
)
from chief_project.shared.models import AuditEntry
from tests.plans import task
from tests.refusals import refused
from tests.workflows import new_approved, new_draft, revised
from workflows import models, selectors
from workflows.services.add_review_note import add_review_note
from workflows.services.approve_workflow import approve_workflow
from workflows.services.mark_seen import mark_seen
from workflows.services.resolve_review_note import resolve_review_note
from workflows.services.send_back_workflow import send_back_workflow

pytestmark = pytest.mark.django_db

COMMAND = Caller(actor="cli", role=Role.ADMIN, via="cli")


def detail(event: str) -> dict[str, object]:
    found: dict[str, object] = json.loads(AuditEntry.objects.filter(event=event).latest("id").text)["detail"]
    return found


# -- Sending back ------------------------------------------------------------------------------------


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


def test_a_draft_that_was_sent_back_may_still_be_approved(reviewer: Caller) -> None:
    draft = new_draft(reviewer)
    send_back_workflow(caller=reviewer, workflow_id=draft["workflow_id"])
    assert approve_workflow(caller=reviewer, workflow_id=draft["workflow_id"])["status"] == "approved"


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
    with refused(InvalidTransition, "sent back already"):
        send_back_workflow(caller=reviewer, workflow_id=draft["workflow_id"])
    with refused(NotFound, "no workflow"):
        send_back_workflow(caller=reviewer, workflow_id="nowhere")


def test_what_was_not_read_is_not_sent_back(harness: Caller, reviewer: Caller) -> None:
    draft = new_draft(harness, "a")
    revised(harness, draft, task("a"), task("b"))
    with refused(PreconditionFailed, "send back revision 1") as found:
        send_back_workflow(caller=reviewer, workflow_id=draft["workflow_id"], revision=1)
    assert [step["id"] for step in found.value.details["difference"]["added"]] == ["b"]


# -- Notes -------------------------------------------------------------------------------------------


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


def test_a_note_is_resolved_and_opened_again(harness: Caller, reviewer: Caller) -> None:
    draft = new_draft(harness)
    name = draft["workflow_id"]
    note = add_review_note(caller=reviewer, workflow_id=name, body="x")["note_id"]
    found = resolve_review_note(caller=reviewer, workflow_id=name, note_id=note, resolved_by="someone")
    assert (found["resolved"], found["resolved_by"]) == (True, "rita")
    assert found["resolved_at"] is not None
    assert detail("workflow.note_resolved")["note_id"] == note
    with refused(InvalidTransition, "resolved already"):
        resolve_review_note(caller=reviewer, workflow_id=name, note_id=note)
    found = resolve_review_note(caller=reviewer, workflow_id=name, note_id=note, resolved=False)
    assert (found["resolved"], found["resolved_by"], found["resolved_at"]) == (False, None, None)
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


# -- Reading -----------------------------------------------------------------------------------------


def seen() -> dict[str, int]:
    return dict(models.Seen.objects.values_list("user__username", "revision"))


def test_what_a_person_has_read_is_remembered_unaudited(harness: Caller, viewer: Caller) -> None:
    draft = new_draft(harness)
    revised(harness, draft, task("a"))
    entries = AuditEntry.objects.count()
    etag = selectors.workflow_etag(caller=viewer, workflow_id=draft["workflow_id"])
    assert mark_seen(caller=viewer, workflow_id=draft["workflow_id"], revision=2)["revision"] == 2
    assert mark_seen(caller=viewer, workflow_id=draft["workflow_id"], revision=1)["revision"] == 2
    assert seen() == {"vic": 2}
    assert AuditEntry.objects.count() == entries
    assert selectors.workflow_etag(caller=viewer, workflow_id=draft["workflow_id"]) == etag


def test_only_people_have_read_and_only_what_there_is(harness: Caller, reviewer: Caller) -> None:
    draft = new_draft(harness)
    with refused(Forbidden, "only a person may say what they have read"):
        mark_seen(caller=harness, workflow_id=draft["workflow_id"], revision=1)
    for revision in (0, 2):
        with refused(ValidationFailed, f"no revision {revision}"):
            mark_seen(caller=reviewer, workflow_id=draft["workflow_id"], revision=revision)


def test_noting_and_deciding_count_as_having_read(harness: Caller, reviewer: Caller, admin: Caller) -> None:
    draft = new_draft(harness)
    add_review_note(caller=reviewer, workflow_id=draft["workflow_id"], body="x")
    assert seen() == {"rita": 1}
    revised(harness, draft, task("a"))
    approve_workflow(caller=admin, workflow_id=draft["workflow_id"])
    assert seen() == {"rita": 1, "owner": 2}
