"""How a person wants Chief's pages to be: their time zone, language, theme, keys and notifications."""

import zoneinfo
from dataclasses import dataclass
from functools import cache

from django.conf import settings

from chief_project.shared import models
from chief_project.shared.caller import Caller

LANGUAGES = ("en", "de")
THEMES = ("system", "light", "dark")
# What can wait for a person, by the names that ``GET /waiting`` uses.
NOTIFIABLE = ("draft", "amendment", "checkpoint", "question", "failed_run")


@dataclass(frozen=True, slots=True)
class Preferences:
    """One person's, or what holds for whoever chose nothing.

    ``time_zone`` is an IANA name that this machine knows, or None: the browser's. ``language`` is one of
    ``LANGUAGES``, or None: what the browser asks for. ``notify`` holds kinds of ``NOTIFIABLE`` that an open page tells
    the person of; Chief sends no mail.
    """

    time_zone: str | None = None
    language: str | None = None
    theme: str = "system"
    keys: bool = True
    notify: frozenset[str] = frozenset()


@cache
def time_zones() -> frozenset[str]:
    """The IANA names that this machine knows, and the instance's own."""
    machines_own = {"Factory", "localtime"}
    return frozenset(zoneinfo.available_timezones() - machines_own | {settings.TIME_ZONE})


def preferences_of(*, caller: Caller) -> Preferences:
    """The caller's own; the defaults for who isn't a person."""
    return preferences_of_user(caller.user_id)


def preferences_of_user(user_id: int | None) -> Preferences:
    """The user's preferences, the defaults where there are none: one statement, or none for None."""
    row = None if user_id is None else models.Preferences.objects.filter(user_id=user_id).first()
    if row is None:
        return Preferences()
    return Preferences(
        # A machine that the database moved to may know fewer zones.
        time_zone=row.time_zone if row.time_zone in time_zones() else None,
        language=row.language if row.language in LANGUAGES else None,
        theme=row.theme,
        keys=row.keys,
        notify=frozenset(row.notify).intersection(NOTIFIABLE),
    )
