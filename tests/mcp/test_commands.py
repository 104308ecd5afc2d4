"""``manage.py mcp`` and ``serve``, as processes: stdio, HTTP, what they say and where (contract 11)."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

from tests.plans import plan, task
from tests.servers import PATIENCE, ROOT


def _environ(directory: Path) -> dict[str, str]:
    mine = ("CHIEF_", "DJANGO_", "DATABASE_URL")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(mine)}
    return kept | {"CHIEF_DATA_DIR": str(directory)}


def _run(directory: Path, *arguments: str, **more: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT,
        env=_environ(directory) | more.pop("env", {}),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
        **more,
    )


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data directory with a database, and a harness's token where ``serve`` would have put it."""
    directory = tmp_path_factory.mktemp("chief")
    migrated = _run(directory, "migrate", "--verbosity", "0")
    assert migrated.returncode == 0, migrated.stderr
    made = _run(directory, "create_token", "--kind", "harness", "--name", "stdio")
    (directory / "harness.token").write_text(made.stdout)
    return directory


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextlib.contextmanager
def _serving(directory: Path, *arguments: str) -> Iterator[str]:
    """The address of a process that serves until the block ends."""
    port = _free_port()
    process = subprocess.Popen(
        [sys.executable, "manage.py", *arguments, "--port", str(port)],
        cwd=ROOT,
        env=_environ(directory),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        address = f"http://127.0.0.1:{port}"
        _until_it_answers(address, process)
        yield address
    finally:
        process.terminate()
        process.communicate(timeout=PATIENCE)


def _until_it_answers(address: str, process: subprocess.Popen[str]) -> None:
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        with contextlib.suppress(httpx.HTTPError):
            httpx.get(f"{address}/mcp")
            return
        assert process.poll() is None, process.communicate()[0]
        time.sleep(0.1)
    raise AssertionError("the server never answered")


# -- stdio -------------------------------------------------------------------------------------------


def _speak(directory: Path, *messages: dict[str, Any], tools: str = "all") -> list[dict[str, Any]]:
    """What the process answers on standard output, line by line."""
    lines = "".join(json.dumps({"jsonrpc": "2.0", **message}) + "\n" for message in messages)
    process = subprocess.Popen(
        [sys.executable, "manage.py", "mcp", "--stdio", "--tools", tools],
        cwd=ROOT,
        env=_environ(directory),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(lines)
    process.stdin.flush()
    answers = [json.loads(process.stdout.readline()) for message in messages if "id" in message]
    rest, errors = process.communicate(timeout=PATIENCE)
    assert rest == "", "nothing but the protocol on standard output"
    assert "chf_" not in errors
    assert process.returncode == 0, errors
    return answers


@pytest.mark.parametrize("revision", HANDSHAKE_PROTOCOL_VERSIONS)
def test_stdio_speaks_every_older_revision(revision: str, place: Path) -> None:
    hello = {"protocolVersion": revision, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    greeted, listed, called = _speak(
        place,
        {"id": 1, "method": "initialize", "params": hello},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/list"},
        {"id": 3, "method": "tools/call", "params": {"name": "get_run", "arguments": {"run_id": "none"}}},
        tools="core" if revision == HANDSHAKE_PROTOCOL_VERSIONS[0] else "all",
    )
    assert greeted["result"]["protocolVersion"] == revision
    assert any(tool["name"] == "get_next" for tool in listed["result"]["tools"])
    if revision == HANDSHAKE_PROTOCOL_VERSIONS[0]:
        assert called["result"]["isError"]
    else:
        assert json.loads(called["result"]["content"][0]["text"])["error"]["code"] == "not_found"


def test_the_sdks_client_works_over_stdio_and_over_http(place: Path) -> None:
    async def story(server: Any) -> None:
        async with Client(server) as client:
            assert len((await client.list_tools()).tools) == 32
            made = await client.call_tool("create_workflow", plan(task("a")))
            assert not made.is_error, made
            refused = await client.call_tool(
                "approve_workflow", {"workflow_id": made.structured_content["workflow_id"]}
            )
            assert refused.is_error
            assert refused.structured_content["error"]["code"] == "forbidden"

    stdio = StdioServerParameters(
        command=sys.executable, args=["manage.py", "mcp", "--stdio"], env=_environ(place), cwd=ROOT
    )
    asyncio.run(story(stdio))
    token = (place / "harness.token").read_text().strip()
    for command in (("mcp",), ("serve",)):
        with _serving(place, *command) as address:
            asyncio.run(_over_http(f"{address}/mcp", token, story))


async def _over_http(url: str, token: str, story: Any) -> None:
    from mcp.client.streamable_http import create_mcp_http_client  # noqa: PLC0415

    async with create_mcp_http_client(headers={"Authorization": f"Bearer {token}"}) as http:
        await story(streamable_http_client(url, http_client=http))


def test_alone_it_answers_nothing_but_mcp_and_serves_its_own_origin(place: Path) -> None:
    with _serving(place, "mcp") as address:
        assert httpx.get(f"{address}/v1/me").status_code == 404
        assert httpx.post(f"{address}/mcp", json={}).status_code == 401
        assert httpx.post(f"{address}/mcp", json={}, headers={"Origin": address}).status_code == 401
        foreign = httpx.post(f"{address}/mcp", json={}, headers={"Origin": "http://127.0.0.1:1"})
        assert foreign.status_code == 403


# -- What stops a start ------------------------------------------------------------------------------


def test_an_unmigrated_database_is_said_in_one_line(tmp_path: Path) -> None:
    result = _run(tmp_path, "mcp", "--stdio")
    assert (result.stdout, len(result.stderr.splitlines())) == ("", 1)
    assert "migrat" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "env", "said"),
    [
        (["--token-file", "/nowhere"], {}, "create_token"),
        ([], {"CHIEF_TOKEN": "chf_wrong"}, "CHIEF_TOKEN: This token is not valid"),
    ],
    ids=["no file", "a wrong token"],
)
def test_a_token_that_is_none_is_said_in_one_line(
    arguments: list[str], env: dict[str, str], said: str, place: Path
) -> None:
    result = _run(place, "mcp", "--stdio", *arguments, env=env)
    assert result.returncode != 0
    assert (result.stdout, len(result.stderr.splitlines())) == ("", 1)
    assert said in result.stderr
    assert "chf_wrong" not in result.stderr


def test_a_host_that_others_reach_needs_chief_url(place: Path) -> None:
    result = _run(place, "mcp", "--host", "0.0.0.0")
    assert "CHIEF_URL" in result.stderr
