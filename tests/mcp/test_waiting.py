"""Waiting for a person, over MCP and over REST: nothing is held, nothing is lost (contract 1 and 10)."""

from __future__ import annotations

import asyncio
import signal
import threading
import time
from collections.abc import Awaitable, Callable
from typing import Any

import httpx
import pytest
from a2wsgi import WSGIMiddleware
from django.db import connections

from amendments.services.approve_amendment import approve_amendment
from amendments.services.delete_workflow import delete_workflow
from chief_project.shared.caller import Caller
from chief_project.shared.http.router import App, BufferedBody
from chief_project.shared.waits import Waits, Watch
from chief_project.wsgi import application as django_application
from runs.services.resolve_checkpoint import resolve_checkpoint
from tests.mcp.agents import Agent, aside, done, endpoint, play, text_of
from tests.plans import checkpoint, task
from tests.run_calls import answer as answer_question
from tests.run_calls import asked
from tests.runs import new_run, report
from tests.workflows import new_draft, revised
from workflows.services.approve_workflow import approve_workflow
from workflows.services.send_back_workflow import send_back_workflow

pytestmark = pytest.mark.django_db(transaction=True)

Decide = Callable[[], Any]
SOON = 30  # seconds: for a busy machine, and far from the 50 that a wait may take


async def _meanwhile(waits: Waits, asking: Awaitable[Any], decide: Decide) -> Any:
    """What ``asking`` answers, when ``decide`` is done while it waits."""
    task = asyncio.ensure_future(asking)
    await _until(lambda: len(waits) == 1 or task.done())
    assert not task.done(), task.result()
    await aside(decide)
    return await asyncio.wait_for(task, SOON)


async def _until(what: Callable[[], bool]) -> None:
    async with asyncio.timeout(SOON):
        while not what():
            await asyncio.sleep(0.02)


def _wait(token: str, decide: Decide | None = None, **arguments: Any) -> dict[str, Any]:
    """What wait_for_decision answers, with ``decide`` done while it waits."""

    async def story() -> dict[str, Any]:
        async with endpoint() as (http, waits):
            asking = Agent(http, token).call("wait_for_decision", **arguments)
            result = await (asking if decide is None else _meanwhile(waits, asking, decide))
            assert not result.get("isError"), result
            assert len(waits) == 0
            return text_of(result)

    found: dict[str, Any] = play(story)
    return found


# -- wait_for_decision -------------------------------------------------------------------------------


def test_an_approval_ends_the_wait_for_a_draft(harness: Caller, harness_token: str, reviewer: Caller) -> None:
    where = new_draft(harness, task("a"))["workflow_id"]
    answer = _wait(
        harness_token, lambda: approve_workflow(caller=reviewer, workflow_id=where), workflow_id=where
    )
    assert (answer["outcome"], answer["status"]) == ("decided", "approved")
    assert "register_run" in answer["hint"]


def test_sending_back_ends_it_too_and_says_to_revise(
    harness: Caller, harness_token: str, reviewer: Caller
) -> None:
    where = new_draft(harness, task("a"))["workflow_id"]
    answer = _wait(
        harness_token,
        lambda: send_back_workflow(caller=reviewer, workflow_id=where, reason="Too long."),
        workflow_id=where,
    )
    assert (answer["outcome"], answer["review"]["reason"]) == ("decided", "Too long.")
    assert "revise_draft" in answer["hint"]


def test_a_revision_past_since_is_a_change(harness: Caller, harness_token: str) -> None:
    draft = new_draft(harness, task("a"))
    answer = _wait(
        harness_token,
        lambda: revised(harness, draft, task("b")),
        workflow_id=draft["workflow_id"],
        since=1,
    )
    assert (answer["outcome"], answer["revision"]) == ("changed", 2)


def test_a_deletion_ends_it_with_what_there_is_to_say(
    harness: Caller, harness_token: str, admin: Caller
) -> None:
    where = new_draft(harness, task("a"))["workflow_id"]

    async def story() -> dict[str, Any]:
        async with endpoint() as (http, waits):
            asking = Agent(http, harness_token).call("wait_for_decision", workflow_id=where)
            return await _meanwhile(waits, asking, lambda: delete_workflow(caller=admin, workflow_id=where))

    assert text_of(play(story))["error"]["code"] == "not_found"


def test_a_checkpoints_decision_comes_with_its_words(
    harness: Caller, harness_token: str, reviewer: Caller
) -> None:
    new_run(reviewer, checkpoint("ok"))
    report(harness, "ok", "running")
    resolution = {"decision": "rejected", "response": {}, "note": "Not yet.", "decided_by": "human"}
    answer = _wait(
        harness_token,
        lambda: resolve_checkpoint(caller=reviewer, run_id="r1", path=("ok",), resolution=resolution),
        run_id="r1",
        path="ok",
    )
    assert (answer["outcome"], answer["state"]["checkpoint"]["note"]) == ("decided", "Not yet.")


def test_a_questions_answer_comes_with_its_words(
    harness: Caller, harness_token: str, reviewer: Caller
) -> None:
    new_run(reviewer, task("a"))
    question = asked(harness, "a")
    answer = _wait(
        harness_token,
        lambda: answer_question(reviewer, "a", question, {"text": "The second."}),
        run_id="r1",
        path="a",
    )
    assert answer["state"]["questions"][-1]["response"] == {"text": "The second."}


def test_an_amendments_decision_ends_the_wait_for_it(
    harness: Caller, harness_token: str, reviewer: Caller
) -> None:
    new_run(reviewer, task("a"))
    proposed = _proposed(harness)
    answer = _wait(
        harness_token,
        lambda: approve_amendment(caller=reviewer, amendment_id=proposed),
        amendment_id=proposed,
    )
    assert (answer["outcome"], answer["status"]) == ("decided", "approved")


def test_a_run_is_waited_for_until_nobody_is_asked_any_more(
    harness: Caller, harness_token: str, reviewer: Caller
) -> None:
    new_run(reviewer, task("a"))
    proposed = _proposed(harness)
    answer = _wait(
        harness_token, lambda: approve_amendment(caller=reviewer, amendment_id=proposed), run_id="r1"
    )
    assert (answer["outcome"], answer["status"]) == ("decided", "running")


def test_any_change_of_a_run_can_be_waited_for(harness: Caller, harness_token: str, reviewer: Caller) -> None:
    revision = new_run(reviewer, task("a"))["revision"]
    answer = _wait(harness_token, lambda: report(harness, "a", "running"), run_id="r1", since=revision)
    assert (answer["revision"], answer["outcome"] in {"changed", "decided"}) == (revision + 1, True)


def _proposed(caller: Caller) -> str:
    answer = done(
        caller,
        "propose_amendment",
        run_id="r1",
        proposed_by="planner",
        kind="forward",
        reason="One more.",
        operations=[{"op": "insert_after", "target_step_id": "a", "step": task("b")}],
    )
    return str(answer["amendment_id"])


def test_undecided_it_is_pending_and_says_what_to_do(harness: Caller, harness_token: str) -> None:
    where = new_draft(harness, task("a"))["workflow_id"]
    begun = time.monotonic()
    answer = _wait(harness_token, workflow_id=where, seconds=1)
    assert time.monotonic() - begun >= 1
    assert answer["outcome"] == "pending"
    assert "again" in answer["hint"]
    assert _wait(harness_token, workflow_id=where, seconds=0)["outcome"] == "pending"


def test_what_was_decided_while_nobody_waited_is_said_at_once(
    harness: Caller, harness_token: str, reviewer: Caller
) -> None:
    where = new_draft(harness, task("a"))["workflow_id"]
    approve_workflow(caller=reviewer, workflow_id=where)
    begun = time.monotonic()
    assert _wait(harness_token, workflow_id=where)["outcome"] == "decided"
    assert time.monotonic() - begun < SOON


def test_many_wait_on_one_thread_and_one_query(harness: Caller, harness_token: str, reviewer: Caller) -> None:
    where = [new_draft(harness, task("a"))["workflow_id"] for _ in range(30)]

    async def story() -> None:
        async with endpoint() as (http, waits):
            agents = [Agent(http, harness_token) for _ in where]
            asking = [
                asyncio.ensure_future(agent.call("wait_for_decision", workflow_id=each))
                for agent, each in zip(agents, where, strict=True)
            ]
            await _until(lambda: len(waits) == 30)
            looks: list[int] = []
            read = waits.readers["workflow"]
            waits.readers = {"workflow": lambda ids: (looks.append(len(ids)), read(ids))[1]}
            await _until(lambda: len(looks) > 2)
            assert set(looks) == {30}
            working = [each for each in threading.enumerate() if each.name.startswith("chief-waits")]
            assert len(working) == 1
            for each in where:
                await aside(approve_workflow, caller=reviewer, workflow_id=each)
            answers = await asyncio.wait_for(asyncio.gather(*asking), SOON)
            assert {text_of(answer)["outcome"] for answer in answers} == {"decided"}

    play(story)


def test_an_agent_that_leaves_is_waited_for_no_more(harness: Caller, harness_token: str) -> None:
    where = new_draft(harness, task("a"))["workflow_id"]
    for revision in ("2025-06-18", "2026-07-28"):

        async def story(revision: str = revision) -> None:
            async with endpoint() as (http, waits):
                app = http._transport.app  # type: ignore[attr-defined]
                await _leave(app, waits, Agent(http, harness_token, revision), where)

        play(story)


async def _leave(app: App, waits: Waits, agent: Agent, where: str) -> None:
    """Send the call as a client whose connection then breaks."""
    sent: list[httpx.Request] = []

    async def keep(request: httpx.Request) -> httpx.Response:
        sent.append(request)
        return httpx.Response(200, json={"result": {}})

    async with httpx.AsyncClient(
        transport=httpx.MockTransport(keep), base_url="http://127.0.0.1:8000"
    ) as http:
        agent.http = http
        await agent.call("wait_for_decision", workflow_id=where)
    (request,) = sent
    await _broken(app, waits, "POST", "/mcp", b"", request.headers.raw, request.content)


async def _broken(
    app: App, waits: Waits, method: str, path: str, query: bytes, headers: Any, body: bytes = b""
) -> None:
    gone = asyncio.Event()
    unread = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive() -> Any:
        if unread:
            return unread.pop()
        await gone.wait()
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        raise AssertionError(message)

    scope = {
        "type": "http",
        "http_version": "1.1",
        "method": method,
        "path": path,
        "raw_path": path.encode(),
        "root_path": "",
        "scheme": "http",
        "query_string": query,
        "headers": [(name.lower(), value) for name, value in headers],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 8000),
    }
    asking = asyncio.ensure_future(app(scope, receive, send))
    await _until(lambda: len(waits) == 1)
    gone.set()
    await asyncio.wait_for(asking, SOON)
    assert len(waits) == 0


# -- ?wait= ------------------------------------------------------------------------------------------


def _api() -> App:
    def closing(environ: Any, start_response: Any) -> Any:
        try:
            return list(django_application(environ, start_response))
        finally:
            connections.close_all()

    return BufferedBody(WSGIMiddleware(closing, workers=2), limit=1_000_000)  # type: ignore[arg-type]


def _get(token: str | None, path: str, decide: Decide | None = None, **headers: str) -> httpx.Response:
    async def story() -> httpx.Response:
        async with endpoint(api=_api()) as (http, waits):
            sent = headers | ({} if token is None else {"Authorization": f"Bearer {token}"})
            asking = http.get(path, headers=sent, timeout=60)
            answer: httpx.Response = await (asking if decide is None else _meanwhile(waits, asking, decide))
            assert len(waits) == 0
            return answer

    found: httpx.Response = play(story)
    return found


def test_rest_holds_a_draft_until_it_is_decided(
    harness: Caller, harness_token: str, reviewer: Caller
) -> None:
    where = new_draft(harness, task("a"))["workflow_id"]
    answer = _get(
        harness_token,
        f"/v1/workflows/{where}?wait=50",
        lambda: approve_workflow(caller=reviewer, workflow_id=where),
    )
    assert answer.json()["status"] == "approved"


def test_rest_holds_a_run_until_its_revision_passes_since(
    harness: Caller, harness_token: str, reviewer: Caller
) -> None:
    revision = new_run(reviewer, task("a"))["revision"]
    answer = _get(
        harness_token,
        f"/v1/runs/r1?wait=50&since={revision}&include=plan",
        lambda: report(harness, "a", "running"),
    )
    assert (answer.json()["revision"], answer.headers["etag"]) == (revision + 1, f'"{revision + 1}"')
    assert answer.json()["plan"]["steps"][0]["id"] == "a"


def test_rest_holds_an_amendment_until_it_is_decided(
    harness: Caller, harness_token: str, reviewer: Caller
) -> None:
    new_run(reviewer, task("a"))
    proposed = _proposed(harness)
    answer = _get(
        harness_token,
        f"/v1/amendments/{proposed}?wait=50",
        lambda: approve_amendment(caller=reviewer, amendment_id=proposed),
    )
    assert answer.json()["status"] == "approved"


def test_rest_answers_as_it_stands_when_the_time_is_over(harness: Caller, harness_token: str) -> None:
    where = new_draft(harness, task("a"))["workflow_id"]
    assert _get(harness_token, f"/v1/workflows/{where}?wait=1").json()["status"] == "draft"
    assert _get(harness_token, f"/v1/workflows/{where}?wait=0").json()["status"] == "draft"
    held = {"If-None-Match": '"1"'}
    assert _get(harness_token, f"/v1/workflows/{where}?wait=1", None, **held).status_code == 304


@pytest.mark.parametrize(
    "query", ["wait=51", "wait=-1", "wait=x", "wait=", "wait=1&wait=2", "wait=5&since=x", "wait=5&what=1"]
)
def test_a_bad_wait_is_refused_at_once(
    query: str, harness: Caller, harness_token: str, reviewer: Caller
) -> None:
    new_run(reviewer, task("a"), workflow_id="w1")
    for path in ("/v1/runs/r1", "/v1/workflows/w1"):
        answer = _get(harness_token, f"{path}?{query}")
        assert (answer.status_code, answer.json()["error"]["code"]) == (422, "validation_failed"), path


def test_what_is_refused_is_not_waited_for(harness: Caller, harness_token: str) -> None:
    where = new_draft(harness, task("a"))["workflow_id"]
    assert _get(None, f"/v1/workflows/{where}?wait=50").status_code == 401
    assert _get(harness_token, "/v1/workflows/none?wait=50").status_code == 404
    assert _get(harness_token, "/v1/workflows?wait=50").status_code == 422


def test_a_client_of_rest_that_leaves_is_waited_for_no_more(harness: Caller, harness_token: str) -> None:
    where = new_draft(harness, task("a"))["workflow_id"]

    async def story() -> None:
        async with endpoint(api=_api()) as (http, waits):
            app = http._transport.app  # type: ignore[attr-defined]
            headers = [(b"authorization", f"Bearer {harness_token}".encode()), (b"host", b"127.0.0.1:8000")]
            await _broken(app, waits, "GET", f"/v1/workflows/{where}", b"wait=50", headers)

    play(story)


def test_under_plain_wsgi_the_answer_comes_at_once(
    harness: Caller, api_as: Callable[..., Any], harness_token: str
) -> None:
    where = new_draft(harness, task("a"))["workflow_id"]
    answer = api_as(harness_token).get(f"/v1/workflows/{where}?wait=50&since=1")
    assert (answer.status_code, answer.json()["status"]) == (200, "draft")


def test_a_server_that_stops_answers_whoever_waits_at_once(harness: Caller, harness_token: str) -> None:
    where = new_draft(harness, task("a"))["workflow_id"]

    async def story() -> None:
        async with endpoint(api=_api()) as (http, waits):
            agent = Agent(http, harness_token)
            asking = asyncio.ensure_future(agent.call("wait_for_decision", workflow_id=where))
            headers = {"Authorization": f"Bearer {harness_token}"}
            reading = asyncio.ensure_future(
                http.get(f"/v1/workflows/{where}?wait=50", headers=headers, timeout=60)
            )
            await _until(lambda: len(waits) == 2)
            told: list[int] = []
            before = signal.signal(signal.SIGTERM, lambda number, frame: told.append(number))
            try:
                async with waits.open():
                    signal.raise_signal(signal.SIGTERM)
                    assert text_of(await asyncio.wait_for(asking, SOON))["outcome"] == "pending"
                    assert (await asyncio.wait_for(reading, SOON)).json()["status"] == "draft"
            finally:
                signal.signal(signal.SIGTERM, before)
            assert told == [signal.SIGTERM], "the server hears of it too"

    play(story)


# -- The look-out ------------------------------------------------------------------------------------


def test_a_failing_look_is_tried_again() -> None:
    looks: list[str] = []

    def read(ids: Any) -> dict[str, int]:
        looks.append("look")
        if len(looks) == 1:
            raise OSError("away")
        return dict.fromkeys(ids, len(looks))

    async def run(function: Any, *arguments: Any) -> Any:
        return function(*arguments)

    async def story() -> bool:
        waits = Waits({"thing": read}, run, every=0.01)
        async with waits.open():
            return await waits.until(Watch("thing", "x", lambda seen: seen is not None and seen > 2), 5)

    assert play(story) is True
    assert len(looks) == 3
