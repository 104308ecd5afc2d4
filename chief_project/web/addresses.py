"""Addresses of pages: what one asks for, and others made from it."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from django.http import HttpRequest
from django.utils import timezone
from django.utils.http import urlencode

from chief_project.shared.errors import ValidationFailed
from chief_project.shared.paging import Paging


def link(address: str, **parameters: str | Sequence[str]) -> str:
    """An address with parameters, or lists of them; empty ones left out."""
    query = urlencode({name: value for name, value in parameters.items() if value}, doseq=True)
    return f"{address}?{query}" if query else address


def asked(request: HttpRequest, name: str) -> str:
    """A parameter of the address, without what no database can look for; "" where it isn't given."""
    return request.GET.get(name, "").replace("\0", "").strip()


def paging(request: HttpRequest, limit: int) -> Paging:
    """The page of a list that is asked for: ``limit`` rows, from where its ``cursor`` says, else from the beginning."""
    return Paging(limit=limit, cursor=request.GET.get("cursor") or None)


def moment(said: str | None, name: str, *, last: bool = False) -> datetime | None:
    """A time in the reader's zone unless it names another; with ``last``, the end of the minute or day that it names."""
    if not said:
        return None
    try:
        at = datetime.fromisoformat(said)
        if timezone.is_naive(at):
            at = timezone.make_aware(at)
        if last and len(said) <= len("2026-11-30"):
            at += timedelta(days=1, microseconds=-1)
        elif last and len(said) == len("2026-11-30T14:30"):
            at += timedelta(minutes=1, microseconds=-1)
        return at.astimezone(UTC)
    except (ValueError, OverflowError):
        raise ValidationFailed(
            f"'{name}' must be a time such as 2026-11-30T14:30, not {said[:40]!r}", parameter=name
        ) from None
