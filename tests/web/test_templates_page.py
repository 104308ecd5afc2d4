"""Templates: found, filled in before one's eyes, kept from a workflow, sent out and brought in."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from chief_project.shared.caller import Caller
from chief_project.shared.models import AuditEntry, User
from tests.plans import task
from tests.services.test_template_creation import FULL, body, create
from tests.workflows import new_draft
from workflows.mappers import plan_cache
from workflows.models import Workflow, WorkflowTemplate
from workflows.selectors.templates import export_template
from workflows.services.archive_template import archive_template
from workflows.services.create_workflow_from_template import create_workflow_from_template
from workflows.services.update_workflow_approval_policy import update_workflow_approval_policy

pytestmark = pytest.mark.django_db

HTMX = {"HX-Request": "true", "HX-Target": "preview"}


@pytest.fixture
def web(web_as: Callable[..., Client], rita: User) -> Client:
    return web_as(rita)


@pytest.fixture
def survey(harness: Caller) -> dict[str, Any]:
    document = body(
        task(
            "read", goal="Read {{ topic }}", criteria=["{{ topic }} is read"], inputs={"where": "{{ place }}"}
        ),
        template_id="survey",
        title="On {{ topic }}",
        description="For **surveys**.",
        parameters=[
            {"name": "topic", "description": "What of"},
            {"name": "place", "required": False, "default": "the library"},
        ],
        project="lab",
    )
    return create(harness, document)[0]


def at(name: str, template_id: str = "survey") -> str:
    return reverse(name, kwargs={"template_id": template_id})


# -- The list --------------------------------------------------------------------------------------


def test_the_list_shows_what_is_active_and_finds_words(web: Client, harness: Caller, survey: Any) -> None:
    create(harness, body(template_id="other", title="Something else: {{ topic }}"))
    archive_template(caller=harness, template_id="other")
    url = reverse("templates")
    assert "survey" in web.get(url).text
    assert "Something else" not in web.get(url).text
    assert "Something else" in web.get(url, {"status": "archived"}).text
    assert "Something else" in web.get(url, {"status": "all"}).text
    assert "On {{ topic }}" not in web.get(url, {"q": "nothing", "status": "all"}).text
    part = web.get(url, {"q": "surveys"}, headers={"HX-Request": "true", "HX-Target": "list"}).text
    assert "On {{ topic }}" in part
    assert "<html" not in part


def test_an_empty_list_says_where_templates_come_from(web: Client) -> None:
    assert "Save as template" in web.get(reverse("templates")).text


@pytest.mark.parametrize("how_many", [1, 5])
def test_the_list_costs_the_same_however_long(
    web: Client, harness: Caller, how_many: int, django_assert_max_num_queries: Any
) -> None:
    for _ in range(how_many):
        create(harness, body())
    web.get(reverse("templates"))
    plan_cache.clear()
    with django_assert_max_num_queries(26):
        web.get(reverse("templates"))


# -- One, and its preview --------------------------------------------------------------------------


def test_a_template_says_what_it_is(web: Client, survey: Any, harness: Caller) -> None:
    create_workflow_from_template(caller=harness, template_id="survey", parameters={"topic": "whales"})
    text = web.get(at("template")).text
    assert "1 workflow" in text
    assert 'Read <span class="hole">{{ topic }}</span>' in text
    assert 'value="the library"' in text
    assert "the library</dd>" in text, "a default is filled in already"
    assert "1 value is missing" in text
    assert "required and missing" not in text, "nobody is told off for a form not sent yet"


def test_a_preview_shows_the_plan_and_writes_nothing(web: Client, survey: Any) -> None:
    before = AuditEntry.objects.count()
    sent = {"do": "preview", "p.topic": "whales", "p.place": "the sea"}
    part = web.post(at("template"), sent, headers=HTMX)
    assert part.status_code == 200
    for text in ("On whales", "Read whales", "whales is read", "the sea</dd>"):
        assert text in part.text
    assert "<form" not in part.text
    whole = web.post(at("template"), sent).text
    assert 'value="whales"' in whole
    assert "Read whales" in whole
    assert (Workflow.objects.count(), AuditEntry.objects.count()) == (0, before)


def test_a_workflow_is_made_of_the_values(web: Client, survey: Any) -> None:
    answer = web.post(
        at("template"),
        {"do": "use", "p.topic": "two\r\nlines", "p.place": "", "title": " Mine ", "project": ""},
    )
    made = Workflow.objects.get()
    assert answer.status_code == 303
    assert answer["Location"] == reverse("workflow", kwargs={"workflow_id": made.workflow_id})
    assert (made.title, made.project, made.template_parameters) == (
        "Mine",
        "lab",
        {"topic": "two\nlines", "place": ""},
    )


def test_a_missing_value_is_told_at_its_field_and_the_rest_is_kept(web: Client, survey: Any) -> None:
    answer = web.post(at("template"), {"do": "use", "p.topic": " ", "p.place": "kept", "title": "Kept too"})
    assert answer.status_code == 422
    assert "required and missing" in answer.text
    assert 'value="kept"' in answer.text
    assert 'value="Kept too"' in answer.text
    assert not Workflow.objects.exists()


def test_a_policy_may_approve_what_is_made(web: Client, survey: Any, admin: Caller) -> None:
    update_workflow_approval_policy(
        caller=admin, rules=[{"id": "s", "match": 'workflow.template_id == "survey"', "auto_approve": True}]
    )
    web.post(at("template"), {"do": "use", "p.topic": "whales", "p.place": ""})
    assert Workflow.objects.get().status == "approved"


def test_a_viewer_reads_and_makes_nothing(web_as: Any, vic: User, survey: Any) -> None:
    viewer = web_as(vic)
    text = viewer.get(at("template")).text
    assert "takes a reviewer" in text
    assert 'name="p.topic"' not in text
    assert viewer.post(at("template"), {"do": "use", "p.topic": "x"}).status_code == 403
    assert not Workflow.objects.exists()


def test_an_archived_template_makes_nothing(web: Client, survey: Any, harness: Caller) -> None:
    archive_template(caller=harness, template_id="survey")
    assert "nothing is made from it any more" in web.get(at("template")).text
    assert web.post(at("template"), {"do": "use", "p.topic": "x"}).status_code == 404


def test_what_rest_would_refuse_is_refused(web: Client, survey: Any) -> None:
    for more in (
        {"p.topic": "nul \0"},
        {"p.topic": "x", "project": "two\nlines"},
        {"p.topic": "x", "workflow_id": "a b"},
    ):
        assert web.post(at("template"), {"do": "use"} | more).status_code == 422
    assert not Workflow.objects.exists()


# -- Out -------------------------------------------------------------------------------------------


def test_an_export_is_a_file_that_creates_the_same_template(web: Client, harness: Caller) -> None:
    create(harness, FULL | {"template_id": "a:b.c"})
    answer = web.get(at("template-export", "a:b.c"))
    assert answer["Content-Disposition"] == 'attachment; filename="a_b.c.template.json"'
    assert answer["Content-Type"] == "application/json"
    assert answer["X-Content-Type-Options"] == "nosniff"
    document = json.loads(answer.content)
    assert document == export_template(caller=harness, template_id="a:b.c")
    assert create(harness, document)[1] is False


def test_archiving_is_asked_first_and_says_what_it_means(web: Client, survey: Any) -> None:
    assert "can’t be taken back" in web.get(at("template-archive")).text
    assert WorkflowTemplate.objects.get().status == "active"
    assert web.post(at("template-archive"), {"reason": "old"}).status_code == 303
    assert WorkflowTemplate.objects.get().status == "archived"
    assert json.loads(AuditEntry.objects.get(event="template.archived").text)["detail"]["reason"] == "old"
    again = web.post(at("template-archive"), {"form": "archive", "reason": "twice"})
    assert again.status_code == 409
    assert "twice</textarea>" in again.text


def test_only_admins_delete_and_are_told_what_goes_and_stays(
    web: Client, web_as: Any, owner: User, harness: Caller, survey: Any
) -> None:
    create_workflow_from_template(caller=harness, template_id="survey", parameters={"topic": "whales"})
    assert web.post(at("template-delete")).status_code == 403
    admin = web_as(owner)
    text = admin.get(at("template-delete")).text
    assert "1 workflow that was made from it" in text
    assert "never used again" in text
    assert WorkflowTemplate.objects.exists()
    assert admin.post(at("template-delete"))["Location"] == reverse("templates")
    assert not WorkflowTemplate.objects.exists()
    assert Workflow.objects.exists()
    assert admin.get(at("template")).status_code == 404


# -- In: a file ------------------------------------------------------------------------------------


def test_a_file_is_imported_and_a_second_time_is_here_already(web: Client) -> None:
    url = reverse("template-import")
    text = json.dumps(body(template_id="survey"))
    assert web.post(url, {"file": SimpleUploadedFile("t.json", text.encode())})["Location"] == at("template")
    again = web.post(url, {"document": text}, follow=True)
    assert "It was here already" in again.text
    assert WorkflowTemplate.objects.count() == 1


@pytest.mark.parametrize(
    ("document", "told"),
    [
        ("", "nothing to import"),
        ("{", "not JSON"),
        ("[]", "is a JSON object"),
        (json.dumps(body(title="{{ other }}")), "undeclared"),
        (json.dumps(body() | {"extra": 1}), "unknown field"),
    ],
)
def test_a_file_that_is_no_template_is_refused_and_kept(web: Client, document: str, told: str) -> None:
    answer = web.post(reverse("template-import"), {"file": SimpleUploadedFile("t.json", document.encode())})
    assert answer.status_code == 422
    assert told in answer.text
    assert answer.context["document"] == document
    assert not WorkflowTemplate.objects.exists()


def test_another_text_under_the_same_id_is_refused(web: Client, survey: Any) -> None:
    answer = web.post(reverse("template-import"), {"document": json.dumps(body(template_id="survey"))})
    assert answer.status_code == 409
    assert "says something else" in answer.text


# -- In: a workflow --------------------------------------------------------------------------------


def test_a_workflow_becomes_a_template_with_its_texts_counted(web: Client, harness: Caller) -> None:
    made = new_draft(harness, task("a", goal="Train BERT", criteria=["BERT is trained"]), title="On BERT")
    url = f"{reverse('template-new')}?workflow={made['workflow_id']}"
    assert "Train BERT" in web.get(url).text
    sent = {"row.0.literal": "BERT", "row.0.name": "model", "row.0.description": "Which one"}
    part = web.post(url, sent | {"do": "preview"}, headers=HTMX).text
    assert "found 3 times" in part
    assert 'Train <span class="hole">{{ model }}</span>' in part
    assert not WorkflowTemplate.objects.exists()
    answer = web.post(url, sent | {"do": "save", "template_id": "train", "description": "For models"})
    assert answer["Location"] == at("template", "train")
    kept = export_template(caller=harness, template_id="train")
    assert kept["parameters"] == [
        {"name": "model", "description": "Which one", "required": False, "default": "BERT"}
    ]
    assert (kept["title"], kept["description"]) == ("On {{ model }}", "For models")


def test_rows_come_and_go_and_nothing_is_kept_before_it_is_said(web: Client, harness: Caller) -> None:
    made = new_draft(harness, task("a", goal="Train BERT"))
    url = f"{reverse('template-new')}?workflow={made['workflow_id']}"
    sent = {"row.0.literal": "BERT", "row.0.name": "model", "row.0.description": "", "title": "Kept"}
    answer = web.post(url, sent | {"do": "add-row"})
    assert [row.name for row in answer.context["rows"]] == ["model", ""]
    assert 'value="Kept"' in answer.text
    answer = web.post(url, sent | {"do": "drop-row:0"})
    assert [row.name for row in answer.context["rows"]] == [""]
    assert not WorkflowTemplate.objects.exists()


def test_a_text_that_stands_nowhere_is_told_and_refused(web: Client, harness: Caller) -> None:
    made = new_draft(harness, task("a", goal="Train BERT"))
    url = f"{reverse('template-new')}?workflow={made['workflow_id']}"
    sent = {"row.0.literal": "GPT", "row.0.name": "model", "row.0.description": ""}
    assert "stands nowhere" in web.post(url, sent | {"do": "preview"}).text
    answer = web.post(url, sent | {"do": "save"})
    assert answer.status_code == 422
    assert "GPT</textarea>" in answer.text


def test_a_placeholder_that_is_there_already_is_declared(web: Client, harness: Caller) -> None:
    made = new_draft(harness, task("a", goal="Train {{ model }}"))
    url = f"{reverse('template-new')}?workflow={made['workflow_id']}"
    assert "undeclared placeholder" in web.post(url, {"do": "preview"}).text
    sent = {"row.0.literal": "", "row.0.name": "model", "row.0.description": "", "template_id": "train"}
    assert web.post(url, sent | {"do": "save"}).status_code == 303
    assert export_template(caller=harness, template_id="train")["parameters"][0]["required"] is True


def test_without_a_workflow_it_says_where_to_begin(web: Client) -> None:
    assert "begins with a plan" in web.get(reverse("template-new")).text
    assert web.get(f"{reverse('template-new')}?workflow=nowhere").status_code == 404


def test_viewers_keep_and_import_nothing(web_as: Any, vic: User, harness: Caller) -> None:
    made = new_draft(harness, task("a", goal="Train BERT"))
    url = f"{reverse('template-new')}?workflow={made['workflow_id']}"
    viewer = web_as(vic)
    assert "takes a reviewer" in viewer.get(url).text
    assert "takes a reviewer" in viewer.get(reverse("template-import")).text
    assert viewer.post(url, {"do": "save"}).status_code == 403
    assert viewer.post(reverse("template-import"), {"document": json.dumps(body())}).status_code == 403
    assert not WorkflowTemplate.objects.exists()


def test_hostile_text_stays_text(web: Client, harness: Caller) -> None:
    evil = "</textarea><script>alert(1)</script>"
    document = body(
        task("a", goal=evil, criteria=[evil], inputs={"items": evil, evil: {"x": evil}}),
        template_id="evil",
        title=evil,
        description=evil,
        parameters=[{"name": "x", "description": evil, "default": evil}],
    )
    create(harness, document)
    for url in (
        reverse("templates"),
        at("template", "evil"),
        at("template-delete", "evil"),
        at("template-archive", "evil"),
    ):
        assert "<script>alert" not in web.get(url).text
