"""One plan's whole life, as an agent lives it with the SDK's own client, against a real server (contract 10).

It plans, waits, works, asks, stops at a checkpoint and proposes an amendment; a person decides over REST in between.
Then its context is lost, and another client finishes with nothing but the run's id and ``get_next``.
"""

from __future__ import annotations

import asyncio
import contextlib
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import httpx
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import create_mcp_http_client, streamable_http_client

from tests.mcp.agents import play
from tests.plans import checkpoint, loop, parallel, plan, task
from tests.servers import IS_DERIVED, PATIENCE, ROOT, Server, a_server

pytestmark = pytest.mark.slow

AT_ONCE = 30  # seconds: for a busy machine, and far from the 50 that a wait may take
Connect = Callable[[], AbstractAsyncContextManager[Client]]

# Every paper is read in a branch, and its summary written again until it is good: a loop in a parallel.
STEPS = (
    task("collect", criteria=["Every source is named"]),
    parallel("read", ["refine"], depends_on=["collect"], instance_params=[{"name": "paper"}]),
    loop("refine", ["draft"], exit_when="The summary is good"),
    task("draft", criteria=["It has at most 100 words"]),
    checkpoint("gate", depends_on=["collect"], fields=[{"name": "audience"}]),
    task("write", depends_on=["read", "gate"]),
)
FIRST, SECOND = "read/inst_00/refine", "read/inst_01/refine"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    with a_server(tmp_path) as server:
        server.start()
        yield server


class Person:
    """Who decides, over REST: ``owner``, by a token of theirs."""

    def __init__(self, server: Server) -> None:
        token = server.manage("create_token", "--kind", "admin", "--user", "owner")
        self._http = httpx.Client(
            base_url=f"{server.url}/v1", headers={"Authorization": f"Bearer {token}"}, timeout=PATIENCE
        )

    def __enter__(self) -> Person:
        return self

    def __exit__(self, *_: object) -> None:
        self._http.close()

    def get(self, path: str) -> Any:
        return self._checked(self._http.get(path))

    def post(self, path: str, **body: Any) -> Any:
        return self._checked(self._http.post(path, json=body))

    def waiting(self) -> dict[str, Any]:
        """The one thing that waits for a person."""
        (found,) = self.get("/waiting")
        return dict(found)

    @staticmethod
    def _checked(answer: httpx.Response) -> Any:
        assert answer.is_success, answer.text
        return answer.json()


# -- An agent's calls --------------------------------------------------------------------------------


async def done(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """The answer of a call that must succeed."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result
    assert result.structured_content is not None
    return dict(result.structured_content)


async def refused(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """The error of a call that must be refused."""
    result = await client.call_tool(tool, arguments)
    assert result.is_error, result
    assert result.structured_content is not None
    return dict(result.structured_content["error"])


async def report(
    client: Client, path: str, status: str, summary: str = "As planned.", **keys: Any
) -> dict[str, Any]:
    return await done(
        client, "report_step_update", run_id="r1", path=path, status=status, summary=summary, **keys
    )


async def close(client: Client, path: str) -> dict[str, Any]:
    return await done(
        client,
        "report_step_update",
        run_id="r1",
        path=path,
        summary="No more come.",
        instances_closed=True,
    )


async def begin(client: Client, path: str, **metadata: Any) -> str:
    """The path of a new instance."""
    made = await done(client, "register_step_instance", run_id="r1", path=path, metadata=metadata)
    return f"{path}/{made['instance_id']}"


async def decided_while_waiting(
    client: Client, decide: Callable[[], Awaitable[Any]], **where: Any
) -> dict[str, Any]:
    """What a wait answers that is under way when ``decide`` is done."""
    waiting = asyncio.ensure_future(done(client, "wait_for_decision", **where))
    await asyncio.sleep(1)
    assert not waiting.done(), waiting.result()
    await decide()
    answer = await asyncio.wait_for(waiting, AT_ONCE)
    assert answer["outcome"] == "decided"
    return answer


async def decided_before(client: Client, **where: Any) -> dict[str, Any]:
    """What a wait answers that comes after the decision: it is said at once."""
    began = time.monotonic()
    answer = await done(client, "wait_for_decision", **where)
    assert time.monotonic() - began < AT_ONCE
    assert answer["outcome"] == "decided"
    return answer


# -- The story, part by part -------------------------------------------------------------------------


async def plan_and_be_approved(client: Client, person: Person) -> None:
    made = await done(client, "create_workflow", **plan(*STEPS, workflow_id="w1"))
    assert made["status"] == "draft"
    pending = await done(client, "wait_for_decision", workflow_id="w1", seconds=0)
    assert (pending["outcome"], pending["status"]) == ("pending", "draft")
    assert "again" in pending["hint"]
    assert (await refused(client, "register_run", workflow_id="w1"))["code"] == "invalid_transition"
    assert (await refused(client, "approve_workflow", workflow_id="w1"))["code"] == "forbidden"

    async def approve() -> None:
        waits = person.waiting()
        assert (waits["kind"], waits["workflow_id"]) == ("draft", "w1")
        await asyncio.to_thread(person.post, "/workflows/w1/approve", revision=1, reason="Go.")

    answer = await decided_while_waiting(client, approve, workflow_id="w1")
    assert answer["status"] == "approved"
    assert "register_run" in answer["hint"]


async def collect(client: Client) -> None:
    begun = await done(client, "register_run", workflow_id="w1", run_id="r1")
    assert [item["path"] for item in begun["next"]] == ["collect"]
    await report(client, "collect", "running")
    unmet = await refused(
        client, "report_step_update", run_id="r1", path="collect", status="completed", summary="Done."
    )
    assert unmet["details"]["unmet"] == [{"id": "c1", "text": "Every source is named"}]
    told = await report(client, "collect", "completed", criteria_met={"c1": "Two papers, see the list."})
    assert {item["path"] for item in told["next"]} == {"read", "gate"}


async def read_the_first_paper(client: Client) -> None:
    """Two iterations of the loop in the first branch, closed. The second branch is opened."""
    missing = await refused(client, "register_step_instance", run_id="r1", path="read")
    assert missing["details"]["missing"] == ["paper"]
    assert await begin(client, "read", paper="one") == "read/inst_00"
    assert await begin(client, "read", paper="two") == "read/inst_01"
    for number in (0, 1):
        iteration = await begin(client, FIRST)
        assert iteration == f"{FIRST}/inst_{number:02d}"
        await report(client, f"{iteration}/draft", "running")
        await report(client, f"{iteration}/draft", "completed", criteria_met={"c1": "Ninety."})
    await close(client, FIRST)
    first = await done(client, "get_run", run_id="r1", path="read/inst_00")
    assert first["state"]["status"] == "completed"


async def ask_about_the_second(client: Client, person: Person) -> None:
    """A question in the loop in the second branch; its iteration is begun, and not finished."""
    draft = f"{await begin(client, SECOND)}/draft"
    await report(client, draft, "running")
    asked = await done(client, "ask_question", run_id="r1", path=draft, text="Which edition?")
    assert (asked["run_status"], asked["status"]) == ("waiting_on_human", "blocked")

    async def answer() -> None:
        waits = person.waiting()
        assert (waits["kind"], waits["path"], waits["parameters"]) == ("question", draft, {"paper": "two"})
        assert waits["question_id"] == asked["question_id"]
        await asyncio.to_thread(
            person.post,
            f"/runs/r1/answers/{draft}",
            question_id=asked["question_id"],
            response={"text": "The second."},
        )

    told = await decided_while_waiting(client, answer, run_id="r1", path=draft)
    assert told["state"]["questions"][-1]["response"] == {"text": "The second."}
    assert told["state"]["status"] == "running"


async def reach_the_checkpoint(client: Client, person: Person, meanwhile: Callable[[], Any]) -> None:
    """Decided while nobody waits: the next call says so at once, whatever became of the server ``meanwhile``."""
    reached = await report(client, "gate", "running")
    assert (reached["run_status"], reached["status"]) == ("waiting_on_human", "blocked")
    mine = await refused(client, "resolve_checkpoint", run_id="r1", path="gate", decision="approved")
    assert mine["code"] == "forbidden"
    pending = await done(client, "wait_for_decision", run_id="r1", path="gate", seconds=1)
    assert pending["outcome"] == "pending"
    await asyncio.to_thread(meanwhile)
    waits = person.waiting()
    assert (waits["kind"], waits["path"]) == ("checkpoint", "gate")
    person.post("/runs/r1/steps/gate/resolution", decision="approved", response={"audience": "Students"})
    told = await decided_before(client, run_id="r1", path="gate")
    assert told["state"]["checkpoint"]["response"] == {"audience": "Students"}


async def propose(client: Client) -> str:
    check = task("check", depends_on=["write"], goal="Check the references", criteria=["Each link opens"])
    proposed = await done(
        client,
        "propose_amendment",
        run_id="r1",
        proposed_by="planner",
        kind="forward",
        reason="References break.",
        operations=[{"op": "insert_after", "target_step_id": "write", "step": check}],
    )
    assert (proposed["status"], proposed["run_status"]) == ("pending_approval", "paused_for_approval")
    amendment_id: str = proposed["amendment_id"]
    pending = await done(client, "wait_for_decision", amendment_id=amendment_id, seconds=0)
    assert pending["outcome"] == "pending"
    return amendment_id


async def finish_without_memory(client: Client, run_id: str) -> list[str]:
    """What any agent can do that knows a run's id alone: what ``get_next`` says, until it says that all is done."""
    did: list[str] = []
    heard: dict[str, Any] = {}
    for _ in range(20):
        todo = await done(client, "get_next", run_id=run_id)
        if todo["done"]:
            assert todo["run_status"] == "completed"
            assert heard[f"{SECOND}/inst_00/draft"]["answers"][0]["response"] == {"text": "The second."}
            assert heard["write"]["decisions"][0]["response"] == {"audience": "Students"}
            return did
        assert not todo.get("blocked"), todo
        places = [place for entry in todo.get("ready", ()) for place in entry["places"]]
        for place in places:
            heard[place["path"]] = place
            evidence = dict.fromkeys(place.get("unanswered", ()), "Looked at.")
            await done(
                client,
                "report_step_update",
                run_id=run_id,
                path=place["path"],
                status="completed",
                summary="Done by the one who came after.",
                criteria_met=evidence,
            )
            did.append(place["path"])
        if not places:
            over = [
                place
                for entry in todo.get("constructs", ())
                for place in entry["places"]
                if place.get("all_done")
            ]
            assert over, todo
            for place in over:
                await close(client, place["path"])
                did.append(f"close {place['path']}")
    raise AssertionError(f"it never ended: {did}")


async def story(connect: Connect, person: Person, between: Callable[[], Any]) -> None:
    """The whole of it; ``between`` is done between two calls of one client, at the checkpoint."""
    async with connect() as client:
        await plan_and_be_approved(client, person)
        await collect(client)
        await read_the_first_paper(client)
        await ask_about_the_second(client, person)
        await reach_the_checkpoint(client, person, between)
        amendment_id = await propose(client)
    # The client is gone, and with it all it knew; the person decides.
    waits = person.waiting()
    assert (waits["kind"], waits["amendment_id"]) == ("amendment", amendment_id)
    person.post(f"/amendments/{amendment_id}/approve", reason="Good catch.")
    async with connect() as client:
        did = await finish_without_memory(client, "r1")
        assert did == [f"{SECOND}/inst_00/draft", f"close {SECOND}", "close read", "write", "check"]
        assert (await decided_before(client, amendment_id=amendment_id))["status"] == "approved"
        assert (await decided_before(client, run_id="r1"))["status"] == "completed"


def assert_it_is_told(server: Server, person: Person) -> None:
    """The run is completed, what is stored is what follows from its reports, and the log says who did what."""
    run = person.get("/runs/r1")
    assert (run["status"], set(run["step_states"])) == (
        "completed",
        {"collect", "read", "gate", "write", "check"},
    )
    assert {state["status"] for state in run["step_states"].values()} == {"completed"}
    updates = person.get("/runs/r1/updates?limit=1000")
    assert [each["number"] for each in updates] == list(range(1, len(updates) + 1))
    entries = [*person.get("/audit?run_id=r1&limit=1000"), *person.get("/audit?workflow_id=w1&limit=1000")]
    assert {entry["event"]: entry["via"] for entry in entries} == {
        "workflow.created": "mcp",
        "workflow.approved": "rest",
        "run.registered": "mcp",
        "step.updated": "mcp",
        "instance.registered": "mcp",
        "step.question_asked": "mcp",
        "step.question_answered": "rest",
        "checkpoint.resolved": "rest",
        "amendment.proposed": "mcp",
        "amendment.approved": "rest",
    }
    assert {entry["actor"] for entry in entries if entry["via"] == "rest"} == {"owner"}
    assert {entry["actor"] for entry in entries if entry["via"] == "mcp"} == {"planner"}
    assert "derived" in server.manage("shell", "-v", "0", "-c", IS_DERIVED)
    server.manage("verify_audit")
    assert "Traceback" not in server.log.read_text()


# -- Over both transports ----------------------------------------------------------------------------


def test_over_http_and_the_server_is_restarted_between_two_calls(server: Server) -> None:
    token = server.manage("create_token", "--kind", "harness", "--name", "planner")

    @contextlib.asynccontextmanager
    async def connect() -> AsyncIterator[Client]:
        async with (
            create_mcp_http_client(headers={"Authorization": f"Bearer {token}"}) as http,
            Client(streamable_http_client(f"{server.url}/mcp", http_client=http)) as client,
        ):
            yield client

    def restart() -> None:
        server.stop()
        server.start()

    with Person(server) as person:
        play(lambda: story(connect, person, restart))
        assert_it_is_told(server, person)


def test_over_stdio_beside_the_server_that_the_person_uses(server: Server) -> None:
    token = server.manage("create_token", "--kind", "harness", "--name", "planner")
    command = StdioServerParameters(
        command=sys.executable,
        args=["manage.py", "mcp", "--stdio"],
        env=server.environ | {"CHIEF_TOKEN": token},
        cwd=ROOT,
    )
    with Person(server) as person:
        play(lambda: story(lambda: Client(command), person, lambda: None))
        assert_it_is_told(server, person)
