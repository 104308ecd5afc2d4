"""How a function becomes a page: a dict is what its template needs, a refusal keeps what was typed.

A page is a GET and writes nothing. An action is a POST that belongs to a page: done, it goes on to an address;
refused, its page is shown again with the reason and with everything that was sent.
"""

import contextlib
from collections.abc import Callable, Iterator, Mapping
from functools import wraps
from inspect import signature
from typing import Any
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

from django.conf import settings
from django.http import (
    HttpRequest,
    HttpResponse,
    HttpResponseBase,
    HttpResponseNotAllowed,
    HttpResponseRedirect,
    QueryDict,
)
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone, translation
from django.utils.cache import patch_vary_headers
from django.utils.functional import SimpleLazyObject
from django.utils.http import urlencode
from django.utils.translation import get_language_from_request
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from amendments.selectors.waiting import count_waiting_by_project
from chief_project.shared.caller import Caller, Right
from chief_project.shared.errors import ChiefError, Forbidden, NotFound
from chief_project.shared.preferences import Preferences, preferences_of_user, time_zones
from chief_project.shared.principals import caller_of_session

Build = Callable[..., dict[str, Any] | HttpResponseBase]
View = Callable[..., HttpResponseBase]

THEMES = frozenset({"light", "dark"})
THEME_COOKIE = "chief_theme"
ZONE_COOKIE = "chief_zone"


class Screen:
    """One page: what builds its context, its template, and the parts of it that can be asked for alone."""

    def __init__(self, build: Build, template: str, parts: tuple[str, ...]) -> None:
        self.build = build
        self.template = template
        self.parts = parts
        self.takes = frozenset(signature(build).parameters)

    def show(
        self,
        request: HttpRequest,
        caller: Caller,
        where: Mapping[str, Any],
        *,
        problem: ChiefError | None = None,
    ) -> HttpResponseBase:
        """The page, or the part of it that htmx asks for; with ``problem``, what was sent stays in its forms."""
        given = {name: value for name, value in where.items() if name in self.takes}
        try:
            context = self.build(request, caller, **given)
        except ChiefError as gone:
            return refused(request, caller, problem or gone)
        if isinstance(context, HttpResponseBase):
            return context
        typed = request.POST if problem is not None else QueryDict()
        told = {"problem": problem, "typed": typed} | context
        part = part_asked_for(request)
        template = f"{self.template}#{part}" if part in self.parts else self.template
        status = 200 if problem is None else problem.status
        response = render(request, template, shell(request, caller) | told, status=status)
        patch_vary_headers(response, ("HX-Request", "HX-Target"))
        return response


def page(template: str, *, parts: tuple[str, ...] = ()) -> Callable[[Build], View]:
    """Make a view for people who are signed in of ``build(request, caller, …)``, which answers a dict or a response.

    ``parts``: ids of the template's partials; a request of htmx that targets one of them gets it alone.
    """

    def decorate(build: Build) -> View:
        screen = Screen(build, template, parts)

        @never_cache
        @require_safe
        @wraps(build)
        def view(request: HttpRequest, **where: Any) -> HttpResponseBase:
            return _as_a_person(request, lambda caller: screen.show(request, caller, where))

        view.screen = screen  # type: ignore[attr-defined]
        return view

    return decorate


def action(of: View) -> Callable[[Callable[..., str | HttpResponseBase]], View]:
    """Make a POST of ``act(request, caller, …)``, which answers where to go; refused, the page ``of`` is shown again."""
    screen: Screen = of.screen  # type: ignore[attr-defined]

    def decorate(act: Callable[..., str | HttpResponseBase]) -> View:
        @never_cache
        @wraps(act)
        def view(request: HttpRequest, **where: Any) -> HttpResponseBase:
            if request.method != "POST":
                return _only_sent(request, screen, where)

            def acted(caller: Caller) -> HttpResponseBase:
                try:
                    done = act(request, caller, **where)
                except ChiefError as problem:
                    return screen.show(request, caller, where, problem=problem)
                return HttpResponseRedirect(done, status=303) if isinstance(done, str) else done

            return _as_a_person(request, acted)

        return view

    return decorate


def _only_sent(request: HttpRequest, screen: Screen, where: Mapping[str, Any]) -> HttpResponseBase:
    """An action's address, asked for: nothing is done, and a person who loads it again sees the page it belongs to."""
    shown: HttpResponseBase = HttpResponseNotAllowed(["POST"])
    if request.method in ("GET", "HEAD") and request.user.is_authenticated:
        shown = _as_a_person(request, lambda caller: screen.show(request, caller, where))
        if shown.status_code == 200:
            shown.status_code = 405
            shown["Allow"] = "POST"
    return shown


def show_again(of: View, request: HttpRequest, caller: Caller, **where: Any) -> HttpResponseBase:
    """The page ``of`` as what its form sent makes it: for a button that changes only what is shown."""
    screen: Screen = of.screen  # type: ignore[attr-defined]
    return screen.show(request, caller, where)


def at_one_address(show: View, take: View) -> View:
    """A page and what its form sends under one address: what was shown for a POST can be loaded again."""

    def view(request: HttpRequest, **where: Any) -> HttpResponseBase:
        return (take if request.method == "POST" else show)(request, **where)

    view.screen = show.screen  # type: ignore[attr-defined]
    return view


def part_asked_for(request: HttpRequest) -> str:
    """The id of what htmx will put the answer in; empty where a whole page is asked for."""
    if "HX-Request" not in request.headers or "HX-History-Restore-Request" in request.headers:
        return ""
    return request.headers.get("HX-Target", "")


def refused(request: HttpRequest, caller: Caller, problem: ChiefError) -> HttpResponse:
    """The page of a refusal that has no page of its own: nothing has that id, or it isn't this person's to see."""
    template = "pages/not_found.html" if isinstance(problem, NotFound) else "pages/refused.html"
    return render(request, template, shell(request, caller) | {"problem": problem}, status=problem.status)


def shell(request: HttpRequest, caller: Caller) -> dict[str, Any]:
    """What every page's frame needs."""
    return {
        "caller": caller,
        "may": {right.value: caller.may(right) for right in Right},
        "preferences": preferences_of(request, caller),
        "theme": _theme(request, caller),
        "version": settings.CHIEF_VERSION,
        "waiting_count": SimpleLazyObject(lambda: _count_waiting(caller)),
    }


def preferences_of(request: HttpRequest, caller: Caller) -> Preferences:
    """This person's preferences, read once per request."""
    kept: Preferences | None = getattr(request, "chief_preferences", None)
    if kept is None:
        assert caller.user_id is not None, "only people see pages"
        kept = preferences_of_user(caller.user_id)
        request.chief_preferences = kept  # type: ignore[attr-defined]
    return kept


def _as_a_person(request: HttpRequest, answer: Callable[[Caller], HttpResponseBase]) -> HttpResponseBase:
    try:
        caller = caller_of_session(request, via="web")
    except Forbidden as problem:  # signed in, without a role
        return render(
            request, "no_access.html", {"problem": problem, "version": settings.CHIEF_VERSION}, status=403
        )
    if caller is None:
        return signed_out(request)
    with reading_as(request, caller):
        return answer(caller)


@contextlib.contextmanager
def reading_as(request: HttpRequest, caller: Caller) -> Iterator[None]:
    """In the reader's language and time zone."""
    preferences = preferences_of(request, caller)
    language = preferences.language or get_language_from_request(request)
    with translation.override(language), timezone.override(ZoneInfo(zone_of(request, preferences))):
        yield


def zone_of(request: HttpRequest, preferences: Preferences) -> str:
    """The zone that was chosen, else the browser's, which a script tells; the instance's where none is told."""
    told = preferences.time_zone or request.COOKIES.get(ZONE_COOKIE, "")
    return told if told in time_zones() else settings.TIME_ZONE


def signed_out(request: HttpRequest) -> HttpResponse:
    """To the sign-in page and back; what a form sent meanwhile is shown, so that it can be sent again."""
    if request.method == "POST":
        return send_again(request, signed_in=False)
    there = f"{reverse('sign-in')}?{urlencode({'next': request.get_full_path()})}"
    if "HX-Request" not in request.headers:
        return HttpResponseRedirect(there)
    current = urlsplit(request.headers.get("HX-Current-URL", ""))
    back = f"{current.path}?{current.query}" if current.query else current.path or "/"
    response = HttpResponse(status=204)
    response["HX-Redirect"] = f"{reverse('sign-in')}?{urlencode({'next': back})}"
    return response


def send_again(request: HttpRequest, *, signed_in: bool) -> HttpResponse:
    """What a form sent when its session was over or its page too old: kept, and ready to be sent again.

    Only for a form of this site, or a foreign page could put words into someone's mouth with one more click.
    """
    sent = [(name, value) for name, values in request.POST.lists() for value in values]
    kept = [(name, value) for name, value in sent if name != "csrfmiddlewaretoken"]
    context = {
        "kept": kept if _from_here(request) else [],
        "signed_in": signed_in,
        "to": request.get_full_path(),
        "version": settings.CHIEF_VERSION,
    }
    response = render(request, "pages/send_again.html", context, status=403 if signed_in else 401)
    response["HX-Retarget"] = "body"
    response["Cache-Control"] = "no-store"
    return response


def stale_form(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Django's hook for a form without its CSRF token: mostly a page that was opened before signing in.

    What such a page asks for in secret, and the admin site's forms, are never shown again.
    """
    if request.path_info.startswith(("/signin", "/password", "/admin/", "/signout", "/tokens")):
        context = {"kept": [], "version": settings.CHIEF_VERSION}
        return render(request, "pages/send_again.html", context, status=403)
    user = getattr(request, "user", None)
    return send_again(request, signed_in=user is not None and user.is_authenticated)


def _from_here(request: HttpRequest) -> bool:
    site = request.headers.get("Sec-Fetch-Site")
    if site is not None:
        return site == "same-origin"
    origin = request.headers.get("Origin") or request.headers.get("Referer", "")
    there = urlsplit(origin)
    return (there.scheme, there.netloc) == (request.scheme, request.get_host())


def _theme(request: HttpRequest, caller: Caller) -> str:
    chosen = request.COOKIES.get(THEME_COOKIE, "")
    if chosen not in THEMES:
        chosen = preferences_of(request, caller).theme
    return chosen if chosen in THEMES else ""


def _count_waiting(caller: Caller) -> int:
    return sum(count_waiting_by_project(caller=caller).values())
