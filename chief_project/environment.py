"""What the operator sets: environment variables, read and checked once, at start.

`read_environment` is a function of the mapping it is given and of the files that mapping names. A value
that can't be used raises `BadEnvironment`, whose text is one line that names the variable and never
repeats a secret; the settings print it and stop (contract 11).
"""

from __future__ import annotations

import contextlib
import ipaddress
import os
import secrets
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import dj_database_url

DEFAULT_URL = "http://127.0.0.1:8000"
LOOPBACK_HOSTS = ("localhost", "127.0.0.1", "[::1]")
SECRET_KEY_FILE = "secret_key"  # noqa: S105 - a file's name
MIN_SECRET_KEY_LENGTH = 50  # what Django's deployment check asks for
MIB = 1024 * 1024
MCP_TOOLS = ("all", "core")

_TRUE = {"1", "true", "yes", "on"}
_FALSE = {"0", "false", "no", "off"}
_SQLITE = "django.db.backends.sqlite3"
_POSTGRESQL = "django.db.backends.postgresql"


class BadEnvironment(Exception):
    """A variable that Chief can't start with; the text is one line that names it."""


@dataclass(frozen=True, kw_only=True)
class Environment:
    """The checked values. `database` has the shape of one entry of Django's DATABASES."""

    url: str  # scheme://host[:port], no trailing slash
    url_is_default: bool
    data_dir: Path
    secret_key: str
    database: dict[str, Any]
    debug: bool
    metrics: bool
    access_log: bool
    max_body_bytes: int
    max_json_depth: int
    threads: int
    mcp_tools: str  # "all" or "core"

    @property
    def https(self) -> bool:
        return self.url.startswith("https://")

    @property
    def allowed_hosts(self) -> list[str]:
        """The host of CHIEF_URL, and this machine's own names, which health checks on it use."""
        host = urlsplit(self.url).hostname or ""
        if ":" in host:
            host = f"[{host}]"
        return list(dict.fromkeys([host, *LOOPBACK_HOSTS]))

    @property
    def postgresql(self) -> bool:
        return bool(self.database["ENGINE"] == _POSTGRESQL)


def read_environment(environ: Mapping[str, str], *, base_dir: Path) -> Environment:
    """Read and check every variable of Chief; relative paths start at `base_dir`.

    Makes the data directory, and the secret key in it where none is given.
    """
    url = _url(environ)
    debug = _flag(environ, "CHIEF_DEBUG")
    metrics = _flag(environ, "CHIEF_METRICS")
    access_log = _flag(environ, "CHIEF_ACCESS_LOG")
    max_body_bytes = _whole_number(environ, "CHIEF_MAX_BODY_BYTES", 5 * MIB, low=1024, high=1024 * MIB)
    max_json_depth = _whole_number(environ, "CHIEF_MAX_JSON_DEPTH", 64, low=8, high=200)
    threads = _whole_number(environ, "CHIEF_THREADS", 10, low=1, high=200)
    mcp_tools = _word(environ, "CHIEF_MCP_TOOLS", MCP_TOOLS)
    database_url = _secret(environ, "DATABASE_URL", base_dir)
    given_key = _secret(environ, "CHIEF_SECRET_KEY", base_dir)
    data_dir = _data_dir(environ, base_dir)
    database = _database(database_url, data_dir=data_dir, base_dir=base_dir)
    return Environment(
        url=url or DEFAULT_URL,
        url_is_default=url is None,
        data_dir=data_dir,
        secret_key=_secret_key(given_key, data_dir=data_dir, shared=database["ENGINE"] == _POSTGRESQL),
        database=database,
        debug=debug,
        metrics=metrics,
        access_log=access_log,
        max_body_bytes=max_body_bytes,
        max_json_depth=max_json_depth,
        threads=threads,
        mcp_tools=mcp_tools,
    )


def _value(environ: Mapping[str, str], name: str) -> str | None:
    """The variable without surrounding space; set to nothing counts as not set."""
    return environ.get(name, "").strip() or None


def _flag(environ: Mapping[str, str], name: str) -> bool:
    value = (_value(environ, name) or "0").lower()
    if value not in _TRUE | _FALSE:
        raise BadEnvironment(
            f"{name}: {value!r} is neither yes (1, true, yes, on) nor no (0, false, no, off)"
        )
    return value in _TRUE


def _word(environ: Mapping[str, str], name: str, words: tuple[str, ...]) -> str:
    """One of `words`; the first where the variable isn't set."""
    value = _value(environ, name) or words[0]
    if value not in words:
        raise BadEnvironment(f"{name}: {value!r} is none of {', '.join(words)}")
    return value


def _whole_number(environ: Mapping[str, str], name: str, default: int, *, low: int, high: int) -> int:
    value = _value(environ, name)
    if value is None:
        return default
    if not (value.isascii() and value.isdigit() and len(value) <= 12 and low <= int(value) <= high):
        raise BadEnvironment(f"{name}: {value!r} is not a whole number from {low} to {high}")
    return int(value)


def _secret(environ: Mapping[str, str], name: str, base_dir: Path) -> str | None:
    """The variable itself, or the content of the file that NAME_FILE names; not both."""
    value, file_name = _value(environ, name), _value(environ, f"{name}_FILE")
    if file_name is None:
        return value
    if value is not None:
        raise BadEnvironment(f"{name}_FILE: {name} is set too; set one of them")
    try:
        content = (base_dir / file_name).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as problem:
        reason = problem.strerror if isinstance(problem, OSError) else "not UTF-8 text"
        raise BadEnvironment(f"{name}_FILE: cannot read {file_name!r}: {reason}") from problem
    if not content:
        raise BadEnvironment(f"{name}_FILE: {file_name!r} is empty")
    return content


def _url(environ: Mapping[str, str]) -> str | None:
    value = _value(environ, "CHIEF_URL")
    if value is None:
        return None
    wanted = "an address such as https://chief.example.org or http://127.0.0.1:8000"
    try:
        parts = urlsplit(value)
        port = parts.port
    except ValueError as problem:
        raise BadEnvironment(f"CHIEF_URL: {value!r} is not {wanted}") from problem
    if parts.username is not None or parts.password is not None:
        raise BadEnvironment("CHIEF_URL: it holds a user name or a password; give the bare address")
    if parts.scheme not in ("http", "https") or not _host_is_usable(parts.hostname):
        raise BadEnvironment(f"CHIEF_URL: {value!r} is not {wanted}")
    if parts.path not in ("", "/") or parts.query or parts.fragment:
        raise BadEnvironment(f"CHIEF_URL: {value!r} has a path; Chief is served from the root of its host")
    host = parts.hostname or ""
    host = f"[{host}]" if ":" in host else host
    if port is None or (parts.scheme, port) in (("http", 80), ("https", 443)):
        return f"{parts.scheme}://{host}"
    return f"{parts.scheme}://{host}:{port}"


def _host_is_usable(host: str | None) -> bool:
    if not host or not host.isascii():
        return False
    if ":" in host:
        try:
            return ipaddress.ip_address(host) is not None
        except ValueError:
            return False
    return all(label and label.replace("-", "a").replace("_", "a").isalnum() for label in host.split("."))


def _data_dir(environ: Mapping[str, str], base_dir: Path) -> Path:
    path = base_dir / Path(_value(environ, "CHIEF_DATA_DIR") or "var").expanduser()
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as problem:
        raise BadEnvironment(f"CHIEF_DATA_DIR: cannot make {str(path)!r}: {problem.strerror}") from problem
    if not os.access(path, os.W_OK | os.X_OK):
        raise BadEnvironment(f"CHIEF_DATA_DIR: {str(path)!r} is not writable")
    return path


def _database(url: str | None, *, data_dir: Path, base_dir: Path) -> dict[str, Any]:
    if url is None:
        return _sqlite({"ENGINE": _SQLITE, "NAME": str(data_dir / "chief.sqlite3")}, base_dir)
    shapes = "postgres://USER:PASSWORD@HOST:PORT/NAME or sqlite:///PATH"
    try:
        scheme = urlsplit(url).scheme
        # dj-database-url gives every setting; only what the URL says is of interest here.
        parsed = dict(dj_database_url.parse(url))
    except Exception as problem:  # the library raises several kinds, and its text may repeat the password
        raise BadEnvironment(f"DATABASE_URL: not a database address; write {shapes}") from problem
    if scheme not in ("postgres", "postgresql", "sqlite"):
        raise BadEnvironment(f"DATABASE_URL: Chief runs on PostgreSQL and SQLite; write {shapes}")
    if not parsed.get("NAME"):
        raise BadEnvironment(f"DATABASE_URL: it names no database; write {shapes}")
    if parsed["ENGINE"] == _SQLITE:
        return _sqlite(parsed, base_dir)
    return _postgresql(parsed)


def _sqlite(parsed: dict[str, Any], base_dir: Path) -> dict[str, Any]:
    """Settings under which contended writers wait their turn instead of failing (design, "Where it runs")."""
    if parsed["NAME"] == ":memory:":
        raise BadEnvironment("DATABASE_URL: an in-memory database is gone between two requests; give a file")
    name = base_dir / str(parsed["NAME"])
    if not name.parent.is_dir():
        raise BadEnvironment(f"DATABASE_URL: the folder {str(name.parent)!r} does not exist")
    _make_private(name)
    return {
        "ENGINE": _SQLITE,
        "NAME": str(name),
        "CONN_MAX_AGE": None,
        "OPTIONS": {
            "transaction_mode": "IMMEDIATE",
            "timeout": 20,
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA foreign_keys=ON;",
        },
    }


def _make_private(name: Path) -> None:
    """Make the file that is to be the database, for its owner alone: sessions are in it.

    SQLite would let everybody read it where the folder does, and gives its -wal and -shm files the same mode.
    """
    try:
        with contextlib.suppress(FileExistsError):
            os.close(os.open(name, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except OSError as problem:
        raise BadEnvironment(f"DATABASE_URL: cannot make {str(name)!r}: {problem.strerror}") from problem


def _postgresql(parsed: dict[str, Any]) -> dict[str, Any]:
    """Connections kept by the threads of the pool; a thread renews its own every minute.

    A health check would cost a round trip per request. Without one, a restart of the database costs each
    thread at most one failed request: Django drops a connection after an error.
    """
    kept = {
        name: parsed[name]
        for name in ("ENGINE", "NAME", "USER", "PASSWORD", "HOST", "PORT")
        if name in parsed
    }
    return kept | {
        "CONN_MAX_AGE": 60,
        "CONN_HEALTH_CHECKS": False,
        "OPTIONS": {
            "connect_timeout": 10,
            **parsed.get("OPTIONS", {}),
            "server_side_binding": True,
            "prepare_threshold": 3,
        },
    }


def _secret_key(given: str | None, *, data_dir: Path, shared: bool) -> str:
    if given is not None:
        if len(given) < MIN_SECRET_KEY_LENGTH or len(set(given)) < 5:
            raise BadEnvironment(
                f"CHIEF_SECRET_KEY: too short or too uniform; use at least {MIN_SECRET_KEY_LENGTH} random characters"
            )
        return given
    if shared:
        raise BadEnvironment(
            "CHIEF_SECRET_KEY: required with PostgreSQL, where several processes share it;"
            f" use at least {MIN_SECRET_KEY_LENGTH} random characters"
        )
    return _kept_secret_key(data_dir / SECRET_KEY_FILE)


def _kept_secret_key(path: Path) -> str:
    """The key in the file, made on first use.

    Two processes may start at once: each writes a file of its own, and linking it to the final name
    succeeds for one of them only, so that nobody ever reads half a key.
    """
    try:
        if not path.exists():
            descriptor, draft = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")  # 0600
            try:
                with os.fdopen(descriptor, "w", encoding="ascii") as file:
                    file.write(secrets.token_urlsafe(64) + "\n")
                with contextlib.suppress(FileExistsError):
                    os.link(draft, path)
            finally:
                os.unlink(draft)
        key = path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as problem:
        reason = problem.strerror if isinstance(problem, OSError) else "not UTF-8 text"
        raise BadEnvironment(
            f"CHIEF_SECRET_KEY: not set, and {str(path)!r} cannot be used: {reason}"
        ) from problem
    if len(key) < MIN_SECRET_KEY_LENGTH:
        raise BadEnvironment(
            f"CHIEF_SECRET_KEY: not set, and {str(path)!r} holds no usable key; remove the file"
        )
    return key
