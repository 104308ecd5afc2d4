"""``?wait=``: answers that are held until something is decided, on the event loop (contract 1).

The request is asked twice. First with ``If-None-Match: *``, which judges everything (who asks, whether it is there,
the parameters) and builds nothing; then, once it is decided or the time is over, as it came. In between there is a
future, and neither a thread nor a database connection.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import parse_qs

from chief_project.shared.http.router import App, Message, Receive, Scope, Send, answer_of, while_connected
from chief_project.shared.waits import Waits, Watch

Settled = Callable[[int | None], Callable[[Any], bool]]
_FINE = frozenset({200, 304})


class HeldAnswers:
    """Holds ``GET {path}/{id}?wait=…`` for the paths in ``kinds``, and passes everything else on.

    ``kinds``: by path prefix (``/v1/runs``), the kind of what is waited for, and what says from ``since`` and the
    facts whether waiting is over.
    """

    def __init__(self, app: App, waits: Waits, kinds: Mapping[str, tuple[str, Settled]]) -> None:
        self.app = app
        self.waits = waits
        self.kinds = kinds
        self._path = re.compile(rf"({'|'.join(map(re.escape, kinds))})/([A-Za-z0-9_.:\-]{{1,200}})")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        match = None
        if scope["method"] == "GET" and b"wait=" in scope["query_string"]:
            match = self._path.fullmatch(scope["path"])
        if match is None:
            await self.app(scope, receive, send)
            return
        kind, settled = self.kinds[match[1]]
        name = match[2]

        async def held(scope: Scope, receive: Receive, send: Send) -> None:
            first = await self._ask(scope)
            if first[0]["status"] in _FINE:
                given = parse_qs(scope["query_string"].decode("ascii", "replace"))
                since = int(given["since"][0]) if "since" in given else None
                await self.waits.until(Watch(kind, name, settled(since)), int(given["wait"][0]))
                await self.app(scope, _no_body(receive), send)
                return
            for message in first:
                await send(message)

        await while_connected(held, scope, receive, send)

    async def _ask(self, scope: Scope) -> list[Message]:
        """What a first look at the request answers, built as little as can be."""
        headers = [header for header in scope["headers"] if header[0] != b"if-none-match"]
        return await answer_of(self.app, {**scope, "headers": [*headers, (b"if-none-match", b"*")]})


def _no_body(receive: Receive) -> Receive:
    """A ``receive`` of a request that has none."""
    unread: list[Message] = [{"type": "http.request", "body": b"", "more_body": False}]

    async def replayed() -> Message:
        return unread.pop() if unread else await receive()

    return replayed
