"""Contract 6 and 5: a workflow from a template, and the policy that may approve it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from chief_project.shared.caller import Caller
from chief_project.shared.errors import Conflict, Forbidden, NotFound, ValidationFailed
from chief_project.shared.models import AuditEntry, UsedId
from tests.plans import loop, task
from tests.services.test_template_creation import body, create
from workflows.models import Plan, Version, Workflow
from workflows.selectors.workflows import get_workflow
from workflows.services.archive_template import archive_template
from workflows.services.create_workflow_from_template import create_workflow_from_template
from workflows.services.update_workflow_approval_policy import update_workflow_approval_policy

pytestmark = pytest.mark.django_db

TEMPLATE = body(
    loop(
        "l",
        ["read"],
        goal="Cover {{ topic }}",
        exit_when="{{ topic }} is covered",
        instance_params=[{"name": "paper"}],
        group="g",
    ),
    task(
        "read",
        goal="Read {{ paper }} on {{topic}}",
        harness="{{ who }}",
        criteria=["{{ paper }} mentions {{ topic }}"],
        inputs={"deep": [{"topic": "{{ topic }}"}]},
    ),
    template_id="survey",
    title="On {{ topic }}",
    groups=[{"path": "g", "description": "All {{ topic }}"}],
    project="lab",
    parameters=[{"name": "topic"}, {"name": "who", "default": "any"}, {"name": "spare", "required": False}],
)


@pytest.fixture
def survey(harness: Caller) -> str:
    template_id: str = create(harness, TEMPLATE)[0]["template_id"]
    return template_id


def make(caller: Caller, parameters: dict[str, str] | None = None, **keys: Any) -> dict[str, Any]:
    return create_workflow_from_template(
        caller=caller,
        template_id="survey",
        parameters={"topic": "ants"} if parameters is None else parameters,
        **keys,
    )


def assert_no_workflow() -> None:
    assert not Workflow.objects.exists()
    assert Plan.objects.count() == 1
    assert not AuditEntry.objects.filter(event__startswith="workflow.").exists()
    assert not UsedId.objects.filter(kind="workflow").exists()


def test_the_plan_is_filled_in_and_branches_keep_their_placeholders(harness: Caller, survey: str) -> None:
    made = make(harness)
    assert made["title"] == "On ants"
    loop_step, read = made["steps"]
    assert loop_step["goal"] == "Cover ants"
    assert loop_step["exit_when"] == "ants is covered"
    assert read["goal"] == "Read {{ paper }} on ants"
    assert read["harness"] == "any"
    assert read["criteria"] == [{"id": "c1", "text": "{{ paper }} mentions ants"}]
    assert read["inputs"] == {"deep": [{"topic": "ants"}]}
    assert made["groups"] == [{"path": "g", "description": "All {{ topic }}"}]


def test_it_is_an_imported_draft_with_its_lineage(harness: Caller, survey: str) -> None:
    made = make(harness)
    assert made["workflow_id"].startswith("wf_")
    assert (made["status"], made["version"], made["revision"]) == ("draft", 1, 1)
    assert (made["source"], made["generated_by"]) == ("import", "template:survey")
    assert (made["project"], made["origin_dir"]) == ("lab", None)
    assert made["from_template"] == {
        "template_id": "survey",
        "template_version": 1,
        "parameters": {"topic": "ants", "who": "any", "spare": ""},
    }
    assert get_workflow(caller=harness, workflow_id=made["workflow_id"]) == made


def test_what_is_given_goes_before_the_template_s(harness: Caller, survey: str) -> None:
    made = make(
        harness,
        {"topic": "ants", "who": "claude"},
        workflow_id="mine",
        title="My {{ topic }}",
        project="home",
        origin_dir="/src",
    )
    assert made["workflow_id"] == "mine"
    assert made["title"] == "My {{ topic }}"
    assert (made["project"], made["origin_dir"]) == ("home", "/src")
    assert made["steps"][1]["harness"] == "claude"


def test_a_value_is_inserted_literally(harness: Caller, survey: str) -> None:
    made = make(harness, {"topic": r"{{ who }} \1 {{ paper }}"})
    assert made["title"] == r"On {{ who }} \1 {{ paper }}"


def test_missing_and_unknown_parameters_are_named_and_nothing_is_written(
    harness: Caller, survey: str
) -> None:
    with pytest.raises(ValidationFailed) as caught:
        make(harness, {"who": "any", "topics": "ants", "other": "x"})
    assert caught.value.details["missing"] == ["topic"]
    assert caught.value.details["unknown"] == ["topics", "other"]
    assert_no_workflow()


def test_the_filled_plan_is_judged_again(harness: Caller, survey: str) -> None:
    create(
        harness,
        body(
            task("a", goal="{{ x }}"),
            template_id="bare",
            title="t",
            parameters=[{"name": "x", "required": False}],
        ),
    )
    with pytest.raises(ValidationFailed, match="would be blank") as caught:
        create_workflow_from_template(caller=harness, template_id="bare", parameters={})
    assert caught.value.details["pointer"] == "/steps/0/goal"
    assert not Workflow.objects.exists()


def test_an_archived_template_makes_nothing(harness: Caller, survey: str) -> None:
    archive_template(caller=harness, template_id=survey)
    with pytest.raises(NotFound, match="archived"):
        make(harness)
    assert_no_workflow()


def test_an_unknown_template_makes_nothing(harness: Caller) -> None:
    with pytest.raises(NotFound, match="no template 'survey'"):
        make(harness)


def test_a_used_workflow_id_is_a_conflict(harness: Caller, survey: str) -> None:
    make(harness, workflow_id="mine")
    with pytest.raises(Conflict, match="mine"):
        make(harness, workflow_id="mine")
    assert Workflow.objects.count() == 1


def test_a_viewer_makes_nothing(viewer: Caller, survey: str) -> None:
    with pytest.raises(Forbidden, match="from a template"):
        make(viewer)
    assert_no_workflow()


def test_making_one_is_audited_with_the_lineage(harness: Caller, survey: str) -> None:
    made = make(harness)
    entry = AuditEntry.objects.get(event="workflow.created")
    assert entry.workflow_id == made["workflow_id"]
    assert json.loads(entry.text)["detail"]["from_template"] == made["from_template"]


# -- The policy --------------------------------------------------------------------------------------


def rule(match: str, approve: bool = True, **keys: Any) -> dict[str, Any]:
    return {"match": match, "auto_approve": approve} | keys


def test_a_matching_rule_approves_it_at_once(admin: Caller, harness: Caller, survey: str) -> None:
    update_workflow_approval_policy(
        caller=admin, rules=[rule("workflow.template_id == 'survey'", id="surveys")]
    )
    made = make(harness)
    assert made["status"] == "approved"
    assert made["version"] == 1
    assert made["review"] is None
    row = Workflow.objects.get()
    assert row.decided_by == "policy:surveys"
    assert get_workflow(caller=harness, workflow_id=made["workflow_id"]) == made
    version = Version.objects.get(workflow=row)
    assert (version.number, version.plan_id, version.by) == (1, row.plan_id, "policy:surveys")
    entries = AuditEntry.objects.filter(workflow_id=made["workflow_id"]).order_by("position")
    assert [entry.event for entry in entries] == ["workflow.created", "workflow.approved"]
    approved = json.loads(entries[1].text)
    assert approved["detail"]["decided_by"] == "policy:surveys"
    assert approved["actor"] == "planner"


def test_the_rule_reads_the_title_as_it_became(admin: Caller, harness: Caller, survey: str) -> None:
    rules = [rule("workflow.template_id == 'survey' && workflow.title == 'On ants'")]
    update_workflow_approval_policy(caller=admin, rules=rules)
    assert make(harness)["status"] == "approved"
    assert make(harness, {"topic": "bees"})["status"] == "draft"
    assert make(harness, {"topic": "bees"}, title="On ants")["status"] == "approved"


def test_the_first_rule_that_matches_decides(admin: Caller, harness: Caller, survey: str) -> None:
    rules = [rule("workflow.title == 'On ants'", approve=False), rule("workflow.template_id == 'survey'")]
    update_workflow_approval_policy(caller=admin, rules=rules)
    assert make(harness)["status"] == "draft"
    assert make(harness, {"topic": "bees"})["status"] == "approved"


def test_a_later_rule_decides_nothing_on_what_is_there(admin: Caller, harness: Caller, survey: str) -> None:
    made = make(harness)
    update_workflow_approval_policy(caller=admin, rules=[rule("workflow.template_id == 'survey'")])
    assert get_workflow(caller=harness, workflow_id=made["workflow_id"])["status"] == "draft"
