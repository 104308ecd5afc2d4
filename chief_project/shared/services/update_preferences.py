"""``update_preferences``: how a person wants Chief's pages to be."""

from collections.abc import Collection

from django.db import transaction

from chief_project.shared.caller import Caller, Right
from chief_project.shared.errors import ValidationFailed
from chief_project.shared.models import Preferences as Row
from chief_project.shared.preferences import (
    LANGUAGES,
    NOTIFIABLE,
    THEMES,
    Preferences,
    preferences_of,
    time_zones,
)


def update_preferences(
    *,
    caller: Caller,
    time_zone: str | None = None,
    language: str | None = None,
    theme: str = "system",
    keys: bool = True,
    notify: Collection[str] = (),
) -> Preferences:
    """Keep the caller's preferences, all at once; None for the browser's time zone and language.

    Unaudited, like what a person has read: nobody's work depends on it, and the audit is no record of people's habits.
    """
    caller.must(Right.READ, "choose how the pages are")
    caller.must_be_person("choose how the pages are")
    if time_zone is not None and time_zone not in time_zones():
        raise ValidationFailed(
            f"time zone {time_zone[:60]!r} is unknown here: use an IANA name such as Europe/Berlin",
            pointer="/time_zone",
        )
    if language is not None:
        _one_of(LANGUAGES, language, "language")
    _one_of(THEMES, theme, "theme")
    for kind in notify:
        _one_of(NOTIFIABLE, kind, "notify")
    kept = {
        "time_zone": time_zone or "",
        "language": language or "",
        "theme": theme,
        "keys": keys,
        "notify": [kind for kind in NOTIFIABLE if kind in notify],
    }
    assert caller.user_id is not None  # a person has one
    with transaction.atomic(savepoint=False):
        Row.objects.update_or_create(user_id=caller.user_id, defaults=kept)
    return preferences_of(caller=caller)


def _one_of(known: tuple[str, ...], said: str, field: str) -> None:
    if said not in known:
        raise ValidationFailed(
            f"{field} {said[:40]!r} is unknown: use one of {', '.join(known)}", pointer=f"/{field}"
        )
