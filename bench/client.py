"""Requests through the real WSGI application, in this process: middleware, token, view, service, database, answer.

No socket, no HTTP parser, no thread pool: what a server adds around the application is not part of the figures.
"""

from __future__ import annotations

import io
import json
from dataclasses import dataclass
from time import perf_counter, sleep, thread_time
from typing import Any

from chief_project.wsgi import application


def rest() -> None:
    """Sleep a moment before what is timed: who slept gets a whole turn of a processor that others want too."""
    sleep(0.002)


@dataclass(frozen=True, slots=True)
class Answer:
    """``seconds`` is from the call of the application to the end of its answer; ``busy`` what of it this thread had of
    the processor.
    """

    status: int
    headers: dict[str, str]
    body: bytes
    seconds: float
    busy: float

    def json(self) -> Any:
        """The body as a value."""
        return json.loads(self.body)


class Client:
    """Sends one request after another with a bearer token."""

    def __init__(self, token: str) -> None:
        self._token = token

    def post(self, path: str, body: Any, **headers: str) -> Answer:
        """POST a JSON body; ``headers`` as in ``prefer="return=minimal"``."""
        return self._send("POST", path, json.dumps(body).encode(), headers)

    def get(self, path: str, **headers: str) -> Answer:
        """GET; any status below 400 will do."""
        return self._send("GET", path, b"", headers)

    def _send(self, method: str, path: str, raw: bytes, headers: dict[str, str]) -> Answer:
        environ = {
            "REQUEST_METHOD": method,
            "SCRIPT_NAME": "",
            "PATH_INFO": path,
            "QUERY_STRING": "",
            "SERVER_NAME": "127.0.0.1",
            "SERVER_PORT": "8000",
            "SERVER_PROTOCOL": "HTTP/1.1",
            "REMOTE_ADDR": "127.0.0.1",
            "HTTP_HOST": "127.0.0.1:8000",
            "HTTP_AUTHORIZATION": f"Bearer {self._token}",
            "HTTP_ACCEPT": "*/*",
            "HTTP_USER_AGENT": "bench",
            "CONTENT_TYPE": "application/json",
            "CONTENT_LENGTH": str(len(raw)),
            "wsgi.version": (1, 0),
            "wsgi.url_scheme": "http",
            "wsgi.input": io.BytesIO(raw),
            "wsgi.errors": io.StringIO(),
            "wsgi.multithread": True,
            "wsgi.multiprocess": False,
            "wsgi.run_once": False,
        } | {f"HTTP_{name.upper()}": value for name, value in headers.items()}
        started: list[Any] = []

        def start_response(status: str, given: list[tuple[str, str]], problem: Any = None) -> Any:
            started[:] = [int(status.split(" ", 1)[0]), dict(given)]
            return None

        rest()
        begin, busy = perf_counter(), thread_time()
        response = application(environ, start_response)
        body = b"".join(response)
        response.close()  # type: ignore[attr-defined]
        seconds, busy = perf_counter() - begin, thread_time() - busy
        answer = Answer(started[0], started[1], body, seconds, busy)
        if answer.status >= 400:
            raise SystemExit(f"{method} {path}: {answer.status} {body[:500].decode(errors='replace')}")
        return answer
