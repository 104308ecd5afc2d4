"""Server-Sent Events: one after each change, on the event loop (contract 1 and 3).

A view answers what happened since and ends; that is all under a plain WSGI server, and what ``?once=true`` asks for.
``EventStreams`` asks the view first, so that it judges who asks and what for, and then holds the answer open. In
between looks there is a future, and neither a thread nor a database connection.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs

from django.http import HttpRequest, HttpResponse

from chief_project.shared.http.errors import refusal
from chief_project.shared.http.headers import EVENTS
from chief_project.shared.http.router import (
    App,
    Message,
    Receive,
    Scope,
    Send,
    answer_of,
    send_response,
    while_connected,
)
from chief_project.shared.waits import Facts, Waits, Watch
from chief_project.shared.wire.rendering import dumps

KEPT_ALIVE_SECONDS = 15.0
JUDGED_ANEW_SECONDS = 60.0
MOST_STREAMS = 500
_FULL = "too many event streams are open here: try again shortly, or read it with ?once=true"


@dataclass(frozen=True, slots=True)
class Event:
    """What a client hears. ``id`` is where it goes on from; it is the same as long as nothing changed."""

    id: str
    data: Mapping[str, Any]
    name: str = "message"

    def text(self) -> bytes:
        """On the wire. Events of another name than ``message`` don't move where a client goes on from."""
        head = f"id: {self.id}\n" if self.name == "message" else f"event: {self.name}\n"
        return head.encode() + b"data: " + dumps(self.data) + b"\n\n"


@dataclass(frozen=True, slots=True)
class Stream:
    """What is streamed below one path: changes of what ``path``'s only group (or the path itself) names.

    ``event`` tells the facts of ``kind``, or None of what is gone, then as an event of another name than ``message``.
    At most one event comes in ``pace`` seconds.
    """

    path: re.Pattern[str]
    kind: str
    event: Callable[[str, Facts | None], Event]
    pace: float = 0.5


def so_far(request: HttpRequest, event: Event) -> HttpResponse:
    """The answer of a view: ``event`` if the client hasn't heard it, and the end."""
    heard = _heard(request.META.get("HTTP_LAST_EVENT_ID"), request.GET.get("since"))
    text = b"" if event.id == heard else event.text()
    headers = {"Cache-Control": "private, no-cache", "X-Accel-Buffering": "no"}
    return HttpResponse(text or b": nothing new\n\n", content_type=EVENTS, headers=headers)


def _heard(last_event_id: str | None, since: str | None) -> str | None:
    return last_event_id or since


class EventStreams:
    """Holds ``GET`` of the ``streams``' paths open, ``most`` of them at a time, and passes everything else on.

    A comment every ``kept_alive`` seconds keeps what stands between from closing a quiet stream; every
    ``judged_anew`` seconds the view is asked again, for a token may have been revoked.
    """

    def __init__(
        self,
        app: App,
        waits: Waits,
        *streams: Stream,
        most: int = MOST_STREAMS,
        kept_alive: float = KEPT_ALIVE_SECONDS,
        judged_anew: float = JUDGED_ANEW_SECONDS,
    ) -> None:
        self.app = app
        self.waits = waits
        self.streams = streams
        self.most = most
        self.kept_alive = kept_alive
        self.judged_anew = judged_anew
        self.open = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        given = parse_qs(scope["query_string"].decode("ascii", "replace"))
        if scope["method"] == "GET" and given.get("once") != ["true"]:
            for stream in self.streams:
                match = stream.path.fullmatch(scope["path"])
                if match is not None:
                    await while_connected(
                        self._followed(stream, match[match.re.groups]), scope, receive, send
                    )
                    return
        await self.app(scope, receive, send)

    def _followed(self, stream: Stream, name: str) -> App:
        async def followed(scope: Scope, receive: Receive, send: Send) -> None:
            judged = await answer_of(self.app, scope)
            if judged[0]["status"] != 200:
                for message in judged:
                    await send(message)
            elif self.open >= self.most:
                await send_response(refusal(503, _FULL, headers={"Retry-After": "5"}), send)
            else:
                self.open += 1
                try:
                    await self._stream(stream, name, judged[0], scope, send)
                finally:
                    self.open -= 1

        return followed

    async def _stream(self, stream: Stream, name: str, start: Message, scope: Scope, send: Send) -> None:
        async def say(text: bytes, *, more: bool = True) -> None:
            await send({"type": "http.response.body", "body": text, "more_body": more})

        clock = asyncio.get_running_loop().time
        headers = [header for header in start["headers"] if header[0].lower() != b"content-length"]
        await send({**start, "headers": headers})
        await say(b": listening\n\n")  # so that a client sees at once whether events get through
        heard = _heard_by(scope)
        judged = clock()
        while not self.waits.ending:
            try:
                facts = await self.waits.facts(_news(stream, name, heard), self.kept_alive)
                event = stream.event(name, facts)
            except TimeoutError:
                event = None
            if clock() - judged >= self.judged_anew:
                if not await self._may_go_on(scope):
                    break
                judged = clock()
            if event is None:
                await say(b": still here\n\n")
                continue
            await say(event.text())
            if event.name != "message":
                break
            heard = event.id
            await asyncio.sleep(stream.pace)
        await say(b"", more=False)

    async def _may_go_on(self, scope: Scope) -> bool:
        """Whether who asks still may; a database that is away for a moment ends nothing."""
        status = (await answer_of(self.app, scope))[0]["status"]
        return status == 200 or status >= 500


def _heard_by(scope: Scope) -> str | None:
    last = dict(scope["headers"]).get(b"last-event-id")
    since = parse_qs(scope["query_string"].decode("ascii", "replace")).get("since", [None])[0]
    return _heard(None if last is None else last.decode("latin-1"), since)


def _news(stream: Stream, name: str, heard: str | None) -> Watch:
    """Until there is something that a client who ``heard`` hasn't."""
    return Watch(stream.kind, name, lambda facts: facts is None or stream.event(name, facts).id != heard)
