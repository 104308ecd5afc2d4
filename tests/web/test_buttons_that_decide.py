"""Every button that decides, pressed as the page shows it: it does what it says, to that alone, in the person's name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from html.parser import HTMLParser
from typing import Any

import pytest
from django.test import Client

from amendments.models import Amendment
from chief_project.shared.caller import Caller
from chief_project.shared.models import AuditEntry, User
from runs.models import Question, Run, StepState
from tests.amendments import propose, remove
from tests.plans import checkpoint, task
from tests.runs import new_run, report
from tests.selectors.test_waiting import ask
from tests.workflows import new_draft
from workflows.models import Workflow

WHY = "Small steps."
DRAFT = ("/needs-you/draft:w1@1", "/workflows/w1", "/workflows/w1/changes")
AMENDMENT = ("/needs-you/amendment:{amendment}", "/amendments/{amendment}")
CHECKPOINT = ("/needs-you/checkpoint:r1@gate", "/runs/r1?step=gate")
QUESTION = ("/needs-you/question:{question}", "/runs/r1?step=a")
FAILURE = ("/needs-you/failed_run:r2", "/runs/r2")


@dataclass
class Button:
    """What a browser sends when it is pressed: to where, its form's fields as they stand, and its own value."""

    address: str
    fields: dict[str, str]
    own: dict[str, str]
    says: str = ""


class Forms(HTMLParser):
    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.buttons: list[Button] = []
        self._form: tuple[str, dict[str, str]] = ("", {})
        self._within = False
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        address, fields = self._form
        named = {given["name"]: given.get("value", "")} if given.get("name") else {}
        if tag == "form":
            self._form = (given.get("action", ""), {})
        elif tag == "button":
            self.buttons.append(Button(given.get("formaction", address), fields, named))
            self._within = True
        elif tag in ("input", "textarea"):
            fields |= named

    def handle_data(self, data: str) -> None:
        if self._within:
            self.buttons[-1].says += data

    def handle_endtag(self, tag: str) -> None:
        if tag == "button":
            self._within = False


def press(client: Client, page: str, says: str, typed: dict[str, str]) -> Any:
    """Press the one button that begins so, after typing into fields, each called by the last word of its name."""
    shown = client.get(page)
    assert shown.status_code == 200
    (button,) = [each for each in Forms(shown.content.decode()).buttons if each.says.strip().startswith(says)]
    for name, text in typed.items():
        (field,) = [each for each in button.fields if each.replace(":", ".").split(".")[-1] == name]
        button.fields[field] = text
    return client.post(button.address, button.fields | button.own)


def standing() -> dict[str, Any]:
    """Whatever waits for a person, and what became of it."""
    draft, gate = Workflow.objects.get(workflow_id="w1"), StepState.objects.get(step_id="gate")
    amendment, question = Amendment.objects.get(), Question.objects.get()
    decided = gate.checkpoint or {}
    return {
        "draft": draft.review_state if draft.status == "draft" else draft.status,
        "amendment": (amendment.status, amendment.decision_reason),
        "checkpoint": (gate.status, decided.get("response"), decided.get("note")),
        "question": question.response,
        "failure": Run.objects.get(run_id="r2").acknowledged is not None,
    }


@pytest.mark.parametrize(
    ("page", "says", "typed", "event", "changes"),
    [
        *((page, "Approve revision 1", {"reason": WHY}, "workflow.approved", {"draft": "approved"}) for page in DRAFT),
        *((page, "Send back", {"reason": WHY}, "workflow.sent_back", {"draft": "sent_back"}) for page in DRAFT),
        *(
            (page, says, {"reason": WHY}, f"amendment.{status}", {"amendment": (status, WHY)})
            for page in AMENDMENT
            for says, status in (("Approve amendment", "approved"), ("Reject", "rejected"))
        ),
        *(
            (page, says, {"region": "north", "note": WHY}, "checkpoint.resolved", {"checkpoint": (status, response, WHY)})
            for page in CHECKPOINT
            for says, status, response in (("Approve", "completed", {"region": "north"}), ("Reject", "failed", {"region": "north"}))
        ),
        *((page, "Answer", {"text": WHY}, "step.question_answered", {"question": {"text": WHY}}) for page in QUESTION),
        *((page, "Leave it failed", {}, "run.acknowledged", {"failure": True}) for page in FAILURE),
    ],
)  # fmt: skip
def test_a_button_does_what_it_says_and_nothing_else(
    web_as: Callable[..., Client],
    relay: Caller,
    rita: User,
    page: str,
    says: str,
    typed: dict[str, str],
    event: str,
    changes: dict[str, Any],
) -> None:
    new_draft(relay, task("a"), workflow_id="w1")
    gate = checkpoint("gate", fields=[{"name": "region"}])
    new_run(relay, task("a"), task("b"), gate, workflow_id="w2")
    report(relay, "a", "running")
    question = ask(relay, "a", "Which?")
    report(relay, "gate", "running")
    amendment = propose(relay, remove("b"))["amendment_id"]
    new_run(relay, task("a"), run_id="r2")
    report(relay, "a", "failed", run_id="r2")
    before = standing()

    answer = press(web_as(rita), page.format(amendment=amendment, question=question), says, typed)

    assert answer.status_code == 303, answer.content.decode()[-500:]
    assert standing() == before | changes
    (entry,) = AuditEntry.objects.filter(via="web")
    assert (entry.event, entry.actor) == (event, "rita")
    if "reason" in typed:
        assert f'"reason":"{WHY}"' in entry.text
