"""Contract 6: a template from a workflow's plan."""

from __future__ import annotations

import json
from typing import Any

import pytest

from chief_project.shared.caller import Caller
from chief_project.shared.errors import Conflict, Forbidden, NotFound, ValidationFailed
from chief_project.shared.models import AuditEntry
from chief_project.shared.serializers import parse_document
from tests.plans import parallel, task
from workflows.documents import GroupDocument, StepDocument, plan_value
from workflows.domain.templates import Parameter
from workflows.models import WorkflowTemplate
from workflows.selectors.templates import get_template
from workflows.selectors.workflows import get_workflow
from workflows.services.create_template_from_workflow import create_template_from_workflow
from workflows.services.create_workflow import create_workflow
from workflows.services.create_workflow_from_template import create_workflow_from_template

pytestmark = pytest.mark.django_db

STEPS = [
    parallel("p", ["read"], goal="Spread BERT", instance_params=[{"name": "paper"}], group="g"),
    task(
        "read",
        goal="Read {{ paper }} on BERT-large",
        criteria=["BERT is named"],
        inputs={"BERT": ["BERT", 2]},
    ),
    task("write", depends_on=["p"], harness="BERT"),
]


@pytest.fixture
def survey(harness: Caller) -> str:
    plan = plan_value(
        [parse_document(StepDocument, step) for step in STEPS],
        [parse_document(GroupDocument, {"path": "g", "description": "All"})],
    )
    made = create_workflow(
        caller=harness,
        title="On BERT",
        source="generated",
        plan=plan,
        workflow_id="wf-1",
        project="lab",
        origin_dir="/x",
    )
    workflow_id: str = made["workflow_id"]
    return workflow_id


def save(caller: Caller, substitutions: dict[str, str], **keys: Any) -> tuple[dict[str, Any], bool]:
    return create_template_from_workflow(
        caller=caller, workflow_id="wf-1", substitutions=substitutions, **keys
    )


def test_literals_become_parameters_defaulting_to_them(harness: Caller, survey: str) -> None:
    made, new = save(harness, {"BERT": "model", "BERT-large": "size"})
    assert new
    assert made["title"] == "On {{ model }}"
    assert made["steps"][0]["goal"] == "Spread {{ model }}"
    assert made["steps"][1]["goal"] == "Read {{ paper }} on {{ size }}"
    assert made["steps"][1]["criteria"] == [{"id": "c1", "text": "{{ model }} is named"}]
    assert made["steps"][1]["inputs"] == {"BERT": ["{{ model }}", 2]}
    assert made["steps"][2]["harness"] == "{{ model }}"
    assert made["parameters"] == [
        {"name": "model", "description": None, "required": False, "default": "BERT"},
        {"name": "size", "description": None, "required": False, "default": "BERT-large"},
    ]
    assert made["groups"] == [{"path": "g", "description": "All"}]
    assert (made["project"], made["derived_from_workflow_id"], made["status"]) == ("lab", survey, "active")
    assert get_template(caller=harness, template_id=made["template_id"]) == made


def test_filling_it_without_values_gives_the_plan_back(harness: Caller, survey: str) -> None:
    made, _ = save(harness, {"BERT": "model", "BERT-large": "size"})
    again = create_workflow_from_template(caller=harness, template_id=made["template_id"], parameters={})
    former = get_workflow(caller=harness, workflow_id=survey)
    for key in ("title", "steps", "groups", "project"):
        assert again[key] == former[key]


def test_what_is_given_goes_before_the_workflow_s(harness: Caller, survey: str) -> None:
    made, _ = save(
        harness,
        {"BERT": "model"},
        template_id="survey",
        title="BERT or {{ model }}",
        description="For {{ anything }}",
        project="home",
        parameters=[Parameter("model", "Which one")],
    )
    assert made["template_id"] == "survey"
    assert (made["title"], made["description"]) == ("BERT or {{ model }}", "For {{ anything }}")
    assert made["project"] == "home"
    assert made["parameters"] == [
        {"name": "model", "description": "Which one", "required": True, "default": "BERT"}
    ]


def test_without_literals_it_has_no_parameters(harness: Caller, survey: str) -> None:
    made, _ = save(harness, {})
    assert made["parameters"] == []
    assert made["steps"] == get_workflow(caller=harness, workflow_id=survey)["steps"]


@pytest.mark.parametrize(
    ("substitutions", "phrase"),
    [
        ({"BERT": "model", "GPT": "other"}, "'GPT' is unused"),
        ({"BERT": "model", " ": "blank"}, "' ' is blank"),
        ({"BERT": "Model"}, "can't name a parameter"),
        ({"BERT": "x", "On": "x"}, "same parameter twice"),
        ({"BERT": "paper"}, "cannot mean both"),
    ],
)
def test_a_substitution_that_can_t_be_is_refused_and_nothing_is_written(
    harness: Caller, survey: str, substitutions: dict[str, str], phrase: str
) -> None:
    with pytest.raises(ValidationFailed, match=phrase):
        save(harness, substitutions)
    assert not WorkflowTemplate.objects.exists()
    assert not AuditEntry.objects.filter(event="template.created").exists()


def test_text_of_the_plan_that_looks_like_a_placeholder_is_refused(harness: Caller) -> None:
    plan = plan_value([parse_document(StepDocument, task("a", goal="Render {{ user }}"))], [])
    create_workflow(caller=harness, title="BERT", source="human", plan=plan, workflow_id="wf-1")
    with pytest.raises(ValidationFailed, match="undeclared") as caught:
        save(harness, {"BERT": "user"})
    assert caught.value.details["undeclared"] == ["user"]
    assert not WorkflowTemplate.objects.exists()
    made, _ = save(harness, {"BERT": "model"}, parameters=[Parameter("user")])
    assert [parameter["name"] for parameter in made["parameters"]] == ["model", "user"]


def test_a_used_id_is_the_same_template_or_a_conflict(harness: Caller, survey: str) -> None:
    first, _ = save(harness, {"BERT": "model"}, template_id="survey")
    again, new = save(harness, {"BERT": "model"}, template_id="survey")
    assert not new
    assert again == first
    with pytest.raises(Conflict, match="says something else"):
        save(harness, {"BERT": "other"}, template_id="survey")


def test_saving_one_is_audited_beside_its_workflow(harness: Caller, survey: str) -> None:
    made, _ = save(harness, {"BERT": "model"})
    entry = AuditEntry.objects.get(event="template.created")
    assert (entry.workflow_id, entry.stream) == (survey, f"workflow:{survey}")
    detail = json.loads(entry.text)["detail"]
    assert detail["template_id"] == made["template_id"]
    assert detail["parameters"] == ["model"]


def test_the_workflow_stays_as_it_was(harness: Caller, survey: str) -> None:
    before = get_workflow(caller=harness, workflow_id=survey)
    save(harness, {"BERT": "model"})
    assert get_workflow(caller=harness, workflow_id=survey) == before


def test_an_unknown_workflow_is_not_found(harness: Caller) -> None:
    with pytest.raises(NotFound, match="no workflow 'wf-1'"):
        save(harness, {})


def test_a_viewer_saves_nothing(viewer: Caller, survey: str) -> None:
    with pytest.raises(Forbidden, match="as a template"):
        save(viewer, {"BERT": "model"})
    assert not WorkflowTemplate.objects.exists()
