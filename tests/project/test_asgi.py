"""The ASGI router: bodies are read, counted and refused before a thread is taken."""

import asyncio
import json
from contextlib import asynccontextmanager

from chief_project.asgi import BufferedBody, Router


def exchange(app, *, headers=(), chunks=(b"",), path="/"):
    """One request, its body in `chunks`; what the application sent."""
    waiting = [
        {"type": "http.request", "body": chunk, "more_body": number < len(chunks)}
        for number, chunk in enumerate(chunks, 1)
    ]
    sent = []

    async def receive():
        return waiting.pop(0) if waiting else {"type": "http.disconnect"}

    async def send(message):
        sent.append(message)

    scope = {"type": "http", "method": "POST", "path": path, "headers": list(headers)}
    asyncio.run(app(scope, receive, send))
    return sent


class Recorder:
    """An application that keeps the requests it gets."""

    def __init__(self):
        self.requests = []

    async def __call__(self, scope, receive, send):
        message = await receive()
        self.requests.append((dict(scope["headers"]), message["body"], message["more_body"]))


def refused(sent):
    body = b"".join(message.get("body", b"") for message in sent[1:])
    error = json.loads(body)["error"]
    return (sent[0]["status"], error["code"], error["details"]) == (413, "too_large", {"limit": 10})


def test_a_declared_body_over_the_limit_is_refused_unread():
    inner = Recorder()
    assert refused(exchange(BufferedBody(inner, limit=10), headers=[(b"content-length", b"11")]))
    assert inner.requests == []


def test_a_chunked_body_is_refused_when_it_passes_the_limit():
    inner = Recorder()
    sent = exchange(
        BufferedBody(inner, limit=10), headers=[(b"transfer-encoding", b"chunked")], chunks=[b"123456"] * 5
    )
    assert refused(sent)
    assert inner.requests == []


def test_a_chunked_body_arrives_whole_with_its_length():
    inner = Recorder()
    exchange(
        BufferedBody(inner, limit=10), headers=[(b"transfer-encoding", b"chunked")], chunks=[b"12345"] * 2
    )
    [(headers, body, more)] = inner.requests
    assert (headers[b"content-length"], body, more) == (b"10", b"1234512345", False)


def test_a_client_that_leaves_while_sending_starts_nothing():
    inner = Recorder()

    async def run():
        async def receive():
            return {"type": "http.disconnect"}

        async def send(message):
            raise AssertionError(message)

        scope = {"type": "http", "headers": [(b"content-length", b"5")]}
        await BufferedBody(inner, limit=10)(scope, receive, send)

    asyncio.run(run())
    assert inner.requests == []


def test_a_native_route_gets_its_prefix_and_nothing_else():
    default, native = Recorder(), Recorder()
    router = Router(default=default, routes={"/mcp": native})
    for path in ("/mcp", "/mcp/x", "/mcpx", "/"):
        exchange(router, path=path)
    assert (len(native.requests), len(default.requests)) == (2, 2)


def test_lifespans_are_open_while_the_server_runs():
    story = []

    @asynccontextmanager
    async def lifespan():
        story.append("open")
        yield
        story.append("closed")

    async def run():
        messages = iter(["lifespan.startup", "lifespan.shutdown"])

        async def receive():
            return {"type": next(messages)}

        async def send(message):
            story.append(message["type"])

        router = Router(default=Recorder(), lifespans=[lifespan])
        await router({"type": "lifespan"}, receive, send)

    asyncio.run(run())
    assert story == ["open", "lifespan.startup.complete", "closed", "lifespan.shutdown.complete"]
