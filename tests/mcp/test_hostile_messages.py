"""Messages that are nearly right are refused with a code and with what to do, as over REST (contract 1 and 10)."""

from __future__ import annotations

import json
import logging
from typing import Any

import httpx
import pytest

from chief_project.mcp import TOOLS
from chief_project.shared.caller import Caller
from runs.services.resolve_checkpoint import resolve_checkpoint
from tests.mcp.agents import Agent, done, endpoint, play, refused, text_of
from tests.plans import checkpoint, task
from tests.runs import new_run, report
from workflows.models import Workflow
from workflows.services.add_review_note import add_review_note

pytestmark = pytest.mark.django_db(transaction=True)

REVISIONS = ("2025-06-18", "2026-07-28")


def _sent(token: str, content: bytes, *more: tuple[str, str]) -> httpx.Response:
    async def story() -> httpx.Response:
        async with endpoint() as (http, _):
            headers = [
                ("Authorization", f"Bearer {token}"),
                ("Content-Type", "application/json"),
                ("Accept", "application/json"),
                ("MCP-Protocol-Version", "2025-06-18"),
                *more,
            ]
            return await http.post("/mcp", content=content, headers=headers)

    answer: httpx.Response = play(story)
    return answer


def _call(arguments: str) -> bytes:
    return (
        '{"jsonrpc": "2.0", "id": 1, "method": "tools/call",'
        f' "params": {{"name": "create_workflow", "arguments": {arguments}}}}}'
    ).encode()


@pytest.mark.parametrize(
    ("arguments", "pointer"),
    [
        ('{"title": "a", "title": "b", "source": "generated", "steps": []}', "/title"),
        (
            '{"title": "a", "source": "generated",'
            ' "steps": [{"id": "s", "type": "task", "goal": "x", "goal": "y"}]}',
            "/steps/0/goal",
        ),
    ],
)
def test_a_key_that_stands_twice_is_refused_where_it_stands(
    arguments: str, pointer: str, harness_token: str
) -> None:
    result = _sent(harness_token, _call(arguments)).json()["result"]

    assert result["isError"] is True
    error = result["structuredContent"]["error"]
    assert error["code"] == "validation_failed"
    assert error["details"]["pointer"] == pointer
    assert "stands twice" in error["message"]
    assert not Workflow.objects.exists()


@pytest.mark.parametrize("revision", REVISIONS)
def test_an_unknown_tool_is_refused_with_a_code(revision: str, harness_token: str) -> None:
    async def story() -> dict[str, Any]:
        async with endpoint() as (http, _):
            return await Agent(http, harness_token, revision).call("delete_everything")

    result = play(story)

    assert result["isError"] is True
    assert text_of(result) == result["structuredContent"]
    error = result["structuredContent"]["error"]
    assert error["code"] == "not_found"
    assert "'delete_everything'" in error["message"]
    assert "tools/list" in error["message"]


def test_two_tokens_at_once_are_none(harness_token: str, relay_token: str) -> None:
    message = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}).encode()

    answer = _sent(harness_token, message, ("Authorization", f"Bearer {relay_token}"))

    assert answer.status_code == 401
    assert answer.json()["error"]["code"] == "unauthenticated"


@pytest.mark.parametrize("params", [{"name": "nope"}, {"name": "plan_work"}])
def test_a_prompt_asked_for_wrongly_is_the_clients_mistake(
    params: dict[str, Any], harness_token: str, caplog: pytest.LogCaptureFixture
) -> None:
    async def story() -> httpx.Response:
        async with endpoint() as (http, _):
            return await Agent(http, harness_token, "2025-06-18").post("prompts/get", params)

    with caplog.at_level(logging.ERROR):
        error = play(story).json()["error"]

    assert error["code"] == -32602
    assert "prompts/list" in error["message"]
    assert not caplog.records


def test_an_unknown_argument_is_answered_with_those_there_are(harness: Caller) -> None:
    for name, takes in (("get_run", "run_id, path, full"), ("get_amendment", "amendment_id, full")):
        where = {"run_id": "r"} if name == "get_run" else {"amendment_id": "a"}
        assert refused(harness, name, **where, x=1)["message"].endswith(f"it takes {takes}")


def test_what_is_not_there_names_the_tool_that_lists_what_is(harness: Caller) -> None:
    for kind in ("workflow", "run", "template", "amendment"):
        message = refused(harness, f"get_{kind}", **{f"{kind}_id": "nowhere"})["message"]
        assert f"list_{kind}s" in message


def test_a_page_is_described_by_what_an_agent_sees() -> None:
    listing = [
        tool.input_schema["properties"] for tool in TOOLS if "cursor" in tool.input_schema["properties"]
    ]
    assert len(listing) == 4
    for takes in listing:
        assert "Link" not in takes["cursor"]["description"]
        assert "20" in takes["limit"]["description"]


def test_waiting_at_a_checkpoint_that_asks_nobody_yet_does_not_say_go_on(
    harness: Caller, reviewer: Caller
) -> None:
    new_run(reviewer, checkpoint("ok"), run_id="r")

    told = done(harness, "wait_for_decision", run_id="r", path="ok", seconds=0)

    assert told["outcome"] == "pending"
    assert "'running'" in told["hint"]


def test_notes_that_a_revision_answered_do_not_ask_for_another(harness: Caller, reviewer: Caller) -> None:
    steps = [task("a")]
    draft = done(harness, "create_workflow", title="t", source="generated", steps=steps)["workflow_id"]
    add_review_note(caller=reviewer, workflow_id=draft, body="Say more.", author="human", step_id="a")
    assert "revise_draft" in done(harness, "get_workflow", workflow_id=draft)["hint"]

    told = done(harness, "revise_draft", workflow_id=draft, title="t", steps=steps)

    assert len(told["open_notes"]) == 1
    assert "revise_draft" not in told["hint"]
    assert "wait_for_decision" in told["hint"]


def test_a_rejected_checkpoint_is_not_answered_with_go_on(harness: Caller, reviewer: Caller) -> None:
    new_run(reviewer, checkpoint("ok"), run_id="r")
    report(harness, "ok", "running", run_id="r")
    resolved = {"decision": "rejected", "note": "No.", "decided_by": "ann", "response": {}}
    resolve_checkpoint(caller=reviewer, run_id="r", path=("ok",), resolution=resolved)

    told = done(harness, "wait_for_decision", run_id="r", path="ok", seconds=0)

    assert told["outcome"] == "decided"
    assert told["state"]["status"] == "failed"
    assert "go on" not in told["hint"]
    assert "get_next" in told["hint"]


def test_a_run_that_asks_nobody_is_not_said_to_be_with_a_person(harness: Caller, reviewer: Caller) -> None:
    run = new_run(reviewer, task("a"), run_id="r")

    told = done(harness, "wait_for_decision", run_id="r", since=run["revision"], seconds=0)

    assert told["outcome"] == "pending"
    assert "person" not in told["hint"]
    assert "get_next" in told["hint"]
