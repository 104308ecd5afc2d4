"""Requests that no page of ours makes: each is refused with a sentence or shown as it was, none faults, none writes."""

from __future__ import annotations

import html
import json
from collections.abc import Callable, Iterator

import pytest
from django.test import Client
from django.urls import reverse
from django.utils.http import urlencode

from chief_project.shared.caller import Caller
from chief_project.shared.models import AuditEntry, User
from tests.amendments import insert_after, propose
from tests.plans import checkpoint, parallel, task
from tests.run_calls import ask, update
from tests.runs import new_run
from tests.workflows import new_draft
from workflows.services.create_template_from_workflow import create_template_from_workflow

pytestmark = pytest.mark.django_db

MANY = "9" * 5000  # more digits than Python makes a number of
PLAN = json.dumps({"title": "T", "steps": [{"id": "a", "type": "task", "goal": "G"}], "groups": []})
ROWS = json.dumps(
    {
        "title": "T",
        "steps": [{"id": "a", "inputs": [{"name": "x", "kind": "json", "value": "[" * 500}], "outputs": 5}],
    }
)
ODD = '{"title": 1, "steps": [{"id": 1, "type": [], "body": {"a": 1}, "depends_on": 5, "goal": {}}], "groups": [{}]}'
VALUES = ["", "a\0b", MANY, "-1", "a//b", "[" * 500, '"\\ud800"']
BUTTONS = [
    f"{name}{which}"
    for name in (
        "save",
        "open",
        "drop-row:criteria",
        "drop-row",
        "undo",
        "add-row:inputs",
        "drop-row:inputs",
        "list",
    )
    for which in ("", ":0", f":{MANY}")
]
PARAMETERS = {
    "/": ["project", "cursor"],
    "/needs-you/news": ["project", "card"],
    "/workflows": ["project", "state", "q", "sort", "cursor"],
    "/workflows/w": ["step", "open"],
    "/workflows/w/changes": ["from", "to"],
    "/workflows/w/moved": ["etag", "was"],
    "/workflows/w/edit": ["step"],
    "/workflows/w/runs": ["cursor"],
    reverse("workflow-new"): ["project"],
    "/runs/r1": ["step", "open"],
    "/runs/r1/table": ["state", "q", "page"],
    "/runs/r1/reports": ["path", "cursor"],
    "/runs/r1/artifacts": ["q", "cursor"],
    "/runs/r1/timeline": ["waits", "from", "to"],
    "/workflows/w/plans/r1": ["step", "open"],
    "/runs/r1/definition": ["applied", "step", "open"],
    "/templates": ["status", "q", "cursor"],
    reverse("template-new"): ["workflow"],
    "/audit": ["workflow_id", "event", "actor", "since", "until", "cursor", "check"],
    "/tokens": ["cursor", "revoke"],
}
FORMS: dict[str, list[str]] = {
    "/workflows/w/approve": ["revision"],
    "/workflows/w/send-back": ["revision"],
    "/workflows/w/clone": ["run"],
    "/workflows/w/notes/add": ["step"],
    "/workflows/w/notes/none": ["resolved"],
    "/runs/r1/resolve/c": ["decision", "field:version"],
    "/runs/r1/resolve/none/of/these": ["decision"],
    "/runs/r1/answer/a": ["question_id", "field:text"],
    "/templates/t": ["do", "p.none", "workflow_id"],
    reverse("template-import"): ["document"],
    "/tokens/new": ["kind", "expires", "username"],
    "/profile/update": ["time_zone", "language", "theme", "notify"],
    "/needs-you/decide/draft:w@1": ["decision"],
    "/needs-you/decide/draft:w": ["decision"],
    f"/needs-you/decide/draft:w@{MANY}": ["decision"],
    "/needs-you/decide/checkpoint:r1@c": ["decision"],
    "/needs-you/decide/checkpoint:r1": ["decision"],
    "/needs-you/decide/question:none": ["run_id", "path"],
    "/needs-you/decide/nothing:none": ["decision"],
}
MORE = {"body": "Words"}


@pytest.fixture
def web(web_as: Callable[..., Client], harness: Caller, reviewer: Caller, owner: User) -> Client:
    new_draft(harness, task("a"), workflow_id="w")
    create_template_from_workflow(caller=harness, workflow_id="w", substitutions={}, template_id="t")
    new_run(
        reviewer, task("a"), parallel("p", ["b"]), task("b"), checkpoint("c", fields=[{"name": "version"}])
    )
    update(harness, "a", "running")
    ask(harness, "a")
    update(harness, "c", "running")
    propose(harness, insert_after("a", task("n")))
    client = web_as(owner)
    client.raise_request_exception = True
    return client


def test_no_parameter_of_an_address_is_a_fault(web: Client) -> None:
    wrong = []
    for path, names in PARAMETERS.items():
        for name in names:
            for value in [*VALUES, "r" + MANY, "draft:w@" + MANY]:
                answer = web.get(path, {name: value})
                if answer.status_code not in (200, 204, 404, 422):
                    wrong.append(f"{answer.status_code} {path}?{name}={value[:20]!r}")
    assert wrong == []


def forms() -> Iterator[tuple[str, dict[str, str]]]:
    for path, names in FORMS.items():
        for name in names:
            yield from ((path, MORE | {name: value}) for value in VALUES)


def test_no_field_of_a_form_is_a_fault_or_writes_what_nobody_decided(web: Client) -> None:
    before = AuditEntry.objects.count()
    wrong = []
    for path, data in forms():
        answer = web.post(path, data)
        if answer.status_code >= 500:
            wrong.append(f"{answer.status_code} {path} {str(data)[:80]}")
    assert wrong == []
    written = list(AuditEntry.objects.order_by("id")[before:].values_list("event", flat=True))
    assert set(written) <= {"workflow.note_added", "workflow.cloned"}, (
        "an empty step is the plan, and an empty run none"
    )


@pytest.mark.parametrize("document", [PLAN, ROWS, ODD, "{}", "null", "", "eJw=", MANY])
@pytest.mark.parametrize(
    "path", ["/workflows/w/edit", reverse("workflow-new"), reverse("template-new") + "?workflow=w"]
)
def test_no_button_of_an_editor_is_a_fault(web: Client, path: str, document: str) -> None:
    before = AuditEntry.objects.count()
    row = {"row.0.literal": "no such text", "row.0.name": "n", "based_on": "1"}
    row |= {
        "s.inputs.0.kind": "odd",
        "s.inputs.0.value": '"\\ud800',
        "s.outputs.json": MANY,
        "list": MANY,
        "sought": MANY,
    }
    for do in BUTTONS:
        if do.startswith("save") and document == PLAN:
            continue
        place = MANY if do == "undo" else "0"
        answer = web.post(path, row | {"do": do, "document": document, "place": place, "undo": document})
        assert answer.status_code < 500, do[:30]
    assert AuditEntry.objects.count() == before


def test_a_page_decides_on_no_revision_it_does_not_name(web: Client) -> None:
    before = AuditEntry.objects.count()
    for action in ("approve", "send-back"):
        answer = web.post(f"/workflows/w/{action}", {"reason": "Fine"})
        assert answer.status_code == 422
        assert "which revision you have read" in answer.text
    assert AuditEntry.objects.count() == before


def test_more_fields_than_a_form_has_are_refused(web: Client) -> None:
    many = urlencode([("open", str(n)) for n in range(10_000)])
    before = AuditEntry.objects.count()
    assert web.get(f"/workflows/w?{many}", headers={"Accept": "text/html"}).status_code == 400
    form = {"content_type": "application/x-www-form-urlencoded", "headers": {"Accept": "text/html"}}
    assert web.post("/workflows/w/notes/add", f"body=Words&{many}", **form).status_code == 400
    assert AuditEntry.objects.count() == before


def test_a_form_of_no_name_is_told_why_it_was_refused(web: Client) -> None:
    for form in ("", "no-such-form"):
        answer = web.post("/needs-you/decide/draft:w@1", {"form": form, "decision": "perhaps"})
        assert answer.status_code == 422
        assert "press one of the buttons" in answer.text


def test_whoever_comes_second_is_told_who_was_first(web: Client) -> None:
    for path, event in (
        ("/workflows/w/archive/do", "is archived already, by owner"),
        ("/runs/r1/cancel/do", "is cancelled already, by owner"),
    ):
        assert web.post(path).status_code == 303
        answer = web.post(path)
        assert answer.status_code == 409
        assert event in html.unescape(answer.text)


def test_nobody_is_shown_a_form_that_only_refuses_them(
    web: Client, web_as: Callable[..., Client], vic: User
) -> None:
    for path in (
        "workflows/w/label",
        "workflows/w/archive",
        "workflows/w/reopen",
        "workflows/w/delete",
        "runs/r1/cancel",
    ):
        answer = web_as(vic).get(f"/{path}")
        assert answer.status_code == 403, path
        assert "may not" in answer.text
        assert web.get(f"/{path}").status_code == 200, path


def test_a_label_is_a_name_as_over_the_api(web: Client) -> None:
    before = AuditEntry.objects.count()
    for label in ("x" * 201, "two\nlines"):
        answer = web.post("/workflows/w/label/save", {"title": "A plan", "project": label, "form": "label"})
        assert answer.status_code == 422
        assert "one line of at most 200 characters" in answer.text
    assert AuditEntry.objects.count() == before


def test_what_is_no_matter_of_rights_is_not_called_one(web: Client) -> None:
    answer = web.get("/workflows", {"cursor": "none"})
    assert answer.status_code == 422
    assert "Not for you to see" not in answer.text
