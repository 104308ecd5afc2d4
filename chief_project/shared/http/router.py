"""Plain ASGI: a router by path prefix, bodies that are read before a thread is taken, clients that leave."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import Any

from django.http import HttpResponse

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

# A refused body is read a little further, so that a client that is still sending gets to read the answer.
DRAIN_BYTES = 64 * 1024 * 1024
DRAIN_SECONDS = 5.0


class Router:
    """The longest matching prefix of `routes` decides; what matches none goes to `default`.

    A route is an ASGI application: it gets the connection as it is, body unread. `lifespans` are async
    context managers that are open while the server runs.
    """

    def __init__(
        self,
        *,
        default: App,
        routes: Mapping[str, App] | None = None,
        lifespans: list[Callable[[], contextlib.AbstractAsyncContextManager[Any]]] | None = None,
    ) -> None:
        self.default = default
        self.routes = sorted((routes or {}).items(), key=lambda route: -len(route[0]))
        self.lifespans = lifespans or []

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.run_lifespan(receive, send)
        elif scope["type"] == "http":
            await self.app_for(scope["path"])(scope, receive, send)
        else:  # nothing here speaks WebSocket
            await send({"type": "websocket.close", "code": 1000})

    def app_for(self, path: str) -> App:
        for prefix, app in self.routes:
            if path == prefix or path.startswith(prefix.rstrip("/") + "/"):
                return app
        return self.default

    async def run_lifespan(self, receive: Receive, send: Send) -> None:
        async with contextlib.AsyncExitStack() as stack:
            await receive()
            try:
                for lifespan in self.lifespans:
                    await stack.enter_async_context(lifespan())
            except Exception as problem:
                await send({"type": "lifespan.startup.failed", "message": str(problem)})
                return
            await send({"type": "lifespan.startup.complete"})
            await receive()
        await send({"type": "lifespan.shutdown.complete"})


class BufferedBody:
    """Reads the request's body, refuses it over `limit` bytes with 413, and hands it on in one piece."""

    def __init__(self, app: App, *, limit: int) -> None:
        self.app = app
        self.limit = limit

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = dict(scope["headers"])
        declared = headers.get(b"content-length")
        if declared is not None and declared.isdigit() and int(declared) > self.limit:
            await self.refuse(receive, send)
            return
        if declared in (None, b"0") and b"transfer-encoding" not in headers:
            await self.app(scope, _replay(b"", receive), send)
            return
        body = bytearray()
        more = True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                return
            body += message.get("body", b"")
            more = message.get("more_body", False)
            if len(body) > self.limit:
                await self.refuse(receive, send, more=more)
                return
        if declared is None:
            length = (b"content-length", str(len(body)).encode())
            scope = {**scope, "headers": [*scope["headers"], length]}
        await self.app(scope, _replay(bytes(body), receive), send)

    async def refuse(self, receive: Receive, send: Send, *, more: bool = True) -> None:
        text = f"the body is larger than {self.limit} bytes: send less, or split it"
        error = {"code": "too_large", "message": text, "details": {"limit": self.limit}}
        answer = json.dumps({"error": error}).encode()
        headers = [
            (b"content-type", b"application/json"),
            (b"content-length", str(len(answer)).encode()),
            (b"connection", b"close"),
        ]
        await send({"type": "http.response.start", "status": 413, "headers": headers})
        await send({"type": "http.response.body", "body": answer, "more_body": True})
        if more:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(_drain(receive), DRAIN_SECONDS)
        await send({"type": "http.response.body", "body": b""})


async def _drain(receive: Receive) -> None:
    read = 0
    while read < DRAIN_BYTES:
        message = await receive()
        if message["type"] == "http.disconnect" or not message.get("more_body", False):
            return
        read += len(message.get("body", b""))


def _replay(body: bytes, receive: Receive) -> Receive:
    """A `receive` that gives the whole body first, and then what the connection says."""
    waiting = [body]

    async def replayed() -> Message:
        if waiting:
            return {"type": "http.request", "body": waiting.pop(), "more_body": False}
        return await receive()

    return replayed


async def while_connected(app: App, scope: Scope, receive: Receive, send: Send) -> None:
    """Run `app` on a request whose body has been read, and cancel it when its client leaves.

    For what may take long and would otherwise go on for nobody.
    """
    first = await receive()
    gone = asyncio.Event()
    unread = [first]

    async def replayed() -> Message:
        if unread:
            return unread.pop()
        await gone.wait()
        return {"type": "http.disconnect"}

    async def watch() -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        gone.set()

    if first["type"] == "http.disconnect":
        return
    work = asyncio.ensure_future(app(scope, replayed, send))
    watching = asyncio.create_task(watch())
    try:
        await asyncio.wait({work, watching}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        watching.cancel()
        if not work.done():
            work.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await work
    if not work.cancelled():
        work.result()


async def answer_of(app: App, scope: Scope) -> list[Message]:
    """What `app` answers to a request without a body."""
    answered: list[Message] = []

    async def keep(message: Message) -> None:
        answered.append(message)

    async def ended() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    await app(scope, ended, keep)
    return answered


async def send_response(response: HttpResponse, send: Send) -> None:
    """Send an answer of Django's over ASGI; the connection ends with it, for a body was perhaps not read."""
    headers = [
        (name.lower().encode("latin-1"), str(value).encode("latin-1")) for name, value in response.items()
    ]
    headers += [(b"content-length", str(len(response.content)).encode()), (b"connection", b"close")]
    await send({"type": "http.response.start", "status": response.status_code, "headers": headers})
    await send({"type": "http.response.body", "body": response.content})
