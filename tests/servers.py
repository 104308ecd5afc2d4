"""A real server in a process of its own, with a database of its own of the suite's kind."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

import httpx
import psycopg
from django.conf import settings

ROOT = Path(__file__).resolve().parents[1]
PATIENCE = 300  # seconds, for a busy machine

# Run by ``manage.py shell`` in the server's own environment: the stored run against the whole-tree derivation.
IS_DERIVED = "from tests.derivation import assert_derived; assert_derived('r1'); print('derived')"


class Server:
    """``manage.py serve`` on a data directory and a port of its own; it can be killed and started again."""

    def __init__(self, directory: Path, database: dict[str, str]) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.log = directory / "server.log"
        inherited = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("CHIEF_", "DATABASE_", "DJANGO_"))
        }
        self.environ = inherited | {"CHIEF_DATA_DIR": str(directory / "var")} | database
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, "manage.py", "serve", "--port", str(self.port)],
                cwd=ROOT,
                env=self.environ,
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            assert self.process.poll() is None, self.log.read_text()
            try:
                if httpx.get(f"{self.url}/readyz").is_success:
                    return
            except httpx.TransportError:
                pass
            time.sleep(0.1)
        raise AssertionError("the server never answered")

    def kill(self) -> None:
        """SIGKILL: no handler runs, no buffer is flushed, no connection is closed in order."""
        if self.process is not None:
            self.process.kill()
            self.process.wait(PATIENCE)

    def stop(self) -> None:
        """SIGTERM, and an end in order."""
        if self.process is not None:
            self.process.terminate()
            self.process.wait(PATIENCE)

    def manage(self, *arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=ROOT,
            env=self.environ,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout.strip()


@contextlib.contextmanager
def a_server(directory: Path) -> Iterator[Server]:
    """Not started yet. Its database: the default one in a file, or a new one beside the suite's on PostgreSQL."""
    if not settings.ENVIRONMENT.postgresql:
        server = Server(directory, {})
        try:
            yield server
        finally:
            server.kill()
        return
    suite = settings.DATABASES["default"]
    name = f"chief_served_{uuid.uuid4().hex[:12]}"
    where = {"host": suite["HOST"], "port": suite["PORT"] or 5432}
    who = {"user": suite["USER"], "password": suite["PASSWORD"]}
    url = "postgres://{user}:{password}@{host}:{port}/{name}".format(**where, **who, name=name)
    with psycopg.connect(**where, **who, dbname="postgres", autocommit=True) as admin:
        admin.execute(f"CREATE DATABASE {name}")
        server = Server(directory, {"DATABASE_URL": url, "CHIEF_SECRET_KEY": settings.SECRET_KEY})
        try:
            yield server
        finally:
            server.kill()
            admin.execute(f"DROP DATABASE {name} WITH (FORCE)")
