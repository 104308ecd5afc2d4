"""The endpoint over HTTP, in every protocol revision that the SDK knows (contract 10)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from mcp_types.version import KNOWN_PROTOCOL_VERSIONS

from chief_project.mcp import TOOLS
from tests.mcp.agents import Agent, endpoint, play, text_of
from tests.plans import plan, task
from tests.runs import new_run

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.parametrize("revision", KNOWN_PROTOCOL_VERSIONS)
def test_every_revision_lists_calls_and_is_refused(revision: str, harness_token: str) -> None:
    async def story() -> None:
        async with endpoint() as (http, _):
            agent = Agent(http, harness_token, revision)
            tools = (await agent.ask("tools/list"))["tools"]
            assert [tool["name"] for tool in tools] == [tool.name for tool in TOOLS]
            assert "$ref" not in json.dumps(tools)
            made = await agent.call("create_workflow", **plan(task("a")))
            assert not made.get("isError")
            assert text_of(made)["status"] == "draft"
            refused = await agent.call("register_run", workflow_id=text_of(made)["workflow_id"])
            assert refused["isError"]
            assert text_of(refused)["error"]["code"] == "invalid_transition"

    play(story)


@pytest.mark.parametrize("revision", [v for v in KNOWN_PROTOCOL_VERSIONS if v < "2026"])
def test_an_older_client_shakes_hands_and_gets_no_session(revision: str, harness_token: str) -> None:
    async def story() -> None:
        async with endpoint() as (http, _):
            agent = Agent(http, harness_token, revision)
            hello = {
                "protocolVersion": revision,
                "capabilities": {},
                "clientInfo": {"name": "t", "version": "1"},
            }
            answer = await agent.post("initialize", hello)
            result = answer.json()["result"]
            assert result["protocolVersion"] == revision
            assert "wait_for_decision" in result["instructions"]
            assert "mcp-session-id" not in answer.headers

    play(story)


def test_a_restart_between_two_calls_loses_nothing(harness_token: str) -> None:
    async def story() -> None:
        async with endpoint() as (http, _):
            made = text_of(await Agent(http, harness_token).call("create_workflow", **plan(task("a"))))
        async with endpoint() as (http, _):
            found = await Agent(http, harness_token).call("get_workflow", workflow_id=made["workflow_id"])
            assert text_of(found)["workflow_id"] == made["workflow_id"]

    play(story)


def test_core_offers_the_core_alone(harness_token: str) -> None:
    async def story() -> None:
        async with endpoint(tools="core") as (http, _):
            tools = (await Agent(http, harness_token).ask("tools/list"))["tools"]
            assert [tool["name"] for tool in tools] == [tool.name for tool in TOOLS if tool.core]

    play(story)


def test_structured_content_says_what_the_text_says(harness_token: str) -> None:
    async def story() -> None:
        async with endpoint() as (http, _):
            made = await Agent(http, harness_token).call("create_workflow", full=True, **plan(task("a")))
            assert made["structuredContent"] == text_of(made)
            assert text_of(made)["document"]["steps"][0]["id"] == "a"

    play(story)


# -- Who may come ------------------------------------------------------------------------------------


def _answer(token: str | None, **headers: str) -> Any:
    async def story() -> Any:
        async with endpoint() as (http, _):
            return await Agent(http, token).post("tools/list", **headers)

    return play(story)


@pytest.mark.parametrize(
    ("token", "headers"),
    [
        (None, {}),
        ("chf_unknown", {}),
        (None, {"Authorization": "Basic eDp5"}),
        (None, {"Authorization": "Bearer something"}),
    ],
    ids=["nobody", "an unknown token", "another scheme", "no token of Chief's"],
)
def test_without_a_valid_token_the_answer_is_a_challenge(token: str | None, headers: dict[str, str]) -> None:
    answer = _answer(token, **headers)
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"].startswith("Bearer")
    assert answer.json()["error"]["code"] == "unauthenticated"


def test_a_token_in_the_address_is_not_looked_at(harness_token: str) -> None:
    async def story() -> None:
        async with endpoint() as (http, _):
            for name in ("token", "access_token"):
                answer = await http.post(f"/mcp?{name}={harness_token}", json={})
                assert answer.status_code == 401

    play(story)


def test_a_foreign_origin_is_forbidden_and_our_own_is_not(harness_token: str) -> None:
    answer = _answer(harness_token, Origin="https://evil.example")
    assert (answer.status_code, answer.json()["error"]["code"]) == (403, "forbidden")
    assert _answer(harness_token, Origin="http://127.0.0.1:8000").status_code == 200


def test_a_foreign_host_is_refused(harness_token: str) -> None:
    answer = _answer(harness_token, Host="evil.example")
    assert answer.status_code == 421
    assert "not served to this Host" in answer.json()["error"]["message"]


def test_a_foreign_page_learns_nothing_of_tokens() -> None:
    assert _answer(None, Origin="https://evil.example").status_code == 403


def test_nothing_is_streamed_and_no_session_ended(harness_token: str) -> None:
    async def story() -> None:
        async with endpoint() as (http, _):
            for method in ("GET", "DELETE"):
                answer = await http.request(
                    method, "/mcp", headers={"Authorization": f"Bearer {harness_token}"}
                )
                assert (answer.status_code, answer.headers["allow"]) == (405, "POST")

    play(story)


def test_a_body_over_the_limit_is_refused(harness_token: str, settings: Any) -> None:
    settings.CHIEF_MAX_BODY_BYTES = 2000

    async def story() -> None:
        async with endpoint() as (http, _):
            answer = await Agent(http, harness_token).post("tools/list", {"x": "x" * 3000})
            assert answer.status_code == 413

    play(story)


@pytest.mark.parametrize("revision", KNOWN_PROTOCOL_VERSIONS)
@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b"\xff\xfe",
        b"[" * 200_000,
        b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "get_run", "arguments": []}}',
        b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "delete_workflow"}}',
        b'{"jsonrpc": "2.0", "id": 1, "method": "no/such"}',
    ],
    ids=lambda body: body[:30].decode("latin-1"),
)
def test_what_is_no_message_is_an_error_and_no_fault(body: bytes, revision: str, harness_token: str) -> None:
    async def story() -> None:
        async with endpoint() as (http, _):
            headers = {
                "Authorization": f"Bearer {harness_token}",
                "Accept": "application/json, text/event-stream",
                "Content-Type": "application/json",
                "MCP-Protocol-Version": revision,
            }
            answer = await http.post("/mcp", content=body, headers=headers)
            assert answer.status_code < 500, answer.text
            assert "rror" in answer.text
            assert "Traceback" not in answer.text
            assert (await Agent(http, harness_token, revision).ask("tools/list"))["tools"]

    play(story)


# -- Resources and prompts ---------------------------------------------------------------------------


def test_a_workflow_and_a_run_can_be_read_as_resources(harness_token: str, relay: Any) -> None:
    new_run(relay, task("a"))

    async def story() -> None:
        async with endpoint() as (http, _):
            agent = Agent(http, harness_token)
            found = await agent.ask("resources/read", {"uri": "chief://runs/r1"})
            run = json.loads(found["contents"][0]["text"])
            assert run["step_states"]["a"]["status"] == "pending"
            uri = f"chief://workflows/{run['workflow_id']}"
            found = await agent.ask("resources/read", {"uri": uri})
            assert json.loads(found["contents"][0]["text"])["status"] == "approved"
            missing = (await agent.post("resources/read", {"uri": "chief://runs/none"})).json()
            assert "there is no run" in missing["error"]["message"]

    play(story)


def test_the_skill_is_read_from_its_file(harness_token: str, settings: Any, tmp_path: Any) -> None:
    settings.CHIEF_SKILL_FILE = tmp_path / "SKILL.md"
    settings.CHIEF_SKILL_FILE.write_text("# The skill\n")

    async def story() -> None:
        async with endpoint() as (http, _):
            found = await Agent(http, harness_token).ask("resources/read", {"uri": "chief://skill"})
            assert found["contents"][0]["text"] == "# The skill\n"

    play(story)


def test_the_prompts_say_what_to_do(harness_token: str) -> None:
    async def story() -> None:
        async with endpoint() as (http, _):
            agent = Agent(http, harness_token)
            names = [prompt["name"] for prompt in (await agent.ask("prompts/list"))["prompts"]]
            assert names == ["plan_work", "resume_work"]
            told = await agent.ask(
                "prompts/get", {"name": "plan_work", "arguments": {"goal": "Paint the shed"}}
            )
            assert "Paint the shed" in told["messages"][0]["content"]["text"]
            told = await agent.ask("prompts/get", {"name": "resume_work", "arguments": {"run_id": "r9"}})
            assert "r9" in told["messages"][0]["content"]["text"]

    play(story)
