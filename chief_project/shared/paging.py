"""Keyset paging for selectors: a page is found by where the last one ended, not by how many came before (contract 1)."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.core import signing
from django.db.models import Q, QuerySet

from chief_project.shared.errors import ValidationFailed

COUNTED_TO = 10_000
_SALT = "chief.paging"


@dataclass(frozen=True, slots=True)
class Paging:
    """Which page is wanted: at most ``limit`` rows after ``cursor``; ``exact`` counts beyond 10,000 too."""

    limit: int = 100
    cursor: str | None = None
    exact: bool = False


@dataclass(frozen=True, slots=True)
class Page:
    """One page: rows or documents, the cursor of the next one, and how many there are in all (``None``: over 10,000)."""

    rows: list[Any]
    next_cursor: str | None = None
    total: int | None = None
    extra: dict[str, Any] = field(default_factory=dict)

    def map(self, make: Callable[[Any], Any]) -> "Page":
        """The same page of ``make(row)``."""
        return Page([make(row) for row in self.rows], self.next_cursor, self.total, self.extra)

    def replace(self, rows: list[Any]) -> "Page":
        """The same page with other rows: for documents that are made together."""
        return Page(rows, self.next_cursor, self.total, self.extra)


def paginate(queryset: QuerySet[Any, Any], *, order: tuple[str, ...], paging: Paging) -> Page:
    """One page of ``queryset`` in ``order``, in at most two statements (the rows; the count where it isn't known).

    ``order`` names columns or annotations that are never null, ``-`` for descending, the last one unique:
    ``("-updated_at", "-id")``. Rows are model instances or, after ``.values()``, dicts.
    """
    names = [name.removeprefix("-") for name in order]
    salt = f"{_SALT}:{queryset.model._meta.label}:{','.join(order)}"
    wanted = queryset.order_by(*order)
    if paging.cursor is not None:
        wanted = wanted.filter(_after(order, read_cursor(paging.cursor, salt, len(order))))
    rows = list(wanted[: paging.limit + 1])
    more = len(rows) > paging.limit
    rows = rows[: paging.limit]
    next_cursor = None
    if more:
        last = rows[-1]
        values = [last[name] if isinstance(last, dict) else getattr(last, name) for name in names]
        next_cursor = write_cursor(values, salt)
    if paging.cursor is None and not more:
        total: int | None = len(rows)
    elif paging.exact:
        total = queryset.order_by().count()
    else:
        total = queryset.order_by()[: COUNTED_TO + 1].count()
        total = None if total > COUNTED_TO else total
    return Page(rows, next_cursor, total)


def _after(order: tuple[str, ...], values: list[Any]) -> Q:
    """Rows that come after the one with ``values``: equal in the first n columns, beyond it in the next."""
    found = Q()
    equal: dict[str, Any] = {}
    for name, value in zip(order, values, strict=True):
        plain = name.removeprefix("-")
        found |= Q(**equal, **{f"{plain}__{'lt' if name.startswith('-') else 'gt'}": value})
        equal[plain] = value
    return found


def write_cursor(values: list[Any], salt: str) -> str:
    """Where a page ended, signed: ``values`` are JSON or times; ``salt`` names the list and its order."""
    plain = [{"t": value.isoformat()} if isinstance(value, datetime) else value for value in values]
    text = signing.b64_encode(json.dumps(plain, separators=(",", ":")).encode()).decode()
    return signing.Signer(salt=salt).sign(text).replace(":", ".")


def read_cursor(cursor: str, salt: str, length: int, *, parameter: str = "cursor") -> list[Any]:
    """The ``length`` values of a cursor of this list; ``ValidationFailed``, naming ``parameter``, for anything else."""
    try:
        text = signing.Signer(salt=salt).unsign(cursor.replace(".", ":"))
        plain = json.loads(signing.b64_decode(text.encode()))
    except (signing.BadSignature, ValueError):
        raise ValidationFailed(
            f"query parameter '{parameter}': not one that was given here; start again without it",
            parameter=parameter,
        ) from None
    if len(plain) != length:
        raise ValidationFailed(f"query parameter '{parameter}': is of another list", parameter=parameter)
    return [datetime.fromisoformat(value["t"]) if isinstance(value, dict) else value for value in plain]
