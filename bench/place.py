"""A database and a data directory for one run of the bench, gone afterwards. Nothing here imports Django."""

from __future__ import annotations

import os
import secrets
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit, urlunsplit

import psycopg


@contextmanager
def place(database_url: str | None) -> Iterator[None]:
    """Point Chief's environment at a new, empty database: SQLite in a temporary directory, or one made beside the
    database that ``database_url`` names, on its server.
    """
    with tempfile.TemporaryDirectory(prefix="chief-bench-") as folder:
        for name in [name for name in os.environ if name.startswith("CHIEF_")]:
            del os.environ[name]
        os.environ["DJANGO_SETTINGS_MODULE"] = "chief_project.settings"
        os.environ["CHIEF_DATA_DIR"] = folder
        os.environ["CHIEF_SECRET_KEY"] = secrets.token_urlsafe(64)
        if database_url is None or database_url.startswith("sqlite"):
            os.environ.pop("DATABASE_URL", None)
            yield
            return
        parts = urlsplit(database_url)
        name = f"chief_bench_{secrets.token_hex(4)}"
        with psycopg.connect(database_url, autocommit=True) as server:
            server.execute(f"CREATE DATABASE {name}")
            try:
                os.environ["DATABASE_URL"] = urlunsplit(parts._replace(path=f"/{name}"))
                yield
            finally:
                server.execute(f"DROP DATABASE {name} WITH (FORCE)")
