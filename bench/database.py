"""What a request says to the database, and saying the same again through the driver alone."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any

import psycopg
from django.core.signals import request_finished, request_started
from django.db import close_old_connections, connection, transaction
from django.test.utils import CaptureQueriesContext

Statement = tuple[str, Any]


def count(act: Callable[[], Any]) -> int:
    """How many statements ``act`` sends, BEGIN and COMMIT included."""
    with CaptureQueriesContext(connection) as caught:
        act()
    return len(caught)


def rehearse(act: Callable[[], Any]) -> list[Statement]:
    """The statements of ``act`` with their values, in a transaction that is taken back: nothing has happened."""
    said: list[Statement] = []

    def listen(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        said.append((sql, list(params) if many else params))
        return execute(sql, params, many, context)

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
    return said


class Driver:
    """The connection that the product uses, without Django around it: same settings, same prepared statements."""

    def replay(self, statements: Sequence[Statement]) -> float:
        """Seconds for the statements as one transaction; every row that comes back is fetched.

        A statement whose values are a list of rows goes through ``executemany``.
        """
        cursor = self._cursor()
        ready = [(self._own(sql), params or ()) for sql, params in statements]
        begin = perf_counter()
        cursor.execute("BEGIN" if self._postgresql else "BEGIN IMMEDIATE")
        for sql, params in ready:
            if isinstance(params, list) and params and isinstance(params[0], tuple):
                cursor.executemany(sql, params)
            else:
                cursor.execute(sql, params)
                if cursor.description is not None:
                    cursor.fetchall()
        cursor.execute("COMMIT")
        return perf_counter() - begin

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


_ONE_ROW = re.compile(r"(INSERT INTO .*? VALUES )(\([%s, ]*\))(, \([%s, ]*\))+", re.DOTALL)


def row_by_row(statements: Sequence[Statement]) -> list[Statement]:
    """INSERTs of many rows as INSERTs of one row and a list of rows; the others as they are."""
    found: list[Statement] = []
    for sql, params in statements:
        many = _ONE_ROW.fullmatch(sql)
        if many is None:
            found.append((sql, params))
            continue
        width = many[2].count("%s")
        rows = [tuple(params[start : start + width]) for start in range(0, len(params), width)]
        found.append((many[1] + many[2], rows))
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
    connection.close()
