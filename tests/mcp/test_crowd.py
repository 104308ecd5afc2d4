"""Twenty agents report on one run at once, over MCP to a real server: nothing is lost, nothing is refused."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.mcp.agents import Agent, play, text_of
from tests.plans import parallel, plan, task
from tests.servers import IS_DERIVED, PATIENCE, Server, a_server

pytestmark = pytest.mark.slow

AGENTS = 20
REPORTS = 50  # by each
MOST_SECONDS = PATIENCE

# Run by ``manage.py shell`` in the server's own environment: a token for each agent, one a line.
TOKENS = f"""
from chief_project.bootstrap import CLI
from chief_project.shared.services.create_token import create_token
for place in range({AGENTS}):
    print(create_token(caller=CLI, kind="harness", name=f"agent-{{place:02d}}")["token"])
"""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    with a_server(tmp_path) as server:
        server.start()
        yield server


def everything(person: httpx.Client, path: str) -> list[dict[str, Any]]:
    """A list, page by page."""
    found: list[dict[str, Any]] = []
    url: str | None = f"{path}?limit=1000"
    while url:
        answer = person.get(url)
        assert answer.is_success, answer.text
        found += answer.json()
        url = answer.links.get("next", {}).get("url")
    return found


async def called(agent: Agent, name: str, **arguments: Any) -> dict[str, Any]:
    """The answer of a call that must succeed."""
    result = await agent.call(name, **arguments)
    assert not result.get("isError"), result
    return text_of(result)


async def work(url: str, token: str, start: asyncio.Event) -> tuple[str, list[str]]:
    """One agent: a branch of its own, and fifty reports on it. The branch's id, and the marks that were taken."""
    async with httpx.AsyncClient(base_url=url) as http:
        agent = Agent(http, token)
        await start.wait()
        branch = (await called(agent, "register_step_instance", run_id="r1", path="fan"))["instance_id"]
        taken = []
        for number in range(REPORTS):
            mark = f"{branch}-{number}"
            answer = await called(
                agent,
                "report_step_update",
                run_id="r1",
                path=f"fan/{branch}/x",
                status="completed" if number == REPORTS - 1 else "running",
                summary=mark,
                artifacts=[{"artifact_id": mark, "type": "mark", "data": number}],
                metadata={mark: number},
            )
            assert answer["path"] == f"fan/{branch}/x"
            taken.append(mark)
        return branch, taken


async def crowd(url: str, tokens: list[str]) -> list[tuple[str, list[str]]]:
    start = asyncio.Event()
    agents = [asyncio.ensure_future(work(url, token, start)) for token in tokens]
    await asyncio.sleep(0)
    start.set()
    return await asyncio.gather(*agents)


def test_a_thousand_reports_of_twenty_agents_at_once_are_all_kept(server: Server) -> None:
    headers = {"Authorization": f"Bearer {server.manage('create_token', '--kind', 'admin')}"}
    tokens = server.manage("shell", "-v", "0", "-c", TOKENS).split()
    assert len(tokens) == AGENTS
    with httpx.Client(base_url=server.url, headers=headers, timeout=PATIENCE) as person:
        for path, body in (
            ("/v1/workflows", plan(parallel("fan", ["x"]), task("x"), workflow_id="w1")),
            ("/v1/workflows/w1/approve", {}),
            ("/v1/workflows/w1/runs", {"run_id": "r1"}),
        ):
            assert person.post(path, json=body).is_success

        began = time.monotonic()
        done = play(lambda: crowd(server.url, tokens))
        assert time.monotonic() - began < MOST_SECONDS

        # The log has every report, numbered without a gap; the branches' registrations are in it too.
        updates = everything(person, "/v1/runs/r1/updates")
        assert [each["number"] for each in updates] == list(range(1, AGENTS * (REPORTS + 1) + 1))
        assert {each["via"] for each in updates} == {"mcp"}
        reports = [each for each in updates if each["path"].endswith("/x")]
        assert len(reports) == AGENTS * REPORTS
        logged = Counter(each["payload"]["summary"] for each in reports)
        assert logged == Counter(mark for _, taken in done for mark in taken)
        assert set(Counter(each["actor"] for each in reports).values()) == {REPORTS}
        assert len({each["actor"] for each in reports}) == AGENTS

        # Each branch is its agent's, whole and in order.
        run = person.get("/v1/runs/r1").json()
        assert run["revision"] == 1 + len(updates)
        branches = {each["instance_id"]: each for each in run["step_states"]["fan"]["instances"]}
        assert sorted(each["index"] for each in branches.values()) == list(range(AGENTS))
        assert branches.keys() == {branch for branch, _ in done}
        for branch, taken in done:
            state = branches[branch]["step_states"]["x"]
            assert (branches[branch]["status"], state["status"]) == ("completed", "completed")
            assert [made["artifact_id"] for made in state["artifacts"]] == taken
            assert state["metadata"] == {mark: number for number, mark in enumerate(taken)}

        # The tallies are right: all are done, and closing the construct ends the run.
        (fan,) = person.get("/v1/runs/r1/next").json()["constructs"]
        (place,) = fan["places"]
        assert (place["registered"], place["open"], place["all_done"]) == (AGENTS, 0, True)
        closed = person.post(
            "/v1/runs/r1/steps/fan/updates", json={"summary": "All.", "instances_closed": True}
        )
        assert closed.json()["status"] == "completed"

        entries = Counter(each["event"] for each in everything(person, "/v1/audit") if each["run_id"] == "r1")
        assert entries["step.updated"] == AGENTS * REPORTS + 1
        assert entries["instance.registered"] == AGENTS
    assert "derived" in server.manage("shell", "-v", "0", "-c", IS_DERIVED)
    server.manage("verify_audit")
    assert "Traceback" not in server.log.read_text()
