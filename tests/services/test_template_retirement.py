"""Contract 6: archiving and deleting templates."""

from __future__ import annotations

import json

import pytest

from chief_project.shared.caller import Caller
from chief_project.shared.errors import Forbidden, InvalidTransition, NotFound
from chief_project.shared.models import AuditEntry
from chief_project.shared.paging import Paging
from tests.plans import loop, task
from tests.services.test_template_creation import body, create
from workflows.models import Plan, Step, WorkflowTemplate
from workflows.selectors.templates import get_template, list_templates
from workflows.selectors.workflows import get_workflow
from workflows.services.archive_template import archive_template
from workflows.services.create_workflow_from_template import create_workflow_from_template
from workflows.services.delete_template import delete_template

pytestmark = pytest.mark.django_db


@pytest.fixture
def survey(harness: Caller) -> str:
    document, _ = create(
        harness, body(loop("l", ["read"]), task("read", goal="Read {{ topic }}"), template_id="survey")
    )
    template_id: str = document["template_id"]
    return template_id


def test_an_archived_template_can_be_read_and_found(harness: Caller, viewer: Caller, survey: str) -> None:
    other, _ = create(harness, body())
    before = get_template(caller=viewer, template_id=survey)
    after = archive_template(caller=harness, template_id=survey, reason="superseded")
    assert after == get_template(caller=viewer, template_id=survey)
    assert after == before | {"status": "archived", "updated_at": after["updated_at"]}
    for status, expected in (("archived", survey), ("active", other["template_id"])):
        rows = list_templates(caller=viewer, paging=Paging(), status=status).rows
        assert [row["template_id"] for row in rows] == [expected]


def test_archiving_is_audited_with_who_decided(harness: Caller, reviewer: Caller, survey: str) -> None:
    other, _ = create(harness, body())
    archive_template(caller=harness, template_id=survey, decided_by="Ann", reason="old")
    archive_template(caller=reviewer, template_id=other["template_id"], decided_by="Ann")
    said = [
        json.loads(entry.text)
        for entry in AuditEntry.objects.filter(event="template.archived").order_by("id")
    ]
    assert [(each["actor"], each["detail"]["decided_by"]) for each in said] == [
        ("planner", "Ann"),
        ("rita", "rita"),
    ]
    assert said[0]["detail"]["template_id"] == survey
    assert said[0]["detail"]["reason"] == "old"


def test_archiving_twice_is_refused(harness: Caller, survey: str) -> None:
    archive_template(caller=harness, template_id=survey)
    with pytest.raises(InvalidTransition, match="archived already"):
        archive_template(caller=harness, template_id=survey)
    assert AuditEntry.objects.filter(event="template.archived").count() == 1


def test_a_viewer_archives_nothing(viewer: Caller, survey: str) -> None:
    with pytest.raises(Forbidden, match="archive a template"):
        archive_template(caller=viewer, template_id=survey)
    assert get_template(caller=viewer, template_id=survey)["status"] == "active"


def test_what_isn_t_there_can_t_be_archived_or_deleted(harness: Caller, admin: Caller) -> None:
    with pytest.raises(NotFound, match="no template 'nope'"):
        archive_template(caller=harness, template_id="nope")
    with pytest.raises(NotFound, match="no template 'nope'"):
        delete_template(caller=admin, template_id="nope")


def test_a_deleted_template_is_gone_with_its_plan_and_its_workflows_stay(
    admin: Caller, harness: Caller, survey: str
) -> None:
    made = create_workflow_from_template(caller=harness, template_id=survey, parameters={"topic": "ants"})
    answer = delete_template(caller=admin, template_id=survey)
    assert answer == {"template_id": survey, "title": "On {{ topic }}"}
    assert not WorkflowTemplate.objects.exists()
    assert Plan.objects.count() == 1
    assert Step.objects.count() == 2
    assert not list_templates(caller=harness, paging=Paging(), q="topic").rows
    kept = get_workflow(caller=harness, workflow_id=made["workflow_id"])
    assert kept["from_template"]["template_id"] == survey
    assert kept["steps"] == made["steps"]


def test_the_audit_of_a_deletion_says_what_it_was(admin: Caller, survey: str) -> None:
    delete_template(caller=admin, template_id=survey)
    entry = AuditEntry.objects.get(event="template.deleted")
    assert (entry.stream, entry.actor) == ("rest", "owner")
    detail = json.loads(entry.text)["detail"]
    assert detail["template_id"] == survey
    assert detail["title"] == "On {{ topic }}"
    assert detail["status"] == "active"


def test_only_an_admin_deletes(
    harness: Caller, relay: Caller, reviewer: Caller, viewer: Caller, survey: str
) -> None:
    for caller in (harness, relay, reviewer, viewer):
        with pytest.raises(Forbidden, match="delete a template"):
            delete_template(caller=caller, template_id=survey)
    assert WorkflowTemplate.objects.count() == 1
    assert not AuditEntry.objects.filter(event="template.deleted").exists()


def test_nobody_deletes_over_mcp(admin: Caller, survey: str) -> None:
    agent = Caller(actor="owner", role=admin.role, via="mcp", user_id=admin.user_id, relay=True)
    with pytest.raises(Forbidden):
        delete_template(caller=agent, template_id=survey)
    assert WorkflowTemplate.objects.count() == 1
