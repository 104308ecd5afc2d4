"""Schemathesis: whatever the description allows, and what it doesn't, is answered as described (contract 1).

As a harness, a person and nobody, 720 calls each. Most name a workflow, a run, a step … that is there, so that they
get past the 404s. The draws are the same every time; ``--hypothesis-seed`` and FUZZ_EXAMPLES=100 look further.
"""

import os
from collections.abc import Callable
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from rest_framework.test import APIClient
from schemathesis import GenerationMode
from schemathesis.checks import CHECKS, load_all_checks

from chief_project.shared.models import User
from chief_project.wsgi import application
from tests.api.test_every_operation import Story

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]

EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", "10"))
KNOWN: dict[str, list[Any]] = {
    "workflow_id": ["w", "w", "draft"],
    "run_id": ["r"],
    "step_id": ["read", "write", "check", "chapters", "note"],
    "instance_id": ["one", "inst_01"],
    "body_step_id": ["test", "note"],
    "path": ["write", "check", "chapters", "chapters/one", "chapters/one/test", "chapters/inst_01/note"],
    "artifact_id": ["a1"],
    "template_id": ["t"],
    "number": [1, 2],
}
LAST = ("cancel", "archive", "delete", "withdraw", "approve", "reject", "reopen")


def prepare(story: Story) -> None:
    """A workflow with a run in the middle of things, a draft, a template, an amendment and a question that wait."""
    story.plan()
    story.harness(
        "create_workflow",
        body={
            "workflow_id": "draft",
            "title": "D",
            "source": "human",
            "steps": [{"id": "read", "type": "task", "goal": "Read."}],
        },
    )
    story.run()
    story.instances()
    story.harness(
        "report_step_update_at_top",
        run_id="r",
        step_id="check",
        body={"status": "running", "summary": "Ready."},
    )
    story.harness(
        "report_step_update_at_top", run_id="r", step_id="write", body={"status": "running", "summary": "Go."}
    )
    story.harness("ask_question", run_id="r", path="write", body={"text": "Which?"})
    story.harness(
        "create_template",
        body={"template_id": "t", "title": "T", "steps": [{"id": "read", "type": "task", "goal": "Read."}]},
    )
    KNOWN["amendment_id"] = [
        story.harness("propose_amendment", run_id="r", body={
            "proposed_by": "planner", "kind": "forward", "reason": "More.",
            "operations": [{"op": "insert_after", "target_step_id": "note", "step": {"id": "new", "type": "task", "goal": "G."}}],
        })["amendment_id"]
    ]  # fmt: skip


@pytest.mark.parametrize("principal", ["harness", "person", "nobody"])
def test_whatever_is_sent_is_answered_as_described(
    principal: str,
    api_as: Callable[..., APIClient],
    harness_token: str,
    make_token: Callable[..., str],
    owner: User,
) -> None:
    prepare(Story(api_as(harness_token), api_as(owner)))
    credential = {
        "harness": harness_token,
        "person": make_token("admin", username="owner"),
        "nobody": None,
    }[principal]
    headers = {"Host": "testserver"} | ({"Authorization": f"Bearer {credential}"} if credential else {})
    load_all_checks()
    checks = CHECKS.get_by_names(
        [
            "not_a_server_error",
            "status_code_conformance",
            "content_type_conformance",
            "response_headers_conformance",
            "response_schema_conformance",
        ]
    )
    api = schemathesis.openapi.from_wsgi("/v1/schema/", application, headers=headers)
    operations = [found.ok() for found in api.get_all_operations()]
    operations.sort(key=lambda operation: operation.definition.raw["operationId"].startswith(LAST))
    calls = 0
    for operation in operations:
        places = {
            name: st.sampled_from([*KNOWN[name], None]) for name in KNOWN if f"{{{name}}}" in operation.path
        }

        @settings(
            max_examples=EXAMPLES, deadline=None, database=None, derandomize=True, phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )  # fmt: skip
        @given(
            case=operation.as_strategy(GenerationMode.POSITIVE)
            | operation.as_strategy(GenerationMode.NEGATIVE),
            where=st.fixed_dictionaries(places),
        )
        def call(case: Any, where: dict[str, Any]) -> None:
            nonlocal calls
            calls += 1
            case.path_parameters |= {name: place for name, place in where.items() if place is not None}
            case.call_and_validate(headers=headers, checks=checks)

        call()
    assert calls >= 0.9 * EXAMPLES * len(operations)
