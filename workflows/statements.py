"""Rows by the thousand, without a model object for each: INSERTs of a hundred rows on SQLite, COPY on PostgreSQL (a
plan of 5,000 steps is written several times faster than by ``bulk_create``).
"""

from collections.abc import Iterable, Sequence
from itertools import chain, islice
from typing import Any

from django.db import connection
from django.db.models import Field, Model

_ROWS_AT_ONCE = 100  # SQLite takes 32,766 values, and Django reads a statement through for its marks


def insert_rows(model: type[Model], fields: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Insert ``rows`` of plain values, in the order of ``fields``; JSON columns take JSON text.

    Every other column must have a default in the database or be null. No signal, no model object. No row, no
    statement; at most two statements otherwise.
    """
    table = f'"{model._meta.db_table}"'
    columns = ", ".join(f'"{_column(model, name)}"' for name in fields)
    remaining = iter(rows)
    if connection.vendor == "postgresql":
        _copy(f"COPY {table} ({columns}) FROM STDIN", remaining)
        return
    insert = f"INSERT INTO {table} ({columns}) VALUES "  # noqa: S608 - names of the schema, never of a client
    one = f"({', '.join(['%s'] * len(fields))})"
    full: list[list[Any]] = []
    while len(batch := list(islice(remaining, _ROWS_AT_ONCE))) == _ROWS_AT_ONCE:
        full.append(list(chain.from_iterable(batch)))
    with connection.cursor() as cursor:
        if full:
            cursor.executemany(insert + ", ".join([one] * _ROWS_AT_ONCE), full)
        if batch:
            cursor.execute(insert + ", ".join([one] * len(batch)), list(chain.from_iterable(batch)))


def _copy(statement: str, rows: Iterable[Sequence[Any]]) -> None:
    """PostgreSQL's way for rows: nothing to parse or plan, whatever their number."""
    remaining = iter(rows)
    first = next(remaining, None)
    if first is None:
        return
    with connection.cursor() as cursor, connection.wrap_database_errors, cursor.copy(statement) as copy:
        for row in chain([first], remaining):
            copy.write_row(row)


def _column(model: type[Model], name: str) -> str:
    field = model._meta.get_field(name)
    assert isinstance(field, Field)
    return str(field.column)
