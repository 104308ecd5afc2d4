"""A run's timeline as bars on an axis, of all of it or of a window.

Places are in percent, so that it fits whatever it stands in.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from django.utils import dateformat, timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext, pgettext

from chief_project.shared.clock import iso
from chief_project.shared.errors import ValidationFailed
from chief_project.shared.text.moments import duration
from runs.domain.board import Node, Row, Span, merged
from runs.domain.paths import Path
from runs.selectors.board import Course

_STEPS = [
    timedelta(seconds=seconds)
    for seconds in (
        *(1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200),
        *(86400, 2 * 86400, 7 * 86400, 14 * 86400, 30 * 86400, 91 * 86400, 365 * 86400),
    )
]
_MOST_LABELS = 8
_MOST_NARROW = 5
_LEAST = 0.25  # percent: so that what took a moment can be seen
_EDGE = 5.0  # percent: a label that is nearer to an edge stands beside its tick
_DEEPEST = 6
_MOST_BARS = 200
_BRIEF = timedelta(minutes=10)  # what is shorter is told to the second
_SECOND = timedelta(seconds=1)


@dataclass(frozen=True, slots=True)
class Window:
    """The part of a run that is looked at: from its beginning where ``since`` is None, and to its end, or for as long
    as it goes on, where ``until`` is.
    """

    since: datetime | None = None
    until: datetime | None = None


WHOLE = Window()


@dataclass(frozen=True, slots=True)
class Bar:
    """``look`` is the class's end; ``hatch`` the pattern that fills it; ``thin`` for what only spans others.

    ``before`` and ``after`` say that it goes on outside the window.
    """

    look: str
    x: str
    width: str
    hatch: str = ""
    thin: bool = False
    title: str = ""
    before: bool = False
    after: bool = False


@dataclass(frozen=True, slots=True)
class Tick:
    """A place on the axis. Its label is ``hidden`` where the present is written, and ``near`` where narrow screens have no
    room for it; ``day`` says that a day begins.
    """

    x: str
    label: str
    hidden: bool = False
    near: bool = False
    day: bool = False
    anchor: str = "middle"


@dataclass(frozen=True, slots=True)
class Stretch:
    """From one tick to the next: a link to look at that alone."""

    x: str
    width: str
    href: str
    title: str


@dataclass(frozen=True, slots=True)
class Line:
    """A row as it is drawn. Without a ``look`` it says how many were left out. ``said`` is for who can't see it.

    ``zoom`` leads to the window that it fills.
    """

    key: str
    name: str
    href: str
    look: str
    depth: int
    bars: list[Bar]
    took: str
    said: str
    machine: bool = False
    zoom: str = ""


@dataclass(frozen=True, slots=True)
class Timeline:
    """``now`` is the present's place, None once the run is over or where it isn't in the window.

    ``since`` and ``until`` are the window's ends in words; ``ways`` leads to others, by what it does, "" where there is
    none.
    """

    ticks: list[Tick]
    stretches: list[Stretch]
    now: str | None
    now_label: str
    lines: list[Line]
    since: str
    until: str
    length: str
    ways: dict[str, str]


def window_of(since: datetime | None, until: datetime | None, *, began: datetime, last: datetime) -> Window:
    """The window that an address asks for, of a run that began then and went on, or will have, until ``last``.

    Raises ``ValidationFailed`` for one that shows nothing.
    """
    if since is not None and until is not None and until - since < _SECOND:
        raise ValidationFailed("'from' must be at least a second before 'to'", parameter="from")
    if (since is not None and since >= last) or (until is not None and until <= began):
        raise ValidationFailed(
            f"nothing of this run is in that time: it began {iso(began)} and was last at {iso(last)}; "
            "leave 'from' and 'to' out to see all of it",
            parameter="from",
        )
    return _part(since, until, began, last)


def _part(since: datetime | None, until: datetime | None, began: datetime, last: datetime) -> Window:
    """Without the ends that lie outside the run."""
    return Window(
        None if since is None or since <= began else since,
        None if until is None or until >= last else until,
    )


def draw(
    course: Course,
    waits: Sequence[Span],
    pauses: Sequence[Span],
    *,
    began: datetime,
    ended: datetime | None,
    now: datetime,
    window: Window,
    href: Callable[[Path], str],
    more_href: Callable[[Path], str],
    window_href: Callable[[Window], str],
) -> Timeline:
    """The whole run on its first line, with when its steps waited for a person and its ``pauses``; then the rows.

    ``now`` is the end of what goes on.
    """
    last = max(filter(None, [ended or now, course.last]))
    axis = _Axis(began, max(last, began + _SECOND), window)
    drawing = _Drawing(axis, began, last, now, href, more_href, window_href)
    waited = [
        axis.bar("wait", since, until, hatch="wait", title=_span(_("Waited for a person"), since, until))
        for since, until in merged(waits, now=now, gap=axis.length * (_LEAST / 100))
    ]
    whole = Line(
        key="run",
        name=_("The whole run"),
        href="",
        look="",
        depth=0,
        bars=_seen([axis.bar("scope", began, ended or now, thin=True), *waited, *axis.waits(pauses, now)]),
        took=duration((ended or now) - began),
        said=_("from %(since)s to %(until)s") % {"since": _clock(began), "until": _clock(ended or now)},
        zoom=window_href(WHOLE),
    )
    here = axis.place(now) if ended is None and window.until is None else None
    since, until = window.since or began, window.until or last
    return Timeline(
        ticks=axis.ticks(here),
        stretches=drawing.stretches(),
        now=None if here is None else f"{here:.3f}",
        now_label=_clock(now),
        lines=[whole, *map(drawing.line, course.rows)],
        since=_day_and_time(since, brief=until - since < _BRIEF),
        until=_("now") if here is not None else _day_and_time(until, since, brief=until - since < _BRIEF),
        length=duration(until - since),
        ways=drawing.ways(window, follows=ended is None),
    )


class _Axis:
    """From a moment to a place in percent."""

    def __init__(self, began: datetime, last: datetime, window: Window) -> None:
        since, until = window.since or began, window.until or last
        span = max(until - since, _SECOND)
        self.step = next((step for step in _STEPS if span / step <= _MOST_LABELS), _STEPS[-1])
        # A little more than what happened, so that the present has room for its label.
        self.start = since if window.since else since - span * 0.01
        self.end = until if window.until else since + span * 1.03
        self.length = self.end - self.start
        self.cuts_start, self.cuts_end = window.since is not None, window.until is not None

    def place(self, moment: datetime) -> float:
        return max(0.0, min(100.0, 100 * ((moment - self.start) / self.length)))

    def bar(
        self,
        look: str,
        since: datetime,
        until: datetime,
        *,
        hatch: str = "",
        thin: bool = False,
        title: str = "",
    ) -> Bar | None:
        """None for what is outside the window."""
        if since >= self.end or (until <= self.start and since < self.start):
            return None
        left, right = self.place(since), self.place(until)
        width = max(_LEAST, right - left)
        left = min(left, 100 - width)
        before, after = self.cuts_start and since < self.start, self.cuts_end and until > self.end
        return Bar(look, f"{left:.3f}", f"{width:.3f}", hatch, thin, title, before, after)

    def waits(self, spans: Iterable[Span], now: datetime) -> list[Bar | None]:
        return [
            self.bar("wait", span.since, span.until or now, hatch="wait", title=_waited_for(span, now))
            for span in spans
        ]

    def moments(self) -> list[datetime]:
        """Round ones in the reader's zone: the last before the axis begins, and those on it."""
        first = _floor(self.start, self.step)
        found: list[datetime] = []
        for number in range(60):
            # By the clock on the wall; an hour that a change of the clocks skips is none.
            moment = (first + self.step * number).astimezone(UTC)
            if moment > self.end:
                break
            if not found or moment > found[-1]:
                found.append(moment)
        return found

    def ticks(self, here: float | None) -> list[Tick]:
        found: list[Tick] = []
        moments = [moment for moment in self.moments() if moment >= self.start]
        for moment in moments:
            x = self.place(moment)
            away = 100.0 if here is None else abs(here - x)
            local = timezone.localtime(moment)
            day = self.step < timedelta(days=1) and (local.hour, local.minute, local.second) == (0, 0, 0)
            odd = (
                ((moment - moments[0]) if self.step >= timedelta(days=1) else _of_day(local)) // self.step % 2
            )
            near = away < 16 or (len(moments) > _MOST_NARROW and odd == 1)
            anchor = "start" if x < _EDGE else "end" if x > 100 - _EDGE else "middle"
            found.append(Tick(f"{x:.3f}", self._label(local, day), away < 5, near, day, anchor))
        return found

    def _label(self, local: datetime, day: bool) -> str:
        if day:
            return dateformat.format(local, pgettext("axis, where a day begins", "D j M"))
        if self.step >= timedelta(days=1):
            return dateformat.format(local, pgettext("axis of days", "j M"))
        return _time(local, self.step < timedelta(minutes=1))


class _Drawing:
    """What leads from here to other parts of the run, and its rows."""

    def __init__(
        self,
        axis: _Axis,
        began: datetime,
        last: datetime,
        now: datetime,
        href: Callable[[Path], str],
        more_href: Callable[[Path], str],
        window_href: Callable[[Window], str],
    ) -> None:
        self.axis, self.began, self.last, self.now = axis, began, last, now
        self.href, self.more_href, self.window_href = href, more_href, window_href

    def to(self, since: datetime, until: datetime | None) -> str:
        """To a window, widened to whole seconds."""
        since = since.replace(microsecond=0)
        if until is not None and until.microsecond:
            until = until.replace(microsecond=0) + _SECOND
        return self.window_href(_part(since, until, self.began, self.last))

    def ways(self, window: Window, *, follows: bool) -> dict[str, str]:
        since, until = window.since or self.began, window.until or self.last
        span = until - since
        follows = follows and window.until is None
        middle = since + span / 2
        found = dict.fromkeys(("earlier", "later", "in", "out", "whole"), "")
        if span >= 4 * _SECOND:
            # Where the run goes on, the present is what is looked at.
            found["in"] = self.to(middle, None) if follows else self.to(since + span / 4, until - span / 4)
        if window != WHOLE:
            found["out"] = (
                self.to(until - 2 * span, None) if follows else self.to(since - span / 2, until + span / 2)
            )
            found["whole"] = self.window_href(WHOLE)
        if window.since is not None:
            first = max(self.began, since - span / 2)
            found["earlier"] = self.to(first, first + span)
        if window.until is not None:
            end = min(self.last, until + span / 2)
            found["later"] = self.to(end - span, end)
        return found

    def stretches(self) -> list[Stretch]:
        """From tick to tick, as far as the run went."""
        axis, found = self.axis, []
        moments = axis.moments()
        for since, until in zip(moments, [*moments[1:], axis.end], strict=True):
            left, right = axis.place(since), axis.place(until)
            if since < self.last and until > self.began and right > left and axis.step < axis.length:
                end = until if until in moments else since + axis.step
                title = _span(_("Zoom"), since, end)
                found.append(Stretch(f"{left:.3f}", f"{right - left:.3f}", self.to(since, end), title))
        return found

    def line(self, row: Row) -> Line:
        node, axis = row.node, self.axis
        if node is None:
            said = ngettext("and %(n)d more", "and %(n)d more", row.left_out) % {"n": row.left_out}
            depth = min(len(row.around), _DEEPEST)
            bars = _seen(axis.bar("rest", since, until or self.now) for since, until in row.ran)
            key = "/".join((*row.around, "*"))
            return Line(key, said, self.more_href(row.around), "", depth, bars[:_MOST_BARS], "", "")
        until = node.completed_at or self.now
        took = "" if node.started_at is None else duration(until - node.started_at)
        return Line(
            key="/".join(node.path),
            name=called(node),
            href=self.href(node.path),
            look=node.look,
            depth=min(node.depth, _DEEPEST),
            bars=[] if node.started_at is None else _bars(node, axis, node.started_at, until, self.now),
            took=took,
            said=_said(node, took),
            machine=node.kind == "instance" and called(node) == node.name,
            zoom="" if node.started_at is None else self._around(node.started_at, node.completed_at),
        )

    def _around(self, since: datetime, until: datetime | None) -> str:
        """To a span with a little of what was before and after."""
        more = max(_SECOND, ((until or self.now) - since) * 0.05)
        return self.to(since - more, None if until is None else until + more)


def _seen(bars: Iterable[Bar | None]) -> list[Bar]:
    return [bar for bar in bars if bar is not None]


def _floor(moment: datetime, step: timedelta) -> datetime:
    """The last round moment before this one, in the reader's zone."""
    local = timezone.localtime(moment)
    return local.replace(hour=0, minute=0, second=0, microsecond=0) + step * (_of_day(local) // step)


def _of_day(local: datetime) -> timedelta:
    """What the clock on the wall shows."""
    return timedelta(
        hours=local.hour, minutes=local.minute, seconds=local.second, microseconds=local.microsecond
    )


def called(node: Node) -> str:
    """What a node is called: an iteration without parameters by its number."""
    if node.type == "iteration" and node.name == node.path[-1] and node.number is not None:
        return _("iteration %(n)d") % {"n": node.number + 1}
    return node.name


def _bars(node: Node, axis: _Axis, since: datetime, until: datetime, now: datetime) -> list[Bar]:
    title = _span(called(node), since, until)
    if node.inside > 1 or (node.inside and node.kind == "step"):
        return _seen([axis.bar("scope", since, until, thin=True, title=title)])
    if node.stale:
        return _seen([axis.bar("stale", since, until, hatch="stale", title=title)])
    look = {"running": "running", "blocked": "running", "failed": "failed"}.get(node.status, "completed")
    ran = [axis.bar(look, since, until, title=title)] if node.type != "checkpoint" else []
    return _seen([*ran, *axis.waits(node.spans, now)])


def _said(node: Node, took: str) -> str:
    if node.started_at is None:
        return _("has not begun")
    waits = sum(
        ((span.until or node.completed_at or span.since) - span.since for span in node.spans), timedelta()
    )
    if waits:
        return _("began %(since)s, took %(took)s, waited for a person %(waited)s of it") % {
            "since": _clock(node.started_at),
            "took": took,
            "waited": duration(waits),
        }
    return _("began %(since)s, took %(took)s") % {"since": _clock(node.started_at), "took": took}


def _waited_for(span: Span, now: datetime) -> str:
    said = {
        "question": _("Waited for an answer"),
        "checkpoint": _("Waited for a decision"),
        "amendment": _("Paused for an amendment"),
    }
    return _span(said[span.cause], span.since, span.until or now, open_=span.until is None)


def _span(name: str, since: datetime, until: datetime, *, open_: bool = False) -> str:
    """``name`` and when that was."""
    brief = until - since < _BRIEF
    return _("%(name)s, %(since)s to %(until)s") % {
        "name": name,
        "since": _clock(since, brief=brief),
        "until": _("now") if open_ else _clock(until, brief=brief),
    }


def _clock(moment: datetime, *, brief: bool = False) -> str:
    """A time of day, with its date where that isn't today's; to the second of something ``brief``."""
    local, today = timezone.localtime(moment), timezone.localtime(timezone.now())
    time = _time(local, brief)
    if local.date() == today.date():
        return time
    return f"{dateformat.format(local, pgettext('axis of days', 'j M'))} {time}"


def _day_and_time(moment: datetime, before: datetime | None = None, *, brief: bool) -> str:
    """A time of day, with its date where that isn't told ``before``."""
    local = timezone.localtime(moment)
    if before is not None and timezone.localtime(before).date() == local.date():
        return _time(local, brief)
    return f"{dateformat.format(local, pgettext('axis, where a day begins', 'D j M'))} {_time(local, brief)}"


def _time(local: datetime, seconds: bool) -> str:
    if seconds:
        return dateformat.format(local, pgettext("axis of seconds", "H:i:s"))
    return dateformat.format(local, pgettext("time format", "H:i"))
