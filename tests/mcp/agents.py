"""Agents, as tests need them: a tool called as the endpoint calls it, and the endpoint over HTTP in this process."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from typing import Any

import httpx
from asgiref.sync import sync_to_async
from django.db import connections

from chief_project import waiting
from chief_project.mcp import TOOLS, HttpEndpoint
from chief_project.shared.caller import Caller
from chief_project.shared.http.held import HeldAnswers
from chief_project.shared.http.router import App, Router
from chief_project.shared.mcp import Outcome, carry_out
from chief_project.shared.waits import Waits

TOOLS_BY_NAME = {tool.name: tool for tool in TOOLS}
NEWEST = "2026-07-28"


def call(caller: Caller, name: str, **arguments: Any) -> Outcome:
    """What a tool answers ``caller``, who comes through MCP."""
    agent = replace(caller, via="mcp", signed_in=False)
    return carry_out(TOOLS_BY_NAME[name], lambda: agent, arguments)


def done(caller: Caller, name: str, **arguments: Any) -> dict[str, Any]:
    """The content of a call that must succeed."""
    outcome = call(caller, name, **arguments)
    assert not outcome.refused, outcome.text
    return outcome.content


def refused(caller: Caller, name: str, **arguments: Any) -> dict[str, Any]:
    """The error of a call that must be refused."""
    outcome = call(caller, name, **arguments)
    assert outcome.refused, outcome.text
    error: dict[str, Any] = outcome.content["error"]
    return error


class Agent:
    """Speaks JSON-RPC to an endpoint over HTTP, in one protocol revision."""

    def __init__(self, http: httpx.AsyncClient, token: str | None, revision: str = NEWEST) -> None:
        self.http = http
        self.token = token
        self.revision = revision
        self._last = 0

    async def post(self, method: str, params: dict[str, Any] | None = None, **headers: str) -> httpx.Response:
        """The answer to one message."""
        self._last += 1
        params = dict(params or {})
        sent = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": self.revision}
        if self.revision == NEWEST:
            params["_meta"] = {
                "io.modelcontextprotocol/protocolVersion": self.revision,
                "io.modelcontextprotocol/clientInfo": {"name": "tests", "version": "1"},
                "io.modelcontextprotocol/clientCapabilities": {},
            }
            sent["Mcp-Method"] = method
            if "name" in params or "uri" in params:
                sent["Mcp-Name"] = params.get("name") or params["uri"]
        if self.token is not None:
            sent["Authorization"] = f"Bearer {self.token}"
        message = {"jsonrpc": "2.0", "id": self._last, "method": method, "params": params}
        return await self.http.post("/mcp", json=message, headers=sent | headers, timeout=60)

    async def ask(self, method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
        """The result of one message."""
        answer = await self.post(method, params)
        assert answer.status_code == 200, answer.text
        body: dict[str, Any] = answer.json()
        assert "result" in body, body
        result: dict[str, Any] = body["result"]
        return result

    async def call(self, name: str, **arguments: Any) -> dict[str, Any]:
        """The result of a tool's call, as it comes."""
        return await self.ask("tools/call", {"name": name, "arguments": arguments})


@contextlib.asynccontextmanager
async def endpoint(
    *, tools: str = "all", every: float = 0.05, api: App | None = None
) -> AsyncIterator[tuple[httpx.AsyncClient, Waits]]:
    """A server with the endpoint on ``/mcp`` and, behind ``?wait=``, ``api``; a client of it, and who waits there."""
    waits = Waits(waiting.WAITS.readers, waiting.LOOKING.run, every=every)
    mcp = HttpEndpoint(tools=tools, waits=waits)
    router = Router(default=HeldAnswers(api or mcp, waits, waiting.HELD), routes={"/mcp": mcp})
    async with waits.open(), mcp.running():
        transport = httpx.ASGITransport(app=router)  # type: ignore[arg-type]
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000") as http:
            yield http, waits
    waiting.LOOKING.close()


def play(story: Callable[[], Awaitable[Any]]) -> Any:
    """Run a story on an event loop of its own."""
    return asyncio.run(story())  # type: ignore[arg-type]


async def aside(function: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
    """What a person does meanwhile: ``function`` on another thread, whose connection is closed after it."""

    def acted() -> Any:
        try:
            return function(*arguments, **named)
        finally:
            connections.close_all()

    return await sync_to_async(acted, thread_sensitive=False)()


def text_of(result: dict[str, Any]) -> dict[str, Any]:
    """The text of a tool's result, read as JSON."""
    (block,) = result["content"]
    found: dict[str, Any] = json.loads(block["text"])
    return found
