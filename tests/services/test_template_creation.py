"""Contract 6: creating, exporting and listing templates."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from typing import Any

import pytest
from django.db import connection

from chief_project.shared.caller import Caller
from chief_project.shared.errors import Conflict, Forbidden, NotFound, ValidationFailed
from chief_project.shared.models import AuditEntry, UsedId
from chief_project.shared.paging import Paging
from chief_project.shared.serializers import parse_document
from tests.plans import checkpoint, loop, parallel, task
from workflows.documents_templates import TemplateCreate
from workflows.models import Plan, WorkflowTemplate
from workflows.selectors.templates import export_template, get_template, list_templates
from workflows.services.create_template import create_template
from workflows.services.delete_template import delete_template

pytestmark = pytest.mark.django_db


def body(*steps: dict[str, Any], **keys: Any) -> dict[str, Any]:
    documents = list(steps) or [task("read", goal="Read {{ topic }}"), task("write", depends_on=["read"])]
    return {"title": "On {{ topic }}", "parameters": [{"name": "topic"}], "steps": documents} | keys


def create(caller: Caller, document: dict[str, Any]) -> tuple[dict[str, Any], bool]:
    parsed = parse_document(TemplateCreate, document)
    return create_template(caller=caller, content=parsed.content(), template_id=parsed.template_id)


FULL = body(
    loop(
        "l", ["read"], exit_when="{{ topic }} is exhausted", group="a/b", instance_params=[{"name": "paper"}]
    ),
    task(
        "read",
        goal="Read {{ paper }} on {{ topic }}",
        criteria=["it says {{ topic }}", {"id": "mine", "text": "two"}],
        inputs={
            "z": [1, {"a": "{{ topic }}"}],
            "a": 1.5,
            "big": 12345678901234567890,
            "no": None,
            "yes": True,
        },
        outputs={"o": "note"},
    ),
    checkpoint("look", depends_on=["l"], fields=[{"name": "why"}]),
    template_id="survey",
    description="A survey",
    groups=[{"path": "a", "description": "All"}],
    project="lab",
    parameters=[{"name": "topic", "description": "What of", "required": False, "default": "x"}],
)


def assert_nothing_written() -> None:
    assert not WorkflowTemplate.objects.exists()
    assert not Plan.objects.exists()
    assert not AuditEntry.objects.filter(event__startswith="template.").exists()
    assert not UsedId.objects.filter(kind="template").exists()


def test_a_template_comes_back_in_the_contract_s_shape(harness: Caller) -> None:
    document, new = create(harness, body())
    assert new
    assert document["template_id"].startswith("tpl_")
    assert isinstance(document.pop("created_at"), datetime)
    assert isinstance(document.pop("updated_at"), datetime)
    steps = document.pop("steps")
    assert [step["id"] for step in steps] == ["read", "write"]
    assert steps[0]["goal"] == "Read {{ topic }}"
    document.pop("template_id")
    assert document == {
        "title": "On {{ topic }}",
        "description": "",
        "parameters": [{"name": "topic", "description": None, "required": True, "default": None}],
        "groups": [],
        "project": None,
        "status": "active",
        "version": 1,
        "derived_from_workflow_id": None,
    }


def test_creation_is_audited_outside_any_workflow(harness: Caller) -> None:
    document, _ = create(harness, FULL)
    entry = AuditEntry.objects.get(event="template.created")
    assert (entry.stream, entry.workflow_id, entry.actor) == ("rest", None, "planner")
    assert f'"template_id":"{document["template_id"]}"' in entry.text


def test_the_plan_keeps_the_plan_rules(harness: Caller) -> None:
    with pytest.raises(ValidationFailed, match="unknown step") as caught:
        create(harness, body(task("a", depends_on=["{{ topic }}"])))
    assert caught.value.details["pointer"] == "/steps/0/depends_on/0"
    assert_nothing_written()


def test_an_id_can_t_hold_a_placeholder(harness: Caller) -> None:
    with pytest.raises(ValidationFailed) as caught:
        create(harness, body(task("{{ topic }}")))
    assert caught.value.details["pointer"] == "/steps/0/id"


def test_an_undeclared_placeholder_writes_nothing(harness: Caller) -> None:
    with pytest.raises(ValidationFailed, match="undeclared") as caught:
        create(harness, body(parameters=[]))
    assert caught.value.details["undeclared"] == ["topic"]
    assert_nothing_written()


def test_the_same_parameter_twice_writes_nothing(harness: Caller) -> None:
    with pytest.raises(ValidationFailed, match="same parameter twice"):
        create(harness, body(parameters=[{"name": "topic"}, {"name": "topic"}]))
    assert_nothing_written()


def test_a_name_with_two_meanings_writes_nothing(harness: Caller) -> None:
    steps = [parallel("p", ["a"], instance_params=[{"name": "topic"}]), task("a")]
    with pytest.raises(ValidationFailed, match="cannot mean both"):
        create(harness, body(*steps))
    assert_nothing_written()


def test_a_viewer_creates_nothing(viewer: Caller) -> None:
    with pytest.raises(Forbidden, match="create a template"):
        create(viewer, body())
    assert_nothing_written()


def test_equal_content_under_a_used_id_is_the_template_that_has_it(harness: Caller, reviewer: Caller) -> None:
    first, _ = create(harness, FULL)
    again = dict(reversed(FULL.items()))
    again["steps"] = [
        dict(reversed(step.items())) | {"depends_on": step.get("depends_on", [])} for step in FULL["steps"]
    ]
    again["steps"][1]["criteria"] = ["it says {{ topic }}", "two"]
    second, new = create(reviewer, again)
    assert not new
    assert second == first
    assert AuditEntry.objects.filter(event="template.created").count() == 1
    assert Plan.objects.count() == 1


@pytest.mark.parametrize(
    "change",
    [
        {"title": "Else"},
        {"description": "Else"},
        {"project": None},
        {"groups": []},
        {"parameters": [{"name": "topic", "description": "What of", "default": "x"}]},
        {"steps": [*FULL["steps"][:2], checkpoint("look", fields=[{"name": "why"}])]},
    ],
)
def test_other_content_under_a_used_id_is_a_conflict(harness: Caller, change: dict[str, Any]) -> None:
    create(harness, FULL)
    with pytest.raises(Conflict, match="says something else") as caught:
        create(harness, FULL | change)
    assert caught.value.details["pointer"] == "/template_id"
    assert WorkflowTemplate.objects.count() == 1


def test_a_deleted_template_s_id_is_never_used_again(harness: Caller, admin: Caller) -> None:
    create(harness, FULL)
    delete_template(caller=admin, template_id="survey")
    with pytest.raises(Conflict, match="never used again"):
        create(harness, FULL)


def test_without_an_id_equal_content_is_another_template(harness: Caller) -> None:
    one, _ = create(harness, body())
    other, new = create(harness, body())
    assert new
    assert one["template_id"] != other["template_id"]


def test_an_export_is_the_body_that_creates_the_template(harness: Caller) -> None:
    created, _ = create(harness, FULL)
    exported = export_template(caller=harness, template_id="survey")
    again, new = create(harness, exported)
    assert not new
    assert again == created
    _copy, new = create(harness, exported | {"template_id": "copy"})
    assert new
    assert export_template(caller=harness, template_id="copy") == exported | {"template_id": "copy"}


def test_inputs_come_back_as_they_were_sent(harness: Caller) -> None:
    create(harness, FULL)
    found = get_template(caller=harness, template_id="survey")
    assert found["steps"][1]["inputs"] == FULL["steps"][1]["inputs"]


def test_what_isn_t_there_is_not_found(harness: Caller) -> None:
    for read in (get_template, export_template):
        with pytest.raises(NotFound, match="no template 'nope'"):
            read(caller=harness, template_id="nope")


def test_lists_are_newest_first(viewer: Caller, harness: Caller) -> None:
    ids = [create(harness, body())[0]["template_id"] for _ in range(3)]
    page = list_templates(caller=viewer, paging=Paging(limit=2))
    assert [row["template_id"] for row in page.rows] == ids[:0:-1]
    rest = list_templates(caller=viewer, paging=Paging(limit=2, cursor=page.next_cursor))
    assert [row["template_id"] for row in rest.rows] == ids[:1]


def test_templates_are_found_by_the_beginnings_of_words(harness: Caller, viewer: Caller) -> None:
    create(harness, FULL)
    create(
        harness,
        body(task("a", goal="Count the anthills"), title="Insects", parameters=[], template_id="bugs"),
    )
    for q, expected in (
        ("anth", ["bugs"]),
        ("insec count", ["bugs"]),
        ("surv", ["survey"]),
        ("hills", []),
        ("", ["bugs", "survey"]),
    ):
        page = list_templates(caller=viewer, paging=Paging(), q=q)
        assert [row["template_id"] for row in page.rows] == expected, q
        assert page.total == len(expected)


def test_what_is_found_may_be_narrowed_to_a_status(harness: Caller) -> None:
    create(harness, FULL)
    assert not list_templates(caller=harness, paging=Paging(), q="survey", status="archived").rows


@pytest.mark.django_db(transaction=True)
def test_twins_that_race_are_one_template(harness: Caller) -> None:
    def post(_: int) -> bool:
        try:
            return create(harness, FULL)[1]
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as pool:
        assert sorted(pool.map(post, range(4))) == [False, False, False, True]
    assert WorkflowTemplate.objects.count() == 1
    assert Plan.objects.count() == 1
