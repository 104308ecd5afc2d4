"""Tokens: which there are, a new one shown this once, and one less (contract 9)."""

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponseBase
from django.urls import path, reverse
from django.utils.translation import gettext as _

from chief_project.shared.caller import Caller
from chief_project.shared.clock import now
from chief_project.shared.selectors import list_tokens, token_owners
from chief_project.shared.services.create_token import create_token
from chief_project.shared.services.revoke_token import revoke_token
from chief_project.web.addresses import paging
from chief_project.web.connect import lines_for
from chief_project.web.forms import flag, number, text
from chief_project.web.pages import action, page, show_again

LISTED = 100
# What belongs to a person; the other kinds belong to nobody.
OF_PEOPLE = ("reviewer", "admin")


@page("pages/tokens.html")
def tokens_page(request: HttpRequest, caller: Caller, made: dict[str, Any] | None = None) -> dict[str, Any]:
    """Those in use, or with ``?revoked=1`` the others. ``made`` is a new one with its text: for the answer to its POST."""
    revoked = request.GET.get("revoked") == "1"
    wanted = paging(request, LISTED)
    return {
        "section": "tokens",
        "page": list_tokens(caller=caller, paging=wanted, revoked=revoked),
        "cursor": wanted.cursor,
        "revoked": revoked,
        "revoking": request.GET.get("revoke", ""),
        "owners": token_owners(caller=caller),
        "now": now(),
        "made": made,
        "lines": made and lines_for(url=settings.CHIEF_URL, token=made["token"], kind=made["kind"]),
    }


@action(tokens_page)
def create(request: HttpRequest, caller: Caller) -> HttpResponseBase:
    """A new token. The answer itself shows it, so that no address, log, session or message ever holds its text."""
    kind = text(request, "kind") or ""
    made = create_token(
        caller=caller,
        kind=kind,
        name=text(request, "name") or "",  # with a name, the form sent twice makes no second token
        relay=kind == "harness" and flag(request, "relay"),
        expires_days=number(request, "expires"),
        username=text(request, "username") if kind in OF_PEOPLE else None,
    )
    return show_again(tokens_page, request, caller, made=made)


@action(tokens_page)
def revoke(request: HttpRequest, caller: Caller, token_id: int) -> str:
    """One that nobody is to use any more."""
    gone = revoke_token(caller=caller, token_id=token_id)
    messages.success(
        request, _("Token %(name)s is revoked: nobody is let in by it any more.") % {"name": gone["name"]}
    )
    return reverse("tokens")


urlpatterns = [
    path("tokens", tokens_page, name="tokens"),
    path("tokens/new", create, name="token-new"),
    path("tokens/<int:token_id>/revoke", revoke, name="token-revoke"),
]
