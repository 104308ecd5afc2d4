"""Addresses of pages: what one asks for, and others made from it."""

from collections.abc import Sequence

from django.http import HttpRequest
from django.utils.http import urlencode

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
