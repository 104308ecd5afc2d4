"""A run's timeline as bars on an axis: places in percent, so that it fits whatever it stands in."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.utils import dateformat, timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext, pgettext

from chief_project.shared.text.moments import duration
from runs.domain.board import Node, Row, Span
from runs.domain.paths import Path

_STEPS = [
    timedelta(seconds=seconds)
    for seconds in (
        *(1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200),
        *(86400, 2 * 86400, 7 * 86400, 14 * 86400, 30 * 86400, 91 * 86400, 365 * 86400),
    )
]
_MOST_LABELS = 8
_LEAST = 0.15  # percent: so that what took a moment can be seen
_DEEPEST = 6
_MOST_BARS = 200


@dataclass(frozen=True, slots=True)
class Bar:
    """``look`` is the class's end; ``hatch`` the pattern that fills it; ``thin`` for what only spans others."""

    look: str
    x: str
    width: str
    hatch: str = ""
    thin: bool = False
    title: str = ""


@dataclass(frozen=True, slots=True)
class Tick:
    """A place on the axis. Its label is ``hidden`` where the present is written, and ``near`` where narrow screens have no
    room for both.
    """

    x: str
    label: str
    hidden: bool = False
    near: bool = False
    anchor: str = "middle"


@dataclass(frozen=True, slots=True)
class Line:
    """A row as it is drawn. Without a ``look`` it says how many were left out. ``said`` is for who can't see it."""

    key: str
    name: str
    href: str
    look: str
    depth: int
    bars: list[Bar]
    took: str
    said: str
    machine: bool = False


@dataclass(frozen=True, slots=True)
class Timeline:
    """``now`` is the present's place, None once the run is over."""

    ticks: list[Tick]
    now: str | None
    now_label: str
    lines: list[Line]


def draw(
    rows: Sequence[Row],
    pauses: Sequence[Span],
    *,
    began: datetime,
    ended: datetime | None,
    now: datetime,
    href: Callable[[Path], str],
    more_href: Callable[[Path], str],
) -> Timeline:
    """The whole run on its first line, with its ``pauses``; then ``rows``. ``now`` is the end of what goes on."""
    last = ended or now
    for row in rows:
        if row.node is not None and row.node.completed_at is not None:
            last = max(last, row.node.completed_at)
    axis = _Axis(began, max(last, began + timedelta(seconds=1)))
    whole = Line(
        key="run",
        name=_("The whole run"),
        href="",
        look="",
        depth=0,
        bars=[axis.bar("scope", began, ended or now, thin=True), *axis.waits(pauses, now)],
        took=duration((ended or now) - began),
        said=_("from %(since)s to %(until)s") % {"since": _clock(began), "until": _clock(ended or now)},
    )
    lines = [whole, *(_line(row, axis, now=now, href=href, more_href=more_href) for row in rows)]
    here = axis.place(now) if ended is None else None
    return Timeline(
        ticks=axis.ticks(now if ended is None else None),
        now=None if here is None else f"{here:.3f}",
        now_label=_clock(now),
        lines=lines,
    )


class _Axis:
    """From a moment to a place in percent."""

    def __init__(self, began: datetime, last: datetime) -> None:
        span = last - began
        self.step = next((step for step in _STEPS if span / step <= _MOST_LABELS), _STEPS[-1])
        # A little more than what happened, so that the present has room for its label.
        self.start, self.end = began - span * 0.01, last + span * 0.03
        self.length = self.end - self.start

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
    ) -> Bar:
        left = self.place(since)
        width = max(_LEAST, self.place(until) - left)
        return Bar(look, f"{left:.3f}", f"{min(width, 100 - left):.3f}", hatch, thin, title)

    def waits(self, spans: Iterable[Span], now: datetime) -> list[Bar]:
        return [
            self.bar("wait", span.since, span.until or now, hatch="wait", title=_waited_for(span))
            for span in spans
        ]

    def ticks(self, now: datetime | None) -> list[Tick]:
        found: list[Tick] = []
        moment = _floor(self.start, self.step) + self.step
        here = None if now is None else self.place(now)
        while moment <= self.end and len(found) < 60:
            x = self.place(moment)
            away = 100.0 if here is None else abs(here - x)
            anchor = "start" if x < 1 else "end" if x > 99 else "middle"
            found.append(Tick(f"{x:.3f}", self._label(moment), away < 5, away < 16, anchor))
            moment += self.step
        return found

    def _label(self, moment: datetime) -> str:
        local = timezone.localtime(moment)
        if self.step >= timedelta(days=1):
            return dateformat.format(local, pgettext("axis of days", "j M"))
        if self.length > timedelta(days=1):
            return dateformat.format(local, pgettext("axis over days", "D H:i"))
        if self.step < timedelta(minutes=1):
            return dateformat.format(local, pgettext("axis of seconds", "H:i:s"))
        return dateformat.format(local, pgettext("time format", "H:i"))


def _floor(moment: datetime, step: timedelta) -> datetime:
    """The last round moment before this one, in the reader's zone."""
    local = timezone.localtime(moment)
    midnight = local.replace(hour=0, minute=0, second=0, microsecond=0)
    return midnight + step * ((local - midnight) // step)


def _line(
    row: Row, axis: _Axis, *, now: datetime, href: Callable[[Path], str], more_href: Callable[[Path], str]
) -> Line:
    node = row.node
    if node is None:
        said = ngettext("and %(n)d more", "and %(n)d more", row.left_out) % {"n": row.left_out}
        depth = min(len(row.around), _DEEPEST)
        bars = [axis.bar("rest", since, until or now) for since, until in row.ran[:_MOST_BARS]]
        return Line("/".join((*row.around, "*")), said, more_href(row.around), "", depth, bars, "", "")
    until = node.completed_at or now
    took = "" if node.started_at is None else duration(until - node.started_at)
    return Line(
        key="/".join(node.path),
        name=called(node),
        href=href(node.path),
        look=node.look,
        depth=min(node.depth, _DEEPEST),
        bars=[] if node.started_at is None else _bars(node, axis, node.started_at, until, now),
        took=took,
        said=_said(node, took),
        machine=node.kind == "instance" and called(node) == node.name,
    )


def called(node: Node) -> str:
    """What a node is called: an iteration without parameters by its number."""
    if node.type == "iteration" and node.name == node.path[-1] and node.number is not None:
        return _("iteration %(n)d") % {"n": node.number + 1}
    return node.name


def _bars(node: Node, axis: _Axis, since: datetime, until: datetime, now: datetime) -> list[Bar]:
    title = _("%(name)s, %(since)s to %(until)s") % {
        "name": called(node),
        "since": _clock(since),
        "until": _clock(until),
    }
    if node.inside > 1 or (node.inside and node.kind == "step"):
        return [axis.bar("scope", since, until, thin=True, title=title)]
    if node.stale:
        return [axis.bar("stale", since, until, hatch="stale", title=title)]
    look = {"running": "running", "blocked": "running", "failed": "failed"}.get(node.status, "completed")
    ran = [axis.bar(look, since, until, title=title)] if node.type != "checkpoint" else []
    return [*ran, *axis.waits(node.spans, now)]


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


def _waited_for(span: Span) -> str:
    since = _clock(span.since)
    until = _("now") if span.until is None else _clock(span.until)
    said = {
        "question": _("Waited for an answer, %(since)s to %(until)s"),
        "checkpoint": _("Waited for a decision, %(since)s to %(until)s"),
        "amendment": _("Paused for an amendment, %(since)s to %(until)s"),
    }
    return said[span.cause] % {"since": since, "until": until}


def _clock(moment: datetime) -> str:
    local, today = timezone.localtime(moment), timezone.localtime(timezone.now())
    time = dateformat.format(local, pgettext("time format", "H:i"))
    if local.date() == today.date():
        return time
    return f"{dateformat.format(local, pgettext('axis of days', 'j M'))} {time}"
