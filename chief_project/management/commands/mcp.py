"""`mcp`: the MCP endpoint on its own, over HTTP or for one agent over stdio (contract 10 and 11)."""

from __future__ import annotations

import asyncio
import os
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

import uvicorn
from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import connections

from chief_project.bootstrap import TOKEN_FILE
from chief_project.environment import MCP_TOOLS
from chief_project.listening import check_port, own_address, settle_tools, uvicorn_options
from chief_project.management.database import must_be_usable
from chief_project.mcp import Endpoint, HttpEndpoint
from chief_project.shared.errors import Unauthenticated
from chief_project.shared.http.errors import refusal
from chief_project.shared.http.router import Receive, Router, Scope, Send, send_response
from chief_project.shared.principals import caller_of_token
from chief_project.waiting import LOOKING, WAITS, looking_out

TOKEN_VARIABLE = "CHIEF_TOKEN"  # noqa: S105 - a variable's name


class Command(BaseCommand):
    help = "Serve the MCP endpoint alone: over HTTP, or with --stdio for one agent."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--stdio", action="store_true", help="speak MCP on standard input and output")
        parser.add_argument("--host", default="127.0.0.1", help="the address to listen on (127.0.0.1)")
        parser.add_argument("--port", type=int, default=8001, help="the port to listen on (8001)")
        parser.add_argument("--tools", choices=MCP_TOOLS, help="the tools that are offered (all)")
        parser.add_argument(
            "--token-file",
            type=Path,
            help=f"for --stdio, where {TOKEN_VARIABLE} is not set: a file with the agent's token"
            f" ({TOKEN_FILE} in the data directory)",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        tools = settle_tools(options["tools"])
        must_be_usable()
        connections.close_all()
        if options["stdio"]:
            self.serve_stdio(tools, self.token(options["token_file"]))
        else:
            self.serve_http(tools, options["host"], options["port"])

    def token(self, path: Path | None) -> str:
        """From the environment or a file, and valid; never from the command line, which others can read."""
        token, source = os.environ.get(TOKEN_VARIABLE, "").strip(), TOKEN_VARIABLE
        if path is not None or not token:
            path = path or settings.CHIEF_DATA_DIR / TOKEN_FILE
            source = str(path)
            try:
                token = path.read_text(encoding="ascii").strip()
            except (OSError, UnicodeDecodeError) as problem:
                raise CommandError(
                    f"{TOKEN_VARIABLE}: not set, and {source} can't be read: make a token with create_token"
                ) from problem
        try:
            caller_of_token(token, via="mcp")
        except Unauthenticated as problem:
            raise CommandError(f"{source}: {problem.message}") from problem
        finally:
            connections.close_all()
        return token

    def serve_stdio(self, tools: str, token: str) -> None:
        endpoint = Endpoint(tools=tools, waits=WAITS, token=token)

        async def serve() -> None:
            async with looking_out():
                await endpoint.server.run_stdio_async()

        try:
            asyncio.run(serve())
        finally:
            endpoint.threads.close()
            LOOKING.close()

    def serve_http(self, tools: str, host: str, port: int) -> None:
        origins: tuple[str, ...] = ()
        if settings.ENVIRONMENT.url_is_default:
            origins = (own_address(host, port),)
        check_port(host, port)
        endpoint = HttpEndpoint(tools=tools, waits=WAITS, origins=origins)
        address = origins[0] if origins else settings.CHIEF_URL
        self.stdout.write(f"Chief's MCP endpoint is at {address}/mcp (stop it with Ctrl-C)")
        self.stdout.flush()
        routes = {"/mcp": endpoint}
        router = Router(default=nothing, routes=routes, lifespans=[looking_out, endpoint.running])
        uvicorn.run(router, **uvicorn_options(host, port))


async def nothing(scope: Scope, receive: Receive, send: Send) -> None:
    """What another path answers here."""
    await send_response(refusal(404, "nothing is here: the MCP endpoint is /mcp"), send)
