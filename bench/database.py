"""What a request says to the database, and saying the same again through the driver alone."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import chain
from time import perf_counter, thread_time
from typing import Any
from unittest.mock import patch

import psycopg
from django.core.signals import request_finished, request_started
from django.db import close_old_connections, connection, transaction
from django.db.models import Model
from django.test.utils import CaptureQueriesContext

from bench.client import rest

Statement = tuple[str, Any]


def count(act: Callable[[], Any]) -> int:
    """How many statements ``act`` sends, BEGIN and COMMIT included."""
    with CaptureQueriesContext(connection) as caught:
        act()
    return len(caught)


_elsewhere = ThreadPoolExecutor(1)


def rehearse(act: Callable[[], Any]) -> list[Statement]:
    """The statements of ``act`` with their values, in a transaction that is taken back: nothing has happened.

    In a thread and so on a connection of its own: PostgreSQL's driver forgets its prepared statements at a rollback.
    """
    return _elsewhere.submit(_rehearse, act).result()


def _rehearse(act: Callable[[], Any]) -> list[Statement]:
    said: list[Statement] = []

    def listen(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        said.append((sql, list(params) if many else tuple(params or ())))
        return execute(sql, params, many, context)

    counters = _counters()
    # Django drops a connection that is in a transaction when a request begins or ends, and so would end this one.
    for moment in (request_started, request_finished):
        moment.disconnect(close_old_connections)
    try:
        with transaction.atomic(), connection.execute_wrapper(listen):
            act()
            transaction.set_rollback(True)
    finally:
        for moment in (request_started, request_finished):
            moment.connect(close_old_connections)
        _set_back(counters)
    return said


def _counters() -> list[tuple[str, int]]:
    """PostgreSQL's sequences and where they are."""
    if not is_postgresql():
        return []
    with connection.cursor() as cursor:
        cursor.execute("SELECT sequencename, last_value FROM pg_sequences WHERE last_value IS NOT NULL")
        return list(cursor.fetchall())


def _set_back(counters: Sequence[tuple[str, int]]) -> None:
    """A rollback doesn't take a sequence back; a replay's rows get the ids they are named by only if it stands."""
    moved = [
        (name, here) for (name, here), now in zip(counters, _counters(), strict=False) if (name, here) != now
    ]
    with connection.cursor() as cursor:
        for sequence, value in moved:
            cursor.execute("SELECT setval(%s::regclass, %s)", [f'"{sequence}"', value])


class Driver:
    """The connection that the product uses, without Django around it: same settings, same prepared statements."""

    def replay(self, statements: Sequence[Statement]) -> tuple[float, float]:
        """Seconds for the statements as one transaction, and what of them this thread had of the processor; every row
        that comes back is fetched.

        A statement whose values are a list of rows goes through ``executemany``.
        """
        cursor = self._cursor()
        ready = [(self._own(sql), params) for sql, params in statements]
        rest()
        begin, busy = perf_counter(), thread_time()
        cursor.execute("BEGIN" if self._postgresql else "BEGIN IMMEDIATE")
        for sql, params in ready:
            if isinstance(params, list):
                cursor.executemany(sql, params)
            else:
                cursor.execute(sql, params)
                if cursor.description is not None:
                    cursor.fetchall()
        cursor.execute("COMMIT")
        return perf_counter() - begin, thread_time() - busy

    @property
    def _postgresql(self) -> bool:
        return connection.vendor == "postgresql"

    def _cursor(self) -> Any:
        connection.ensure_connection()
        raw: Any = connection.connection
        return psycopg.Cursor(raw) if self._postgresql else sqlite3.Connection.cursor(raw)

    def _own(self, sql: str) -> str:
        """Django's placeholders as the driver has them."""
        return sql if self._postgresql else sql.replace("%s", "?")


@contextmanager
def inserts_row_by_row() -> Iterator[None]:
    """The product writes a plan's rows with ``executemany``, so that a rehearsal hears them on both databases."""

    def insert(model: type[Model], fields: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
        columns = ", ".join(f'"{model._meta.get_field(name).column}"' for name in fields)
        marks = ", ".join(["%s"] * len(fields))
        given = [tuple(row) for row in rows]
        if given:
            with connection.cursor() as cursor:
                cursor.executemany(
                    f'INSERT INTO "{model._meta.db_table}" ({columns}) VALUES ({marks})', given
                )

    with patch("workflows.mappers.insert_rows", insert):
        yield


def many_at_once(statements: Sequence[Statement]) -> list[Statement]:
    """The same with INSERTs of many rows; a statement takes 30,000 values at most."""
    found: list[Statement] = []
    for sql, params in statements:
        if not isinstance(params, list):
            found.append((sql, params))
            continue
        head, one = sql[: sql.rindex("(")], sql[sql.rindex("(") :]
        batch = 30_000 // len(params[0])
        for start in range(0, len(params), batch):
            rows = params[start : start + batch]
            found.append((head + ", ".join([one] * len(rows)), tuple(chain.from_iterable(rows))))
    return found


def is_postgresql() -> bool:
    """Which of the two it is."""
    return connection.vendor == "postgresql"


def name() -> str:
    """The database and its version."""
    connection.ensure_connection()
    if is_postgresql():
        version = connection.pg_version  # type: ignore[attr-defined]
        return f"PostgreSQL {version // 10_000}.{version % 10_000}"
    return f"SQLite {sqlite3.sqlite_version}"


def close() -> None:
    """Let the database go, so that it can be dropped."""
    _elsewhere.submit(lambda: connection.close()).result()  # looked up there: each thread has its own
    connection.close()
