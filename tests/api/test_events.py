"""Server-Sent Events: one after each change, resumed where a client left off, and nothing held meanwhile."""

from __future__ import annotations

import asyncio
import contextlib
import json
import threading
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from a2wsgi import WSGIMiddleware
from django.db import connections
from django.test import Client

from amendments.services.delete_workflow import delete_workflow
from chief_project import waiting
from chief_project.shared.caller import Caller
from chief_project.shared.http.events import EventStreams
from chief_project.shared.http.router import App, BufferedBody
from chief_project.shared.models import ApiToken, User
from chief_project.shared.services.revoke_token import revoke_token
from chief_project.shared.waits import Waits
from chief_project.wsgi import application as django_application
from tests.mcp.agents import aside, play
from tests.plans import checkpoint, task
from tests.runs import new_run, report
from tests.workflows import new_draft

pytestmark = pytest.mark.django_db(transaction=True)
PATIENCE = 60  # seconds, for a busy machine


class Listening:
    """One request to the stream, as a server would make it: what came, and a client that can leave."""

    def __init__(self, app: App, path: str, headers: dict[str, str], query: str = "") -> None:
        self.status = 0
        self.headers: dict[str, str] = {}
        self.text = ""
        self.ended = False
        self._come = asyncio.Event()
        self._left = asyncio.Event()
        sent = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
        self._scope = {
            "type": "http",
            "http_version": "1.1",
            "method": "GET",
            "path": path,
            "raw_path": path.encode(),
            "root_path": "",
            "scheme": "http",
            "query_string": query.encode(),
            "headers": [(b"host", b"127.0.0.1:8000"), *sent],
            "client": ("127.0.0.1", 1),
            "server": ("127.0.0.1", 8000),
        }
        self._unread = [{"type": "http.request", "body": b"", "more_body": False}]
        self.task = asyncio.ensure_future(app(self._scope, self._receive, self._send))

    async def _receive(self) -> Any:
        if self._unread:
            return self._unread.pop()
        await self._left.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: Any) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self.headers = {name.decode().lower(): value.decode() for name, value in message["headers"]}
        else:
            self.text += message.get("body", b"").decode()
            self.ended = not message.get("more_body", False)
        self._come.set()

    async def until(self, what: Callable[[Listening], bool], seconds: float = PATIENCE) -> Listening:
        async with asyncio.timeout(seconds):
            while not what(self):
                self._come.clear()
                await self._come.wait()
        return self

    async def heard(self, count: int) -> list[dict[str, Any]]:
        """The first ``count`` events, as soon as there are so many."""
        await self.until(lambda listening: len(listening.events) >= count)
        return self.events

    @property
    def events(self) -> list[dict[str, Any]]:
        blocks = [block for block in self.text.split("\n\n")[:-1] if not block.startswith(":")]
        found = [dict(line.split(": ", 1) for line in block.split("\n")) for block in blocks]
        return [{**event, "data": json.loads(event["data"])} for event in found]

    async def leave(self) -> None:
        self._left.set()
        await asyncio.wait_for(self.task, PATIENCE)


@contextlib.asynccontextmanager
async def streams(**options: Any) -> AsyncIterator[tuple[EventStreams, Waits]]:
    """The server's streams over the real application, looking more often than it would."""

    def closing(environ: Any, start_response: Any) -> Any:
        try:
            return list(django_application(environ, start_response))
        finally:
            connections.close_all()

    waits = Waits(waiting.WAITS.readers, waiting.LOOKING.run, every=0.05)
    api = BufferedBody(WSGIMiddleware(closing, workers=2), limit=1_000_000)  # type: ignore[arg-type]
    async with waits.open():
        yield EventStreams(api, waits, *waiting.STREAMS, **options), waits
    waiting.LOOKING.close()


@pytest.fixture
def as_harness(harness_token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {harness_token}", "Accept": "text/event-stream"}


@pytest.fixture
def as_rita(rita: User) -> dict[str, str]:
    client = Client()
    client.force_login(rita, backend="django.contrib.auth.backends.ModelBackend")
    return {"Cookie": f"chief_session={client.cookies['chief_session'].value}"}


QUICK = {"kept_alive": 0.2, "judged_anew": 0.4}
RUN = "/v1/runs/r1/events"


# -- What is heard -----------------------------------------------------------------------------------


def test_each_change_is_an_event_that_names_the_revision(
    harness: Caller, reviewer: Caller, as_harness: dict[str, str]
) -> None:
    revision = new_run(reviewer, task("a"), checkpoint("ok"))["revision"]

    async def story() -> None:
        async with streams() as (app, _):
            listening = Listening(app, RUN, as_harness, f"since={revision}")
            await listening.until(lambda here: ": listening" in here.text)
            assert listening.events == []
            await aside(report, harness, "a", "running")
            await listening.heard(1)
            await aside(report, harness, "ok", "running")
            first, second = await listening.heard(2)
            assert first == {
                "id": str(revision + 1),
                "data": {"run_id": "r1", "revision": revision + 1, "status": "running"},
            }
            assert second["data"]["status"] == "waiting_on_human"
            assert listening.headers["content-type"] == "text/event-stream"
            assert "no-cache" in listening.headers["cache-control"]
            assert listening.headers["x-accel-buffering"] == "no"
            assert "content-length" not in listening.headers
            await listening.leave()

    play(story)


def test_changes_between_two_looks_come_as_one(
    harness: Caller, reviewer: Caller, as_harness: dict[str, str]
) -> None:
    revision = new_run(reviewer, task("a"))["revision"]

    def hurry() -> None:
        for _ in range(20):
            report(harness, "a")

    async def story() -> None:
        async with streams() as (app, waits):
            listening = Listening(app, RUN, as_harness, f"since={revision}")
            await listening.until(lambda here: ": listening" in here.text)
            read, done = waits.readers["run"], threading.Event()
            waits.readers = {"run": lambda ids: (done.wait(PATIENCE), read(ids))[1]}  # no look in between
            await aside(hurry)
            done.set()
            await listening.until(
                lambda here: bool(here.events) and here.events[-1]["id"] == str(revision + 20)
            )
            assert len(listening.events) <= 2  # one look may have begun before
            await listening.leave()

    play(story)


def test_whoever_comes_back_is_told_at_once_what_was_missed(
    harness: Caller, reviewer: Caller, as_harness: dict[str, str]
) -> None:
    revision = new_run(reviewer, task("a"))["revision"]
    report(harness, "a", "running")

    async def story() -> None:
        async with streams() as (app, _):
            back = Listening(app, RUN, as_harness | {"Last-Event-ID": str(revision)}, "since=1")
            assert [event["id"] for event in await back.heard(1)] == [str(revision + 1)]
            new = Listening(app, RUN, as_harness)
            assert [event["id"] for event in await new.heard(1)] == [str(revision + 1)]
            current = Listening(app, RUN, as_harness | {"Last-Event-ID": str(revision + 1)})
            await current.until(lambda here: ": listening" in here.text)
            await asyncio.sleep(0.3)
            assert current.events == []
            for listening in (back, new, current):
                await listening.leave()

    play(story)


def test_a_deletion_is_said_and_ends_the_stream(
    reviewer: Caller, admin: Caller, as_harness: dict[str, str]
) -> None:
    run = new_run(reviewer, task("a"))

    async def story() -> None:
        async with streams() as (app, _):
            listening = Listening(app, RUN, as_harness, f"since={run['revision']}")
            await listening.until(lambda here: ": listening" in here.text)
            await aside(delete_workflow, caller=admin, workflow_id=run["workflow_id"])
            await listening.until(lambda here: here.ended)
            assert listening.events == [{"event": "gone", "data": {"run_id": "r1"}}]
            await asyncio.wait_for(listening.task, PATIENCE)

    play(story)


def test_quiet_streams_are_kept_alive(reviewer: Caller, as_harness: dict[str, str]) -> None:
    revision = new_run(reviewer, task("a"))["revision"]

    async def story() -> None:
        async with streams(**QUICK) as (app, _):
            listening = Listening(app, RUN, as_harness, f"since={revision}")
            await listening.until(lambda here: here.text.count(": still here\n\n") >= 2)
            assert listening.events == []
            await listening.leave()

    play(story)


# -- Who may hear ------------------------------------------------------------------------------------


def test_what_is_refused_is_refused_before_anything_is_held(
    reviewer: Caller, as_harness: dict[str, str]
) -> None:
    new_run(reviewer, task("a"))
    calls = [
        (RUN, {}, "", 401, "unauthenticated"),
        (RUN, {"Authorization": "Bearer chf_nonsense"}, "", 401, "unauthenticated"),
        ("/v1/runs/r9/events", as_harness, "", 404, "not_found"),
        (RUN, as_harness | {"Accept": "application/json"}, "", 406, "not_acceptable"),
        (RUN, as_harness, "since=x", 422, "validation_failed"),
        (RUN, as_harness, "sinse=1", 422, "validation_failed"),
        ("/events", {}, "", 401, "unauthenticated"),
        ("/events", as_harness, "", 401, "unauthenticated"),
    ]

    async def story() -> None:
        async with streams() as (app, waits):
            for path, headers, query, status, code in calls:
                answer = Listening(app, path, headers, query)
                await asyncio.wait_for(answer.task, PATIENCE)
                assert (answer.status, json.loads(answer.text)["error"]["code"]) == (status, code), path
                assert (len(waits), app.open) == (0, 0)

    play(story)


def test_a_stream_ends_soon_after_its_credential(
    admin: Caller, reviewer: Caller, as_harness: dict[str, str]
) -> None:
    revision = new_run(reviewer, task("a"))["revision"]
    token = ApiToken.objects.get(name="planner").pk

    async def story() -> None:
        async with streams(**QUICK) as (app, waits):
            listening = Listening(app, RUN, as_harness, f"since={revision}")
            await listening.until(lambda here: here.text.count(": still here") >= 3)
            await aside(revoke_token, caller=admin, token_id=token)
            await listening.until(lambda here: here.ended)
            await asyncio.wait_for(listening.task, PATIENCE)
            assert (len(waits), app.open) == (0, 0)

    play(story)


def test_a_session_hears_too(harness: Caller, reviewer: Caller, as_rita: dict[str, str]) -> None:
    new_run(reviewer, task("a"))

    async def story() -> None:
        async with streams() as (app, _):
            listening = Listening(app, RUN, as_rita)
            assert (await listening.heard(1))[0]["data"]["run_id"] == "r1"
            await listening.leave()

    play(story)


# -- What is held ------------------------------------------------------------------------------------


def test_many_streams_hold_one_thread_and_ask_one_question(
    reviewer: Caller, harness: Caller, as_harness: dict[str, str]
) -> None:
    revision = new_run(reviewer, task("a"))["revision"]

    async def story() -> None:
        async with streams() as (app, waits):
            crowd = [Listening(app, RUN, as_harness, f"since={revision}") for _ in range(60)]
            for each in crowd:
                await each.until(lambda here: ": listening" in here.text)
            await asyncio.sleep(0.2)
            looks: list[int] = []
            read = waits.readers["run"]
            waits.readers = {"run": lambda ids: (looks.append(len(ids)), read(ids))[1]}
            async with asyncio.timeout(PATIENCE):
                while len(looks) < 5:
                    await asyncio.sleep(0.02)
            assert len(waits) == 60
            assert set(looks) == {1}
            working = [each for each in threading.enumerate() if each.name.startswith("chief-waits")]
            assert len(working) == 1
            await aside(report, harness, "a", "running")
            for each in crowd:
                assert [event["id"] for event in await each.heard(1)] == [str(revision + 1)]
                await each.leave()
            assert (len(waits), app.open) == (0, 0)

    play(story)


def test_one_stream_too_many_is_asked_to_come_back(reviewer: Caller, as_harness: dict[str, str]) -> None:
    new_run(reviewer, task("a"))

    async def story() -> None:
        async with streams(most=1) as (app, _):
            first = Listening(app, RUN, as_harness)
            await first.heard(1)
            second = Listening(app, RUN, as_harness)
            await asyncio.wait_for(second.task, PATIENCE)
            assert (second.status, second.headers["retry-after"]) == (503, "5")
            assert json.loads(second.text)["error"]["code"] == "unavailable"
            once = Listening(app, RUN, as_harness, "once=true")
            await asyncio.wait_for(once.task, PATIENCE)
            assert once.status == 200
            await first.leave()
            third = Listening(app, RUN, as_harness)
            await third.heard(1)
            await third.leave()

    play(story)


def test_a_server_that_stops_ends_every_stream(reviewer: Caller, as_harness: dict[str, str]) -> None:
    new_run(reviewer, task("a"))

    async def story() -> None:
        async with streams() as (app, waits):
            listening = Listening(app, RUN, as_harness)
            await listening.heard(1)
            waits.let_go()
            await listening.until(lambda here: here.ended)
            await asyncio.wait_for(listening.task, PATIENCE)

    play(story)


# -- Without a stream --------------------------------------------------------------------------------


def test_asked_once_it_tells_what_happened_and_ends(reviewer: Caller, as_harness: dict[str, str]) -> None:
    revision = new_run(reviewer, task("a"))["revision"]

    async def story() -> None:
        async with streams() as (app, _):
            answer = Listening(app, RUN, as_harness, f"once=true&since={revision - 1}")
            await asyncio.wait_for(answer.task, PATIENCE)
            assert [event["id"] for event in answer.events] == [str(revision)]
            nothing = Listening(app, RUN, as_harness, f"once=true&since={revision}")
            await asyncio.wait_for(nothing.task, PATIENCE)
            assert (nothing.status, nothing.events) == (200, [])

    play(story)


def test_under_plain_wsgi_every_answer_ends(
    reviewer: Caller, api_as: Callable[..., Any], harness_token: str
) -> None:
    revision = new_run(reviewer, task("a"))["revision"]
    answer = api_as(harness_token).get(RUN, HTTP_ACCEPT="text/event-stream")
    assert (answer.status_code, answer["Content-Type"]) == (200, "text/event-stream")
    assert answer.content.startswith(f"id: {revision}\n".encode())
    heard = api_as(harness_token).get(RUN, HTTP_LAST_EVENT_ID=str(revision))
    assert b"data" not in heard.content


# -- Anything anywhere -------------------------------------------------------------------------------


def test_pages_hear_how_much_waits_now(harness: Caller, reviewer: Caller, as_rita: dict[str, str]) -> None:
    new_run(reviewer, task("a"), checkpoint("ok"))

    async def story() -> None:
        async with streams() as (app, _):
            listening = Listening(app, "/events", as_rita)
            assert (await listening.heard(1))[0]["data"] == {"waiting": 0}
            await aside(report, harness, "ok", "running")
            assert (await listening.heard(2))[1]["data"] == {"waiting": 1}
            await aside(new_draft, harness, task("b"))
            await listening.until(lambda here: here.events[-1]["data"] == {"waiting": 2})
            await listening.leave()

    play(story)
