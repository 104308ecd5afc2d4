"""What answers where no view does: the router's 404, refused requests and faults (contract 1)."""

import sys
from typing import Any

from django.conf import settings
from django.db import InterfaceError, OperationalError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views import defaults
from django.views.decorators.csrf import csrf_exempt

from chief_project.shared.http.errors import AWAY, RETRY, answer_to, refusal


def speaks_json(request: HttpRequest) -> bool:
    """Whether the answer is an envelope: always below ``/v1``, elsewhere for whoever doesn't ask for a page."""
    path = request.path_info
    return path.startswith("/v1/") or path == "/v1" or "text/html" not in request.META.get("HTTP_ACCEPT", "")


@csrf_exempt
def no_route(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
    """The last route below ``/v1``, so that nothing there is answered with a page or a redirect."""
    return answer_to(Http404(), request)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """``handler404``."""
    return (
        answer_to(Http404(), request) if speaks_json(request) else defaults.page_not_found(request, exception)
    )


def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponse:
    """``handler403``."""
    return (
        answer_to(exception, request)
        if speaks_json(request)
        else defaults.permission_denied(request, exception)
    )


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """``handler400``: a foreign host, a forged session; the contract knows no 400 below ``/v1``."""
    return answer_to(exception, request) if speaks_json(request) else defaults.bad_request(request, exception)


def server_error(request: HttpRequest) -> HttpResponse:
    """``handler500``; Django has logged it by then, and still handles what was raised.

    A database that is busy or away is no fault of ours on a page either: it says so, and when to come back.
    """
    problem = sys.exception()
    away = isinstance(problem, OperationalError | InterfaceError)
    if speaks_json(request):
        return (
            refusal(503, AWAY, headers=RETRY)
            if away
            else refusal(500, "something went wrong here; it has been logged")
        )
    if away:
        context = {"problem": {"message": f"{AWAY[0].upper()}{AWAY[1:]}."}, "version": settings.CHIEF_VERSION}
        page = render(request, "refused.html", context, status=503)
        page["Retry-After"] = RETRY["Retry-After"]
        return page
    return defaults.server_error(request)
