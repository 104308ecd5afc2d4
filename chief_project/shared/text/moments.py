"""Moments and spans in words, in the reader's zone (Django's current one)."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.utils import dateformat, timezone
from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from chief_project.shared.clock import now

MINUTE, HOUR, DAY = 60, 3600, 86400


def moment_of(value: datetime | str | None) -> datetime | None:
    """A moment as documents hold it: a datetime, or its ISO text. None for none, and for what is no moment."""
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            return None
    if value is None:
        return None
    return value if timezone.is_aware(value) else timezone.make_aware(value, timezone.get_default_timezone())


def when(moment: datetime) -> str:
    """``today 14:16``, ``Fri 27 Nov 16:20``, and with its year when that is another."""
    local, today = timezone.localtime(moment), timezone.localtime(now())
    if local.date() == today.date():
        return _("today %(time)s") % {"time": dateformat.format(local, pgettext("time format", "H:i"))}
    if local.year == today.year:
        return dateformat.format(local, pgettext("date format", "D j M H:i"))
    return dateformat.format(local, pgettext("date format", "D j M Y H:i"))


def age(moment: datetime) -> str:
    """How long ago: ``5 h 42 min``; ``1 s`` at least, for nothing that happened is no time ago."""
    return duration(max(1.0, (now() - moment).total_seconds()))


def duration(span: float | timedelta) -> str:
    """``40 s``, ``18 min``, ``5 h 42 min``, ``1 d 3 h``; two units at most, cut and never rounded up."""
    seconds = max(0, int(span.total_seconds() if isinstance(span, timedelta) else span))
    if seconds < MINUTE:
        return pgettext("duration", "%(seconds)d s") % {"seconds": seconds}
    if seconds < HOUR:
        return pgettext("duration", "%(minutes)d min") % {"minutes": seconds // MINUTE}
    if seconds < DAY:
        hours, rest = divmod(seconds, HOUR)
        return pgettext("duration", "%(hours)d h %(minutes)02d min") % {
            "hours": hours,
            "minutes": rest // MINUTE,
        }
    days, rest = divmod(seconds, DAY)
    hours = rest // HOUR
    if days < 7 and hours:
        return pgettext("duration", "%(days)d d %(hours)d h") % {"days": days, "hours": hours}
    return pgettext("duration", "%(days)d d") % {"days": days}
