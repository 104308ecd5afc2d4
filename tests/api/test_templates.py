"""Contract 6 over REST: bodies, statuses, refusals and lists."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from rest_framework.test import APIClient

from chief_project.shared.caller import Caller
from chief_project.shared.models import KeptAnswer
from tests.plans import parallel, task
from workflows.documents import WorkflowDocument
from workflows.documents_templates import TemplateDocument
from workflows.models import Workflow, WorkflowTemplate
from workflows.services.update_workflow_approval_policy import update_workflow_approval_policy

pytestmark = pytest.mark.django_db

ApiAs = Callable[..., APIClient]
SURVEY: dict[str, Any] = {
    "template_id": "survey",
    "title": "On {{ topic }}",
    "parameters": [{"name": "topic"}],
    "steps": [
        parallel("p", ["read"], instance_params=[{"name": "paper"}]),
        task("read", goal="Read {{ paper }} on {{ topic }}"),
    ],
}
KEYS = {
    "template_id",
    "title",
    "description",
    "parameters",
    "steps",
    "groups",
    "project",
    "status",
    "version",
    "derived_from_workflow_id",
    "created_at",
    "updated_at",
}


@pytest.fixture
def api(api_as: ApiAs, harness_token: str) -> APIClient:
    return api_as(harness_token)


@pytest.fixture
def survey(api: APIClient) -> dict[str, Any]:
    answer = api.post("/v1/templates", SURVEY)
    assert answer.status_code == 201, answer.json()
    document: dict[str, Any] = answer.json()
    return document


def error(answer: Any, status: int, code: str) -> dict[str, Any]:
    assert answer.status_code == status, answer.content
    found: dict[str, Any] = answer.json()["error"]
    assert found["code"] == code
    return found


def test_a_template_is_created_and_read(api: APIClient, survey: dict[str, Any]) -> None:
    assert set(survey) == KEYS
    assert survey["created_at"].endswith("Z")
    answer = api.get("/v1/templates/survey")
    assert answer.status_code == 200
    TemplateDocument.model_validate_json(answer.content)
    assert answer.json() == survey


def test_equal_content_is_200_and_other_content_409(api: APIClient, survey: dict[str, Any]) -> None:
    answer = api.post("/v1/templates", dict(reversed(SURVEY.items())))
    assert answer.status_code == 200
    assert answer.json() == survey
    found = error(api.post("/v1/templates", SURVEY | {"title": "Else"}), 409, "conflict")
    assert found["details"]["pointer"] == "/template_id"


def test_an_export_is_the_body_that_creates_it(api: APIClient, survey: dict[str, Any]) -> None:
    exported = api.get("/v1/templates/survey/export")
    assert exported.status_code == 200
    assert set(exported.json()) == KEYS - {
        "status",
        "version",
        "derived_from_workflow_id",
        "created_at",
        "updated_at",
    }
    again = api.post("/v1/templates", exported.json())
    assert again.status_code == 200
    assert again.json() == survey


@pytest.mark.parametrize(
    ("change", "pointer", "phrase"),
    [
        ({"status": "active"}, "/status", "unknown field"),
        ({"version": 1}, "/version", "unknown field"),
        ({"created_at": "2026-01-01T00:00:00.000Z"}, "/created_at", "unknown field"),
        ({"title": " "}, "/title", "blank"),
        ({"steps": []}, "/steps", "at least one step"),
        ({"steps": None}, "/steps", "must be an array"),
        ({"template_id": "a/b"}, "/template_id", "ASCII"),
        ({"parameters": [{"name": "Topic"}]}, "/parameters/0/name", "can't name a parameter"),
        (
            {"parameters": [{"name": "topic"}, {"name": "topic"}]},
            "/parameters/1/name",
            "same parameter twice",
        ),
        ({"parameters": [{"name": "topic", "default": 1}]}, "/parameters/0/default", "must be a text"),
        ({"parameters": [{"name": "topic", "type": "x"}]}, "/parameters/0/type", "unknown field"),
        ({"parameters": []}, "/title", "undeclared placeholder"),
        (
            {"parameters": [{"name": "topic"}, {"name": "paper"}]},
            "/steps/0/instance_params/0/name",
            "cannot mean both",
        ),
        ({"project": ""}, "/project", "blank"),
    ],
)
def test_a_body_that_can_t_be_is_422_with_its_place(
    api: APIClient, change: dict[str, Any], pointer: str, phrase: str
) -> None:
    found = error(api.post("/v1/templates", SURVEY | change), 422, "validation_failed")
    assert found["details"]["pointer"] == pointer
    assert phrase in found["message"]
    assert not WorkflowTemplate.objects.exists()


def test_undeclared_placeholders_are_listed(api: APIClient) -> None:
    steps = [*SURVEY["steps"], task("cite", goal="Cite {{ paper }} for {{ venue }}")]
    found = error(api.post("/v1/templates", SURVEY | {"steps": steps}), 422, "validation_failed")
    assert found["details"]["undeclared"] == ["paper", "venue"]


def test_lists_page_filter_and_search(api: APIClient, survey: dict[str, Any]) -> None:
    api.post("/v1/templates", SURVEY | {"template_id": "other", "title": "Other {{ topic }}"})
    api.post("/v1/templates/survey/archive")
    page = api.get("/v1/templates?limit=1")
    assert [row["template_id"] for row in page.json()] == ["other"]
    assert page["X-Total-Count"] == "2"
    assert 'rel="next"' in page["Link"]
    for query, expected in (
        ("", ["other", "survey"]),
        ("?status=active", ["other"]),
        ("?status=archived", ["survey"]),
        ("?q=", ["other", "survey"]),
        ("?q=oth", ["other"]),
        ("?q=read", ["other", "survey"]),
        ("?q=oth&status=archived", []),
    ):
        assert [row["template_id"] for row in api.get(f"/v1/templates{query}").json()] == expected, query
    error(api.get("/v1/templates?status=draft"), 422, "validation_failed")
    error(api.get("/v1/templates?colour=red"), 422, "validation_failed")


def test_archiving_takes_no_body_or_who_and_why(api: APIClient, survey: dict[str, Any]) -> None:
    error(api.post("/v1/templates/survey/archive", {"why": "x"}), 422, "validation_failed")
    answer = api.post("/v1/templates/survey/archive", {"decided_by": "Ann", "reason": None})
    assert answer.status_code == 200
    assert answer.json()["status"] == "archived"
    error(api.post("/v1/templates/survey/archive"), 409, "invalid_transition")
    error(api.post("/v1/templates/survey/workflows", {"parameters": {"topic": "x"}}), 404, "not_found")


def test_deleting_is_for_admins(api: APIClient, api_as: ApiAs, admin: Caller, survey: dict[str, Any]) -> None:
    error(api.delete("/v1/templates/survey"), 403, "forbidden")
    answer = api_as(admin).delete("/v1/templates/survey")
    assert answer.status_code == 200
    assert answer.json() == {"template_id": "survey", "title": "On {{ topic }}"}
    error(api.get("/v1/templates/survey"), 404, "not_found")
    error(api.post("/v1/templates", SURVEY), 409, "conflict")


def test_a_workflow_is_made_from_it(api: APIClient, survey: dict[str, Any]) -> None:
    body = {"parameters": {"topic": "ants"}, "workflow_id": "mine", "project": "lab", "origin_dir": "/src"}
    answer = api.post("/v1/templates/survey/workflows", body)
    assert answer.status_code == 201, answer.json()
    assert answer["Location"] == "/v1/workflows/mine"
    WorkflowDocument.model_validate_json(answer.content)
    made = answer.json()
    assert (made["workflow_id"], made["title"], made["status"]) == ("mine", "On ants", "draft")
    assert (made["source"], made["generated_by"]) == ("import", "template:survey")
    assert made["from_template"] == {
        "template_id": "survey",
        "template_version": 1,
        "parameters": {"topic": "ants"},
    }
    assert made["steps"][1]["goal"] == "Read {{ paper }} on ants"
    error(api.post("/v1/templates/survey/workflows", body), 409, "conflict")


def test_a_policy_may_approve_it(api: APIClient, admin: Caller, survey: dict[str, Any]) -> None:
    rules = [{"match": "workflow.template_id == 'survey'", "auto_approve": True}]
    update_workflow_approval_policy(caller=admin, rules=rules)
    answer = api.post("/v1/templates/survey/workflows", {"parameters": {"topic": "ants"}})
    assert answer.status_code == 201
    assert answer.json()["status"] == "approved"


@pytest.mark.parametrize(
    ("body", "details"),
    [
        ({}, {"missing": ["topic"]}),
        ({"parameters": {"topic": ""}}, {"missing": ["topic"]}),
        ({"parameters": {"topic": "x", "b": "y"}}, {"unknown": ["b"]}),
        ({"parameters": {"b": "y"}}, {"missing": ["topic"], "unknown": ["b"]}),
        ({"parameters": {"topic": 1}}, {"pointer": "/parameters/topic"}),
        ({"parameters": {"topic": None}}, {"pointer": "/parameters/topic"}),
        ({"parameters": {"topic": "x"}, "title": " "}, {"pointer": "/title"}),
        ({"parameters": {"topic": "x"}, "source": "human"}, {"pointer": "/source"}),
    ],
)
def test_parameters_that_don_t_fit_are_422(
    api: APIClient, survey: dict[str, Any], body: dict[str, Any], details: dict[str, Any]
) -> None:
    found = error(api.post("/v1/templates/survey/workflows", body), 422, "validation_failed")
    assert details.items() <= found["details"].items()
    assert not Workflow.objects.exists()


def test_a_workflow_becomes_a_template(api: APIClient, survey: dict[str, Any]) -> None:
    api.post("/v1/templates/survey/workflows", {"parameters": {"topic": "ants"}, "workflow_id": "mine"})
    body = {"template_id": "again", "description": "d", "substitutions": {"ants": "insect"}}
    answer = api.post("/v1/workflows/mine/template", body)
    assert answer.status_code == 201, answer.json()
    made = answer.json()
    assert answer["Location"] == "/v1/templates/again"
    assert set(made) == KEYS
    assert made["title"] == "On {{ insect }}"
    assert made["parameters"] == [
        {"name": "insect", "description": None, "required": False, "default": "ants"}
    ]
    assert made["derived_from_workflow_id"] == "mine"
    assert api.post("/v1/workflows/mine/template", body).status_code == 200


@pytest.mark.parametrize(
    ("body", "details"),
    [
        ({"substitutions": {"wasps": "insect"}}, {"unused": ["wasps"], "pointer": "/substitutions/wasps"}),
        ({"substitutions": {"": "insect"}}, {"pointer": "/substitutions/"}),
        ({"substitutions": {"ants": "In"}}, {"pointer": "/substitutions/ants"}),
        ({"substitutions": {"ants": 1}}, {"pointer": "/substitutions/ants"}),
        (
            {"substitutions": {"ants": "insect"}, "title": "{{ x }}"},
            {"undeclared": ["x"], "pointer": "/title"},
        ),
        ({"substitutions": {"ants": "insect"}, "steps": []}, {"pointer": "/steps"}),
    ],
)
def test_substitutions_that_don_t_fit_are_422(
    api: APIClient, survey: dict[str, Any], body: dict[str, Any], details: dict[str, Any]
) -> None:
    api.post("/v1/templates/survey/workflows", {"parameters": {"topic": "ants"}, "workflow_id": "mine"})
    found = error(api.post("/v1/workflows/mine/template", body), 422, "validation_failed")
    assert details.items() <= found["details"].items()
    assert WorkflowTemplate.objects.count() == 1


def test_what_isn_t_there_is_404(api: APIClient, api_as: ApiAs, admin: Caller) -> None:
    for path in ("/v1/templates/nope", "/v1/templates/nope/export"):
        error(api.get(path), 404, "not_found")
    for path in ("/v1/templates/nope/archive", "/v1/templates/nope/workflows", "/v1/workflows/nope/template"):
        error(api.post(path, {}), 404, "not_found")
    error(api_as(admin).delete("/v1/templates/nope"), 404, "not_found")


def test_an_idempotency_key_makes_one_workflow(api: APIClient, survey: dict[str, Any]) -> None:
    body = {"parameters": {"topic": "ants"}}
    first, second = (
        api.post("/v1/templates/survey/workflows", body, HTTP_IDEMPOTENCY_KEY="k") for _ in range(2)
    )
    assert (first.status_code, second.status_code) == (201, 201)
    assert second["Idempotency-Replayed"] == "true"
    assert Workflow.objects.count() == 1
    error(api.post("/v1/templates/survey/workflows", {}, HTTP_IDEMPOTENCY_KEY="l"), 422, "validation_failed")
    assert KeptAnswer.objects.count() == 1


def test_a_used_id_with_a_key_keeps_its_refusal_out(api: APIClient, survey: dict[str, Any]) -> None:
    """The operation runs inside the key's transaction: a refusal must leave it usable and write nothing."""
    answer = api.post("/v1/templates", SURVEY, HTTP_IDEMPOTENCY_KEY="k")
    assert answer.status_code == 200
    error(api.post("/v1/templates", SURVEY | {"title": "Else"}, HTTP_IDEMPOTENCY_KEY="l"), 409, "conflict")
    assert KeptAnswer.objects.count() == 1


@pytest.mark.parametrize("who", ["nobody", "viewer"])
def test_who_may_not_write(api_as: ApiAs, survey: dict[str, Any], make_token: Any, who: str) -> None:
    api = api_as(None if who == "nobody" else make_token("viewer"))
    status, code = (401, "unauthenticated") if who == "nobody" else (403, "forbidden")
    error(api.post("/v1/templates", SURVEY | {"template_id": "b"}), status, code)
    error(api.post("/v1/templates/survey/archive"), status, code)
    error(api.post("/v1/templates/survey/workflows", {"parameters": {"topic": "x"}}), status, code)
    error(api.post("/v1/workflows/any/template", {}), status, code)
    error(api.delete("/v1/templates/survey"), status, code)
    assert api.get("/v1/templates/survey").status_code == (401 if who == "nobody" else 200)
