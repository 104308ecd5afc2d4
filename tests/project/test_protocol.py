"""What the server refuses before an application sees it has the envelope too."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
import uvicorn
from uvicorn.server import ServerState

from chief_project.protocol import HEAD_BYTES, ChiefProtocol


class Line(asyncio.Transport):
    """A connection that keeps what is written to it."""

    def __init__(self) -> None:
        super().__init__()
        self.written = b""
        self.closed = False

    def write(self, data: Any) -> None:
        self.written += bytes(data)

    def close(self) -> None:
        self.closed = True

    def is_closing(self) -> bool:
        return self.closed

    def pause_reading(self) -> None: ...

    def resume_reading(self) -> None: ...


def answer_to(*pieces: bytes) -> tuple[int, dict[str, Any], bytes] | None:
    """Status, error and head of what the server says to `pieces` by itself; None when it goes on to the application."""

    async def application(scope: Any, receive: Any, send: Any) -> None:
        await asyncio.Event().wait()  # it is never heard of here

    async def talk() -> bytes | None:
        config = uvicorn.Config(application, log_config=None, http=ChiefProtocol)
        config.load()
        protocol = ChiefProtocol(config=config, server_state=ServerState(), app_state={})
        line = Line()
        protocol.connection_made(line)
        for piece in pieces:
            if not line.closed:
                protocol.data_received(piece)
        return line.written if line.closed else None

    written = asyncio.run(talk())
    if written is None:
        return None
    head, _, body = written.partition(b"\r\n\r\n")
    return int(head.split()[1]), json.loads(body)["error"], head


@pytest.mark.parametrize("method", [b"FOO", b"get", b"G" * 5000])
def test_a_method_that_http_doesnt_know_is_a_405_that_says_which_there_are(method: bytes) -> None:
    said = answer_to(method + b" /v1/me HTTP/1.1\r\nHost: x\r\n\r\n")
    assert said is not None
    status, error, head = said
    assert (status, error["code"]) == (405, "method_not_allowed")
    assert b"\r\nallow: GET, POST" in head
    assert b"\r\nconnection: close" in head


@pytest.mark.parametrize(
    "raw",
    [
        b"GET /v1/me HTTP/9.9\r\nHost: x\r\n\r\n",
        b"GET /v1/me HTTP/1.1\r\nHost: x\r\nA: \0\r\n\r\n",
        b"POST /v1/me HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
        b"POST /v1/me HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
        b"POST /v1/me HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}",
        b"\x16\x03\x01\x02\x00\x01",
    ],
)
def test_what_isnt_http_is_refused_in_the_envelope(raw: bytes) -> None:
    said = answer_to(raw)
    assert said is not None
    assert said[1]["code"] in ("validation_failed", "method_not_allowed")
    assert said[0] in (422, 405)


def test_headers_that_never_end_are_refused_at_the_limit() -> None:
    piece = b"a" * 65536
    said = answer_to(b"GET /v1/me HTTP/1.1\r\nHost: x\r\nA: ", *[piece] * 100)
    assert said is not None
    assert (said[0], said[1]["code"]) == (413, "too_large")
    assert str(HEAD_BYTES) in said[1]["message"]


def test_ordinary_requests_go_on_to_the_application_however_they_come_in_pieces() -> None:
    get = b"GET /v1/me HTTP/1.1\r\nHost: x\r\nA: " + b"a" * 1000 + b"\r\n\r\n"
    assert answer_to(*[get[at : at + 7] for at in range(0, len(get), 7)]) is None
    body = b"x" * (2 * HEAD_BYTES)
    post = b"POST /v1/me HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % len(body)
    assert answer_to(post, body[:HEAD_BYTES], body[HEAD_BYTES:]) is None
