"""Rows of a whole tree as plain values.

The statement is the ORM's; its converters, which cost more than the statement at ten thousand branches, are replaced
by the two that a tree needs: JSON, where most columns are ``{}``, and times.
"""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from django.db import connection
from django.db.models import QuerySet

JSON_COLUMNS = frozenset({"metadata", "criteria_met", "checkpoint", "stale", "body"})
TIME_COLUMNS = frozenset({"started_at", "completed_at"})


def plain_rows(queryset: QuerySet[Any, Any], columns: Sequence[str]) -> list[list[Any]]:
    """``queryset.values_list(*columns)``, but that SQLite's booleans stay 0 and 1. One statement.

    ``JSON_COLUMNS`` and ``TIME_COLUMNS`` are converted by their names; other kinds that need it must not be asked for.
    """
    sql, params = queryset.values_list(*columns).query.sql_with_params()
    documents = [place for place, name in enumerate(columns) if name in JSON_COLUMNS]
    times = [place for place, name in enumerate(columns) if name in TIME_COLUMNS]
    loads, from_text = json.loads, datetime.fromisoformat
    with connection.cursor() as cursor:
        cursor.execute(sql, params)
        rows = [list(row) for row in cursor.fetchall()]
    for row in rows:
        for place in documents:
            text = row[place]
            if text == "{}":
                row[place] = {}
            elif isinstance(text, str):
                row[place] = loads(text)
        for place in times:
            moment = row[place]
            if isinstance(moment, str):
                moment = from_text(moment)
            if moment is not None and moment.tzinfo is None:  # SQLite keeps UTC without saying so
                row[place] = moment.replace(tzinfo=UTC)
    return rows
