"""One table turns whatever was raised into an answer (contract 1): ``{"error": {code, message, details?}}``."""

import logging
from typing import Any

from django.core.exceptions import (
    BadRequest,
    DisallowedHost,
    PermissionDenied,
    RequestDataTooBig,
    SuspiciousOperation,
    TooManyFieldsSent,
)
from django.core.signals import got_request_exception
from django.db import DataError, IntegrityError, InterfaceError, OperationalError
from django.http import Http404, HttpRequest, HttpResponse
from django.http.multipartparser import MultiPartParserError
from django.http.request import RawPostDataException, UnreadablePostError
from rest_framework import exceptions as drf

from chief_project.shared.errors import ChiefError
from chief_project.shared.wire.rendering import JSONResponse

logger = logging.getLogger("chief.http")

CODES = {
    400: "validation_failed",
    401: "unauthenticated",
    403: "forbidden",
    404: "not_found",
    405: "method_not_allowed",
    406: "not_acceptable",
    409: "conflict",
    412: "precondition_failed",
    413: "too_large",
    415: "unsupported_media_type",
    422: "validation_failed",
    429: "rate_limited",
    500: "internal",
    503: "unavailable",
}
# For the API's description: a name and a sentence for each status.
REFUSALS = {
    401: ("Unauthenticated", "No credential, or one that is not valid (any more)."),
    403: ("Forbidden", "This principal may not do this."),
    404: ("NotFound", "Nothing has that id."),
    406: ("NotAcceptable", "Only JSON is offered."),
    409: ("Conflict", "The moment, another rule, or another request forbids it."),
    412: ("PreconditionFailed", "What the request was based on is no longer the newest."),
    413: ("TooLarge", "The body is too large."),
    415: ("UnsupportedMediaType", "A body must be JSON in UTF-8."),
    422: ("ValidationFailed", "The document, a field, a header or a query parameter is malformed."),
    500: ("Internal", "A fault of ours; it has been logged."),
    503: ("Unavailable", "The database is busy or away: try again shortly."),
}
AWAY = "the database is busy or away: try again shortly"
RETRY = {"Retry-After": "1"}
_CHALLENGE = {"WWW-Authenticate": "Bearer"}


def envelope(code: str, message: str, details: dict[str, Any] | None = None) -> dict[str, Any]:
    """The one shape of a refusal."""
    error: dict[str, Any] = {"code": code, "message": message}
    if details:
        error["details"] = details
    return {"error": error}


def refusal(
    status: int,
    message: str,
    *,
    code: str | None = None,
    details: dict[str, Any] | None = None,
    headers: dict[str, str] | None = None,
) -> JSONResponse:
    """An answer that refuses, in the envelope."""
    return JSONResponse(envelope(code or CODES[status], message, details), status, headers)


def answer_to(problem: Exception, request: HttpRequest | None = None) -> JSONResponse:
    """The answer to a request that ended in ``problem``. What nobody foresaw is logged and leaks nothing."""
    if isinstance(problem, ChiefError):
        headers = (
            _CHALLENGE if problem.status == 401 else {"Retry-After": "1"} if problem.status == 503 else None
        )
        return refusal(
            problem.status, problem.message, code=problem.code, details=problem.details, headers=headers
        )
    if isinstance(problem, drf.APIException):
        return _answer_to_drf(problem)
    if isinstance(problem, Http404):
        return refusal(404, "nothing is here: see /v1/docs/ for the routes")
    if isinstance(problem, PermissionDenied):
        return refusal(403, str(problem) or "that is not allowed")
    if isinstance(problem, RequestDataTooBig):
        return refusal(413, "the body is too large: send less, or split it")
    if isinstance(problem, UnreadablePostError | RawPostDataException):
        return refusal(422, "the body ended before it was complete: send it again")
    if isinstance(problem, DisallowedHost):
        return refusal(422, "not served to this host: use the address that Chief was set up for (CHIEF_URL)")
    if isinstance(problem, TooManyFieldsSent):
        return refusal(422, "too many query parameters or form fields: send fewer than 1000")
    if isinstance(problem, SuspiciousOperation | BadRequest | MultiPartParserError):
        return refusal(422, "the request is malformed")
    if isinstance(problem, IntegrityError):
        logger.warning("a constraint refused what the rules let pass", exc_info=problem)
        return refusal(409, "another request got there first: read it again and retry if it still applies")
    if isinstance(problem, DataError):
        logger.warning("the database refused a value", exc_info=problem)
        return refusal(422, "a value is too large or of a kind that can't be kept")
    if isinstance(problem, OperationalError | InterfaceError):
        logger.error("the database is not available", exc_info=problem)
        return refusal(503, AWAY, headers=RETRY)
    where = f"{request.method} {request.path}" if request is not None else "a request"
    logger.error("unforeseen fault in %s", where, exc_info=problem)
    if request is not None:  # whoever watches for faults (a test client, a reporter) hears of this one too
        got_request_exception.send(sender=None, request=request)
    return refusal(500, "something went wrong here; it has been logged")


def _answer_to_drf(problem: drf.APIException) -> JSONResponse:
    headers: dict[str, str] = {}
    message = _sentence(problem.detail)
    status = problem.status_code
    if isinstance(problem, drf.NotAuthenticated | drf.AuthenticationFailed):
        status, headers = 401, dict(_CHALLENGE)
        if isinstance(problem, drf.AuthenticationFailed):
            headers["WWW-Authenticate"] = 'Bearer error="invalid_token"'
    elif isinstance(problem, drf.ParseError | drf.ValidationError):
        status = 422
    elif isinstance(problem, drf.Throttled):
        headers["Retry-After"] = str(max(1, int(getattr(problem, "wait", None) or 1)))
    elif isinstance(problem, drf.MethodNotAllowed):
        allowed = getattr(problem, "allowed", ())
        headers["Allow"] = ", ".join(allowed)
        message = "this route takes " + (", ".join(allowed) or "no such method")
    elif status not in CODES:
        status = 500
    return refusal(status, message, headers=headers)


def exception_handler(problem: Exception, context: dict[str, Any]) -> HttpResponse:
    """DRF's hook, for views that aren't a ``ChiefView`` (the schema's)."""
    request = context.get("request")
    if isinstance(problem, drf.MethodNotAllowed):
        problem.allowed = context["view"].allowed_methods  # type: ignore[attr-defined]
    return answer_to(problem, getattr(request, "_request", request))


def _sentence(detail: Any) -> str:
    while isinstance(detail, list | dict) and detail:
        detail = detail[0] if isinstance(detail, list) else next(iter(detail.values()))
    return str(detail)
