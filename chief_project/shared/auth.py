"""REST's two ways in (contract 9): a bearer token, and the session of a signed-in person.

Whichever opens, ``request.auth`` is the ``Caller``; nothing is tried after a credential that fails.
"""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.middleware.csrf import CsrfViewMiddleware
from rest_framework.authentication import BaseAuthentication
from rest_framework.request import Request

from chief_project.shared import credentials
from chief_project.shared.caller import Caller
from chief_project.shared.errors import Forbidden, Unauthenticated
from chief_project.shared.principals import caller_of_session, caller_of_token

HOW_TO_SEND = "send it as 'Authorization: Bearer chf_…'"


def bearer_token(header: str) -> str | None:
    """The token in an ``Authorization`` header, None where it is empty; ``Unauthenticated`` if it holds no token."""
    if not header.strip():
        return None
    scheme, _, token = header.strip().partition(" ")
    if scheme.lower() != "bearer":
        if (
            credentials.TOKEN_PREFIX in scheme
        ):  # a token where the scheme belongs isn't said back: it may be kept
            raise Unauthenticated(f"The Authorization header has no scheme before the token: {HOW_TO_SEND}")
        raise Unauthenticated(f"Chief takes no {scheme[:20]!r} credentials: use a token and {HOW_TO_SEND}")
    token = token.strip()
    if not token.startswith(credentials.TOKEN_PREFIX) or " " in token:
        raise Unauthenticated(f"The Authorization header holds no token of Chief's: {HOW_TO_SEND}")
    return token


class TokenAuthentication(BaseAuthentication):
    """``Authorization: Bearer chf_…``, and nowhere else: a token in a URL would end up in logs."""

    def authenticate(self, request: Request) -> tuple[Any, Caller] | None:
        token = bearer_token(request.META.get("HTTP_AUTHORIZATION", ""))
        return None if token is None else (None, caller_of_token(token))

    def authenticate_header(self, request: Request) -> str:
        return 'Bearer realm="chief"'


class SessionAuthentication(BaseAuthentication):
    """The session of a signed-in person; unsafe methods need the CSRF token, as pages do."""

    def authenticate(self, request: Request) -> tuple[Any, Caller] | None:
        django_request: HttpRequest = request._request
        user = getattr(django_request, "user", None)
        caller = caller_of_session(django_request, via="rest")
        if caller is None:
            return None
        check_csrf(django_request)
        return user, caller


class _CsrfCheck(CsrfViewMiddleware):
    """Django's own check, giving the reason instead of a page."""

    def _reject(self, request: HttpRequest, reason: str) -> str:
        return reason


def check_csrf(request: HttpRequest) -> None:
    """``Forbidden`` when an unsafe request of a session doesn't carry its CSRF token."""

    def nothing(request: HttpRequest) -> HttpResponse:  # pragma: no cover - the middleware wants a next layer
        return HttpResponse()

    check = _CsrfCheck(nothing)
    check.process_request(request)
    reason = check.process_view(request, nothing, (), {})
    if reason:
        raise Forbidden(
            f"The CSRF check failed: {reason} Send the cookie's value as X-CSRFToken, or use a token."
        )
