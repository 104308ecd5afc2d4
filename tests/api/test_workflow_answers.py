"""What the routes of workflows answer is what the API's description says."""

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import AbstractUser
from jsonschema import Draft202012Validator
from rest_framework.test import APIClient

from chief_project.shared.http.description import description
from tests.plans import checkpoint, parallel, plan, task

pytestmark = pytest.mark.django_db

EVERYTHING = [
    task("a", criteria=["it holds"], group="g", inputs={"x": 1}),
    parallel("p", ["b"], depends_on=["a"], instance_params=[{"name": "who"}]),
    task("b"),
    checkpoint("c", depends_on=["p"], fields=[{"name": "why"}]),
]


@pytest.fixture
def described() -> Callable[[str, str, Any], None]:
    """``described(method, route, answer)``: the answer is as its operation's schema says."""
    schema = json.loads(description()[0])

    def check(method: str, route: str, answer: Any) -> None:
        operation = schema["paths"][route][method]
        response = operation["responses"][str(answer.status_code)]
        body = response["content"]["application/json"]["schema"]
        validator = Draft202012Validator({**body, "components": schema["components"]})
        assert not [f"{list(each.path)}: {each.message}" for each in validator.iter_errors(answer.json())]

    return check


def test_every_answer_is_as_described(
    described: Callable[[str, str, Any], None],
    api_as: Callable[..., APIClient],
    owner: AbstractUser,
) -> None:
    api = api_as(owner)
    body = plan(*EVERYTHING, groups=[{"path": "g"}], workflow_id="w1", project="P", origin_dir="/w")
    described("post", "/v1/workflows", api.post("/v1/workflows", body))
    note = api.post("/v1/workflows/w1/notes", {"body": "x", "step_id": "a"})
    described("post", "/v1/workflows/{workflow_id}/notes", note)
    place = f"/v1/workflows/w1/notes/{note.json()['note_id']}"
    described("patch", "/v1/workflows/{workflow_id}/notes/{note_id}", api.patch(place))
    described("post", "/v1/workflows/{workflow_id}/seen", api.post("/v1/workflows/w1/seen", {"revision": 1}))
    described("post", "/v1/workflows/{workflow_id}/send-back", api.post("/v1/workflows/w1/send-back"))
    revised = {"title": "T", "steps": [task("a", goal="Do it well", group="h"), task("z")], "reason": "why"}
    described("put", "/v1/workflows/{workflow_id}", api.put("/v1/workflows/w1", revised))
    described("patch", "/v1/workflows/{workflow_id}", api.patch("/v1/workflows/w1", {"project": None}))
    stale = api.post("/v1/workflows/w1/approve", {"revision": 1})
    assert stale.status_code == 412
    for verb in ("approve", "reopen", "approve", "archive", "clone"):
        described("post", f"/v1/workflows/{{workflow_id}}/{verb}", api.post(f"/v1/workflows/w1/{verb}"))
    for route in (
        "/v1/workflows",
        "/v1/projects",
        "/v1/workflows/{workflow_id}",
        "/v1/workflows/{workflow_id}/notes",
        "/v1/workflows/{workflow_id}/versions",
        "/v1/workflows/{workflow_id}/revisions",
        "/v1/workflows/{workflow_id}/diff",
    ):
        described("get", route, api.get(route.format(workflow_id="w1")))
    for kind in ("versions", "revisions"):
        route = f"/v1/workflows/{{workflow_id}}/{kind}/{{number}}"
        described("get", route, api.get(f"/v1/workflows/w1/{kind}/1"))
    described("delete", "/v1/workflows/{workflow_id}", api.delete("/v1/workflows/w1"))


def test_every_operation_of_workflows_says_what_it_does() -> None:
    schema = json.loads(description()[0])
    operations = [
        operation
        for route, methods in schema["paths"].items()
        if re.match(r"/v1/(workflows|projects)", route)
        for operation in methods.values()
        if isinstance(operation, dict)
    ]
    assert len(operations) >= 20
    assert all(operation["description"] for operation in operations)
