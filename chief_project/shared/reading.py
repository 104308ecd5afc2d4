"""Several statements that see the database as of one moment."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection

# SQLite takes its snapshot (WAL) at the first read of a deferred transaction and never asks for the write lock;
# Django's own atomic() would, because writers here begin with IMMEDIATE.
_BEGIN = {"sqlite": "BEGIN DEFERRED", "postgresql": "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"}


@contextmanager
def one_moment() -> Iterator[None]:
    """Read-only: what is read inside fits together, and waits for no writer. Two statements more.

    Inside a transaction that is already open (a service that answers) it does nothing: the locks are held there.
    """
    if connection.in_atomic_block:
        yield
        return
    connection.ensure_connection()
    with connection.cursor() as cursor:
        cursor.execute(_BEGIN[connection.vendor])
    try:
        yield
    finally:
        with connection.cursor() as cursor:
            cursor.execute("ROLLBACK")
