"""What is one's own: how the pages are, signing in and out, and the keys."""

import zoneinfo
from datetime import datetime
from functools import lru_cache
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import path, reverse
from django.utils import translation
from django.utils.translation import get_language_from_request, ngettext
from django.utils.translation import gettext as _

from chief_project.shared.caller import Caller
from chief_project.shared.clock import now
from chief_project.shared.preferences import (
    LANGUAGES,
    NOTIFIABLE,
    Preferences,
    preferences_of,
    time_zones,
)
from chief_project.shared.services.end_other_sessions import end_other_sessions
from chief_project.shared.services.update_preferences import update_preferences
from chief_project.web.forms import flag, text
from chief_project.web.pages import THEME_COOKIE, action, page, zone_of


@page("pages/profile.html")
def profile_page(request: HttpRequest, caller: Caller) -> dict[str, Any]:
    """The caller's preferences in a form, and who they are to Chief."""
    kept = preferences_of(caller=caller)
    zones = _zones(now().replace(minute=0, second=0, microsecond=0))
    return {
        "section": "profile",
        "kept": kept,
        "zones": zones,
        "zone_of_browser": zone_of(request, Preferences()),
        "another_zone": kept.time_zone is not None
        and kept.time_zone not in {name for _area, places in zones for name, _words in places},
        "languages": LANGUAGES,
        "browsers_language": get_language_from_request(request),
        "notifiable": NOTIFIABLE,
        "chosen_notify": request.POST.getlist("notify"),
        "now": now(),
    }


@action(profile_page)
def update(request: HttpRequest, caller: Caller) -> HttpResponse:
    """Keep all of them."""
    kept = update_preferences(
        caller=caller,
        time_zone=text(request, "time_zone"),
        language=text(request, "language"),
        theme=text(request, "theme") or "system",
        keys=flag(request, "single_keys"),
        notify=request.POST.getlist("notify"),
    )
    with translation.override(kept.language or get_language_from_request(request)):
        messages.success(request, _("Your profile is saved."))
    response = HttpResponseRedirect(reverse("profile"), status=303)
    response.delete_cookie(THEME_COOKIE, samesite="Lax")  # what the button of the frame chose before
    return response


@action(profile_page)
def end_sessions(request: HttpRequest, caller: Caller) -> str:
    """Signed out everywhere else."""
    ended = end_other_sessions(caller=caller, request=request)
    said = ngettext("%(n)s other session ended.", "%(n)s other sessions ended.", ended) % {"n": ended}
    messages.success(request, said if ended else _("You are signed in nowhere else."))
    return reverse("profile")


@page("pages/keys.html")
def keys_page(request: HttpRequest, caller: Caller) -> dict[str, Any]:
    """The keys, as a page."""
    return {"section": "keys"}


@lru_cache(maxsize=2)  # reading six hundred zones takes a while, and their offsets seldom change
def _zones(at: datetime) -> list[tuple[str, list[tuple[str, str]]]]:
    """``[(area, [(name, words)])]``, by name: the zones of the continents and oceans, and UTC."""
    found: dict[str, list[tuple[str, str]]] = {}
    for name in sorted(time_zones()):
        area, slash, place = name.partition("/")
        if name != "UTC" and (not slash or area in _NO_PLACES):
            continue
        words = place.replace("_", " ").replace("/", ", ") if slash else name
        found.setdefault(area if slash else "UTC", []).append((name, f"{words} ({_offset(name, at)})"))
    return sorted(found.items(), key=lambda group: (group[0] != "UTC", group[0]))


_NO_PLACES = frozenset({"Etc", "SystemV", "US", "Canada", "Brazil", "Chile", "Mexico"})


def _offset(name: str, at: datetime) -> str:
    written = at.astimezone(zoneinfo.ZoneInfo(name)).strftime("%z")
    return f"UTC{written[:3]}:{written[3:5]}" if written.strip("+0") else "UTC"


urlpatterns = [
    path("profile", profile_page, name="profile"),
    path("profile/update", update, name="profile-update"),
    path("profile/sessions/end", end_sessions, name="sessions-end"),
    path("keys", keys_page, name="keys"),
]
