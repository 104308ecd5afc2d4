"""The set-up pages: what they tell people to type works against a running server (contract 10).

The clients themselves aren't installed here: their lines and files are read as they are read by them, and what stands
in them (address, header, command) is used with the SDK's own client.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters

from tests.mcp.test_commands import _environ, _over_http, _run, _serving, place  # noqa: F401
from tests.servers import PATIENCE, ROOT

PAGES = ["claude-code", "codex"]
DEFAULT = "http://127.0.0.1:8000"


def _blocks(page: str, language: str) -> list[str]:
    text = (ROOT / "integrations" / page / "README.md").read_text(encoding="utf-8")
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


def _shell(script: str, directory: Path, home: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["sh", "-eu", "-c", script],
        cwd=ROOT,
        env=_environ(directory) | {"HOME": str(home)},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


def _ours(script: str, directory: Path, address: str) -> str:
    """A command of a page as it is here: this Python for `./chief`, this data directory, this server's port."""
    chief = f"{shlex.quote(sys.executable)} manage.py"
    script = script.replace("./chief", chief).replace("var/harness.token", str(directory / "harness.token"))
    return script.replace(DEFAULT, address)


@pytest.mark.parametrize("page", PAGES)
def test_the_commands_of_a_page_do_what_it_says(page: str, place: Path, tmp_path: Path) -> None:  # noqa: F811
    serve, create, export, me, *rest = _blocks(page, "sh")
    assert serve.strip() == "./chief serve"
    copy = rest[-1]
    with _serving(place, *serve.split()[1:]) as address:
        made = _shell(_ours(create, place, address), place, tmp_path)
        assert made.returncode == 0, made.stderr
        assert made.stdout.strip().startswith("chf_")
        answer = _shell(_ours(export + me, place, address), place, tmp_path)
        assert json.loads(answer.stdout)["role"] == "harness", answer.stderr
        copied = _shell(copy, place, tmp_path)
        assert copied.returncode == 0, copied.stderr
        (skill,) = tmp_path.rglob("SKILL.md")
        assert skill.read_text() == (ROOT / "integrations" / "SKILL.md").read_text()


async def _greet(server: Any) -> None:
    async with Client(server) as client:
        assert "get_next" in {tool.name for tool in (await client.list_tools()).tools}
        assert not (await client.call_tool("list_runs", {})).is_error


def _connect(url: str, header: str, token: str, directory: Path) -> None:
    """Over HTTP as a page says: its address, and its header with the token put in."""
    assert url == f"{DEFAULT}/mcp"
    name, value = re.sub(r"\$\{?CHIEF_TOKEN\}?", token, header).split(": ", 1)
    assert (name, value) == ("Authorization", f"Bearer {token}")
    with _serving(directory, "serve") as address:
        asyncio.run(_over_http(url.replace(DEFAULT, address), value.removeprefix("Bearer "), _greet))


def _start(command: str, arguments: list[str], token: str, directory: Path) -> None:
    """Over stdio as a page says: its arguments, with this Python for the checkout's script."""
    assert command == "/path/to/chief/chief"
    env = {"PATH": os.environ["PATH"], "CHIEF_DATA_DIR": str(directory), "CHIEF_TOKEN": token}
    asyncio.run(
        _greet(
            StdioServerParameters(
                command=sys.executable, args=[str(ROOT / "manage.py"), *arguments], env=env, cwd="/"
            )
        )
    )


def test_what_claude_code_is_told_connects(place: Path) -> None:  # noqa: F811
    token = (place / "harness.token").read_text().strip()
    lines = [shlex.split(line) for block in _blocks("claude-code", "sh") for line in block.splitlines()]
    http, stdio = [line for line in lines if line[:3] == ["claude", "mcp", "add"]]
    assert http[3:6] == ["--transport", "http", "chief"]
    (url, flag, header) = http[6:]
    assert flag == "--header"
    _connect(url, header, token, place)
    assert stdio[3:8] == ["--transport", "stdio", "chief", "--env", "CHIEF_TOKEN=$CHIEF_TOKEN"]
    assert stdio[8] == "--"
    _start(stdio[9], stdio[10:], token, place)
    (shared,) = _blocks("claude-code", "json")
    server = json.loads(shared)["mcpServers"]["chief"]
    assert (server["type"], server["url"]) == ("http", url)
    assert server["headers"] == {"Authorization": "Bearer ${CHIEF_TOKEN}"}


def test_what_codex_is_told_connects(place: Path) -> None:  # noqa: F811
    token = (place / "harness.token").read_text().strip()
    http, stdio = [tomllib.loads(block)["mcp_servers"]["chief"] for block in _blocks("codex", "toml")]
    assert http["bearer_token_env_var"] == "CHIEF_TOKEN"
    _connect(http["url"], "Authorization: Bearer $CHIEF_TOKEN", token, place)
    assert stdio["env_vars"] == ["CHIEF_TOKEN"]
    assert min(http["tool_timeout_sec"], stdio["tool_timeout_sec"]) > 50
    _start(stdio["command"], stdio["args"], token, place)
