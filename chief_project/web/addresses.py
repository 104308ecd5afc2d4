"""Addresses of pages: what one asks for, and others made from it."""

from collections.abc import Sequence

from django.http import HttpRequest
from django.utils.http import urlencode


def link(address: str, **parameters: str | Sequence[str]) -> str:
    """An address with parameters, or lists of them; empty ones left out."""
    query = urlencode({name: value for name, value in parameters.items() if value}, doseq=True)
    return f"{address}?{query}" if query else address


def asked(request: HttpRequest, name: str) -> str:
    """A parameter of the address, without what no database can look for; "" where it isn't given."""
    return request.GET.get(name, "").replace("\0", "").strip()
