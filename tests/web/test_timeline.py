"""A run's timeline: what a window shows of it, where it leads, and what its axis says in the reader's zone."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit
from zoneinfo import ZoneInfo

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone, translation

from chief_project.shared.caller import Caller
from chief_project.shared.errors import ValidationFailed
from chief_project.shared.models import User
from chief_project.web.timeline import WHOLE, Bar, Timeline, Window, draw, window_of
from runs.domain.board import Node, Row, Span, timeline, within
from runs.models import Run, StepState
from runs.selectors.board import Course
from tests.plans import checkpoint, task
from tests.run_rows import run_row
from tests.runs import new_run, report

WebAs = Callable[..., Client]
NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
HOUR, MINUTE, SECOND = timedelta(hours=1), timedelta(minutes=1), timedelta(seconds=1)


def node(name: str, since: timedelta | None, until: timedelta | None = None, **keys: Any) -> Node:
    """A step that ran from then to then, counted from ``NOON``."""
    status = "pending" if since is None else "running" if until is None else "completed"
    given: dict[str, Any] = {
        "kind": "step", "pk": 1, "path": (name,), "names": (name,), "number": None, "type": "task", "step": None,
        "status": status, "skip_cause": None, "stale": False, "failures": 0, "brought": {},
        "started_at": None if since is None else NOON + since, "completed_at": None if until is None else NOON + until,
    }  # fmt: skip
    return Node(**given | keys)


def drawn(
    *nodes: Node,
    ended: timedelta | None = 72 * HOUR,
    now: timedelta = 100 * HOUR,
    window: Window = WHOLE,
    waits: list[Span] | None = None,
    zone: str = "UTC",
) -> Timeline:
    last = max((each.completed_at for each in nodes if each.completed_at), default=None)
    rows: list[Row] = timeline(within(nodes, window.since, window.until))
    with timezone.override(ZoneInfo(zone)), translation.override("en"):
        return draw(
            Course(rows, 0, last, ended is None), waits or [], [], began=NOON,
            ended=None if ended is None else NOON + ended, now=NOON + (ended or now), window=window,
            href="/".join, more_href="/".join, window_href=lambda there: said(there),
        )  # fmt: skip


def said(window: Window) -> str:
    ends = [None if each is None else each - NOON for each in (window.since, window.until)]
    return "..".join("" if each is None else f"{each / HOUR:.4g}" for each in ends)


def between(since: timedelta | None, until: timedelta | None) -> Window:
    return Window(None if since is None else NOON + since, None if until is None else NOON + until)


def bars(timeline: Timeline, key: str) -> list[Bar]:
    return next(line.bars for line in timeline.lines if line.key == key)


# -- The axis ----------------------------------------------------------------------------------------


def labels(timeline: Timeline) -> list[str]:
    return [f"[{tick.label}]" if tick.day else tick.label for tick in timeline.ticks]


@pytest.mark.parametrize(
    ("zone", "window", "wanted"),
    [
        ("UTC", between(None, None), ["[Tue 3 Mar]", "12:00", "[Wed 4 Mar]", "12:00", "[Thu 5 Mar]", "12:00"]),
        ("Asia/Tokyo", between(None, 12 * HOUR), ["22:00", "[Tue 3 Mar]", "02:00", "04:00", "06:00", "08:00"]),
        ("Asia/Kathmandu", between(HOUR, 2 * HOUR), ["18:50", "19:00", "19:10", "19:20", "19:30"]),
        ("UTC", between(HOUR, HOUR + 20 * SECOND), [f"13:00:{number:02}" for number in range(0, 21, 5)]),
        ("UTC", between(None, 24 * 40 * HOUR), ["9 Mar", "16 Mar", "23 Mar", "30 Mar", "6 Apr"]),
    ],
)  # fmt: skip
def test_ticks_are_round_in_the_readers_zone_and_say_where_a_day_begins(
    zone: str, window: Window, wanted: list[str]
) -> None:
    found = labels(drawn(ended=24 * 41 * HOUR if window.until and window.until > NOON + 80 * HOUR else 72 * HOUR, window=window, zone=zone))  # fmt: skip
    assert [label for label in wanted if label not in found] == []
    assert 3 <= len(found) <= 10


def test_days_are_ticked_at_their_beginning_when_the_clocks_change() -> None:
    """In Berlin, the 29th of March has 23 hours."""
    begin = datetime(2026, 3, 28, 12, tzinfo=UTC) - NOON
    found = drawn(window=between(begin, begin + 48 * HOUR), ended=begin + 100 * HOUR, zone="Europe/Berlin")
    days = [(tick.label, float(tick.x)) for tick in found.ticks if tick.day]
    assert [label for label, _ in days] == ["Sun 29 Mar", "Mon 30 Mar"]
    assert days[1][1] - days[0][1] == pytest.approx(100 * 23 / 48, abs=0.01)


def test_an_hour_that_the_clocks_skip_is_no_tick() -> None:
    night = datetime(2026, 3, 29, 0, tzinfo=UTC) - NOON
    found = drawn(window=between(night, night + 4 * HOUR), ended=night + 9 * HOUR, zone="Europe/Berlin")
    places = [tick.x for tick in found.ticks]
    assert len(places) == len(set(places))


def test_from_each_tick_to_the_next_is_a_window_of_its_own() -> None:
    found = drawn(window=between(HOUR, 5 * HOUR + 12 * MINUTE))
    assert [stretch.href for stretch in found.stretches][:2] == ["1..2", "2..3"]
    whole = drawn()
    assert whole.stretches[0].href == "..12", "what is before the first tick, too"
    assert whole.stretches[-1].href == "60..", "and nothing after the end"


def test_the_windows_ends_are_told_with_their_days_and_brief_ones_to_the_second() -> None:
    long, brief = drawn(window=between(HOUR, 30 * HOUR)), drawn(window=between(HOUR, HOUR + 90 * SECOND))
    assert (long.since, long.until, long.length) == ("Mon 2 Mar 13:00", "Tue 3 Mar 18:00", "1 d 5 h")
    assert (brief.since, brief.until) == ("Mon 2 Mar 13:00:00", "13:01:30")
    assert drawn(ended=None).until == "now"


# -- What is drawn -----------------------------------------------------------------------------------


def test_a_bar_that_goes_on_outside_is_cut_there_and_one_outside_is_not_drawn() -> None:
    nodes = [
        node("through", HOUR, 9 * HOUR), node("into", HOUR, 4 * HOUR), node("out", 4 * HOUR, 9 * HOUR),
        node("inside", 3 * HOUR, 4 * HOUR), node("exact", 2 * HOUR, 6 * HOUR),
    ]  # fmt: skip
    found = drawn(*nodes, node("before", HOUR, 2 * HOUR), node("after", 6 * HOUR, 7 * HOUR), window=between(2 * HOUR, 6 * HOUR))  # fmt: skip
    cuts = {line.key: [(bar.before, bar.after) for bar in line.bars] for line in found.lines}
    assert cuts == {
        "run": [(True, True)],
        "through": [(True, True)],
        "into": [(True, False)],
        "out": [(False, True)],
        "inside": [(False, False)],
        "exact": [(False, False)],
    }
    (bar,) = bars(found, "inside")
    assert (float(bar.x), float(bar.width)) == (25.0, 25.0)
    assert not any(bar.before or bar.after for line in drawn(*nodes).lines for bar in line.bars)


@pytest.mark.parametrize("since", [timedelta(), 12 * HOUR, 72 * HOUR - SECOND])
@pytest.mark.parametrize("took", [timedelta(), SECOND])
def test_what_took_a_second_of_days_has_a_mark(since: timedelta, took: timedelta) -> None:
    (bar,) = bars(drawn(node("a", since, since + took)), "a")
    assert float(bar.width) >= 0.25
    assert float(bar.x) + float(bar.width) <= 100


def test_what_is_in_the_last_moment_of_a_window_has_one_too() -> None:
    edge = between(HOUR, 2 * HOUR)
    for since in (2 * HOUR - SECOND / 2, HOUR):
        (bar,) = bars(drawn(node("a", since, since), window=edge), "a")
        assert float(bar.width) >= 0.25
        assert float(bar.x) + float(bar.width) <= 100


def test_when_its_steps_waited_for_a_person_is_told_of_the_whole_run() -> None:
    night = [
        Span(NOON + 10 * HOUR, NOON + 20 * HOUR, "checkpoint"),
        Span(NOON + 12 * HOUR, NOON + 21 * HOUR, "question"),
    ]
    waits = [bar for bar in bars(drawn(waits=night), "run") if bar.look == "wait"]
    assert len(waits) == 1, "times that overlap are one"
    assert float(waits[0].width) == pytest.approx(100 * 11 / (72 * 1.04), abs=0.1)
    many = [Span(NOON + SECOND * 20 * number, NOON + SECOND * (20 * number + 1), "question") for number in range(10_000)]  # fmt: skip
    assert len(bars(drawn(waits=many), "run")) < 500


# -- Where it leads ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("window", "ended", "ways"),
    [
        (between(None, None), 72 * HOUR, {"in": "18..54"}),
        (between(None, None), None, {"in": "50.."}),
        (between(90 * HOUR, None), None, {"earlier": "85..95", "in": "95..", "out": "80..", "whole": ".."}),
        (
            between(20 * HOUR, 30 * HOUR),
            72 * HOUR,
            {"earlier": "15..25", "later": "25..35", "in": "22.5..27.5", "out": "15..35", "whole": ".."},
        ),
        (between(2 * HOUR, 12 * HOUR), 72 * HOUR, {"earlier": "..10", "later": "7..17", "in": "4.5..9.5", "out": "..17", "whole": ".."}),
        (between(60 * HOUR, 70 * HOUR), 72 * HOUR, {"earlier": "55..65", "later": "62..", "in": "62.5..67.5", "out": "55..", "whole": ".."}),
        (between(20 * HOUR, 20 * HOUR + 2 * SECOND), 72 * HOUR, {"earlier": "20..20", "later": "20..20", "out": "20..20", "whole": ".."}),
    ],
)  # fmt: skip
def test_buttons_lead_to_other_windows_within_the_run(
    window: Window, ended: timedelta | None, ways: dict[str, str]
) -> None:
    found = drawn(ended=ended, window=window).ways
    assert {name: way for name, way in found.items() if way} == ways


def test_what_took_a_time_leads_to_that_time_and_what_goes_on_to_a_window_that_follows() -> None:
    nodes = [node("a", 10 * HOUR, 30 * HOUR), node("b", 80 * HOUR), node("c", None)]
    zooms = {line.key: line.zoom for line in drawn(*nodes, ended=None).lines}
    assert zooms == {"run": "..", "a": "9..31", "b": "79..", "c": ""}


# -- What an address asks for ------------------------------------------------------------------------


def test_what_lies_outside_the_run_is_left_out_of_a_window() -> None:
    ends = {"began": NOON, "last": NOON + 10 * HOUR}
    assert window_of(NOON - HOUR, NOON + 11 * HOUR, **ends) == WHOLE
    assert window_of(NOON + HOUR, NOON + 11 * HOUR, **ends) == between(HOUR, None)
    assert window_of(NOON - HOUR, NOON + HOUR, **ends) == between(None, HOUR)


@pytest.mark.parametrize(
    ("since", "until"),
    [(HOUR, HOUR), (2 * HOUR, HOUR), (10 * HOUR, None), (11 * HOUR, 12 * HOUR), (None, -HOUR), (None, timedelta())],
)  # fmt: skip
def test_a_window_that_shows_nothing_is_refused(since: timedelta | None, until: timedelta | None) -> None:
    asked = between(since, until)
    with pytest.raises(ValidationFailed):
        window_of(asked.since, asked.until, began=NOON, last=NOON + 10 * HOUR)


# -- The page ----------------------------------------------------------------------------------------


@pytest.fixture
def run(harness: Caller, reviewer: Caller) -> None:
    """Three days: ``a`` in the first hour, ``b`` for a minute on the second day, the checkpoint since then."""
    new_run(reviewer, task("a"), task("b", depends_on=["a"]), checkpoint("ok", depends_on=["b"]), task("c", depends_on=["ok"]))  # fmt: skip
    for step_id in ("a", "b"):
        report(harness, step_id, "completed")
    report(harness, "ok", "running")
    began = timezone.now() - timedelta(days=3)
    Run.objects.update(created_at=began)
    day = timedelta(days=1)
    for step_id, since, until in (
        ("a", 0 * day, HOUR),
        ("b", day, day + MINUTE),
        ("ok", day + 6 * HOUR, None),
    ):
        StepState.objects.filter(step_id=step_id).update(
            started_at=began + since, completed_at=None if until is None else began + until
        )


def rows_of(said: str) -> list[str]:
    return re.findall(r'data-row="([^"]+)"', said)


def links(said: str) -> dict[str, str]:
    """Where the buttons above the timeline lead, by their keys."""
    found = re.findall(r'href="([^"]*)" data-key="([^"]*)"', said)
    return {key: html.unescape(there).partition("#")[0] for there, key in reversed(found)}


def zoom_of(said: str, row: str) -> str:
    rest = said[said.index(f'data-row="{row}"') :]
    found = re.search(r'<a class="tl-dur" href="([^"#]*)#when"', rest)
    assert found is not None
    return html.unescape(found[1])


@pytest.mark.django_db
def test_a_click_on_what_took_a_time_shows_that_time_and_says_how_much_it_leaves_out(
    web_as: WebAs, vic: User, run: None
) -> None:
    web = web_as(vic)
    whole = web.get("/runs/r1/timeline").content.decode()
    assert rows_of(whole) == ["axis", "grid", "run", "a", "b", "ok", "c"]
    there = zoom_of(whole, "b")
    said = web.get(there).content.decode()
    assert rows_of(said) == ["axis", "grid", "run", "b", "others"]
    assert "3 more outside this time" in said
    assert set(parse_qs(urlsplit(there).query)) == {"from", "to"}
    assert rows_of(web.get(links(said)["0"]).content.decode()) == rows_of(whole)


@pytest.mark.django_db
def test_a_window_that_follows_holds_what_is_still_to_come(web_as: WebAs, vic: User, run: None) -> None:
    web = web_as(vic)
    there = zoom_of(web.get("/runs/r1/timeline").content.decode(), "ok")
    assert set(parse_qs(urlsplit(there).query)) == {"from"}
    said = web.get(there).content.decode()
    assert rows_of(said) == ["axis", "grid", "run", "ok", "c", "others"]
    assert "tl-now" in said


@pytest.mark.django_db
def test_waits_only_keeps_the_window_and_the_window_keeps_to_waits(
    web_as: WebAs, vic: User, run: None
) -> None:
    web = web_as(vic)
    there = zoom_of(web.get("/runs/r1/timeline?waits=1").content.decode(), "ok")
    said = web.get(there).content.decode()
    assert rows_of(said) == ["axis", "grid", "run", "ok"]
    every = next(
        html.unescape(each)
        for each in re.findall(r'href="(/runs/r1/timeline[^"#]*)"', said)
        if "from" in each
    )
    assert "waits" not in every


@pytest.mark.django_db
@pytest.mark.parametrize(
    "query",
    [
        "from=yesterday", "to=a%00", "from=2026-13-01", "from=0001-01-01T00:00&to=0001-01-02T00:00",
        "from=9999-12-31T23:59", "to=1999-01-01", "from=" + "9" * 5000, "from=2999-01-01",
        "from=2026-01-02T00:00Z&to=2026-01-01T00:00Z",
    ],
)  # fmt: skip
def test_an_address_that_asks_for_no_time_of_the_run_is_told_so(
    web_as: WebAs, vic: User, run: None, query: str
) -> None:
    answered = web_as(vic).get(f"/runs/r1/timeline?{query}")
    assert answered.status_code == 422
    told = html.unescape(answered.content.decode())
    assert "must be" in told or "nothing of this run is in that time" in told


@pytest.mark.django_db
def test_times_without_a_zone_are_the_readers(web_as: WebAs, vic: User, run: None) -> None:
    day = (timezone.now() - timedelta(days=2)).date()
    answered = web_as(vic).get(f"/runs/r1/timeline?from={day}&to={day}")
    assert answered.status_code == 200
    assert "00:00 to" in answered.content.decode()


@pytest.mark.django_db
def test_a_window_costs_no_more_than_the_whole(web_as: WebAs, vic: User) -> None:
    run_row(task("a"), task("b"))
    web = web_as(vic)
    web.get("/runs/r1/timeline")
    found = []
    for query in ("", "?from=2026-01-02T12:00:30Z"):
        with CaptureQueriesContext(connection) as asked:
            assert web.get(f"/runs/r1/timeline{query}").status_code == 200
        found.append(len(asked))
    assert found[0] == found[1]
