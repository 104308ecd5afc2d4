"""What every page says in the same way: icons, states, ids, times, counts, differences."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.template import Context, Template
from django.utils import timezone

from chief_project.shared.clock import now, telling
from chief_project.shared.text import moments, states
from tests.web.markup import assert_harmless, read

HOSTILE = '"><script>alert(1)</script>\u202e'


def shown(source: str, **context: Any) -> str:
    return Template("{% load chief %}" + source).render(Context(context))


# -- Icons and states --------------------------------------------------------------------------------


def test_an_icon_says_nothing_to_a_screen_reader() -> None:
    assert shown('{% icon "note" %}') == (
        '<svg class="icon" viewBox="0 0 16 16" aria-hidden="true"><use href="#i-note"/></svg>'
    )
    assert 'class="icon icon--lg"' in shown('{% icon "note" size="lg" %}')


def test_a_state_is_icon_word_and_colour() -> None:
    made = shown('{% state "running" %}')
    assert 'class="state state--running"' in made
    assert 'href="#i-running"' in made
    assert "Running" in read(made).text


def test_a_state_s_word_can_be_another_or_for_screen_readers_only() -> None:
    assert read(shown('{% state "waiting" "Waiting for you" %}')).text == "Waiting for you"
    assert '<span class="vh">Failed</span>' in shown('{% state "failed" quiet=True %}')
    assert "state--pill" in shown('{% state "failed" pill=True %}')


@pytest.mark.parametrize("code", ["blocked", "waiting", "waiting_on_human", "paused_for_approval", "paused"])
def test_what_waits_for_a_person_has_the_person_s_colour(code: str) -> None:
    assert "state--waiting" in shown("{% state code %}", code=code)


@pytest.mark.parametrize(
    "code",
    ["running", "waiting", "failed", "completed", "pending", "skipped", "blocked", "stale", "paused", "draft", "sent_back",
     "approved", "archived", "cancelled", "rejected", "withdrawn", "answered", "paused_for_approval", "waiting_on_human"],
)  # fmt: skip
def test_every_state_has_an_icon_that_is_drawn(code: str) -> None:
    icons = Template("{% include 'parts/icons.html' %}").render(Context())
    assert f'id="i-{states.look(code).icon}"' in icons


def test_a_state_that_nobody_knows_is_shown_by_its_name_and_none_not_at_all() -> None:
    assert read(shown('{% state "half_done" %}')).text == "Half done"
    assert shown("{% state code %}", code=None) == ""


# -- Ids ---------------------------------------------------------------------------------------------


def test_an_id_breaks_where_it_is_read() -> None:
    assert shown("{{ value|ident }}", value="a/b_c=d:e.md") == (
        '<code class="id">a/<wbr>b_<wbr>c=<wbr>d:<wbr>e.<wbr>md</code>'
    )
    assert shown("{{ value|ident }}", value="end_") == '<code class="id">end_</code>'
    assert shown("{{ value|ident }}", value=None) == ""


# -- Times -------------------------------------------------------------------------------------------


def test_a_moment_is_told_in_the_reader_s_zone_and_exactly_on_hover() -> None:
    moment = datetime(2026, 3, 3, 23, 30, tzinfo=UTC)
    with telling(moment + timedelta(days=2)), timezone.override(ZoneInfo("Asia/Tokyo")):
        made = read(shown("{{ moment|when }}", moment=moment))
    assert made.text == "Wed 4 Mar 08:30"
    exact = "2026-03-03T23:30:00.000Z"
    assert made.elements[0] == ("time", {"datetime": exact, "title": exact})


@pytest.mark.parametrize(
    ("zone", "moment", "said"),
    [
        ("UTC", "2026-12-31T23:59:59.000Z", "today 23:59"),
        ("UTC", "2026-12-31T00:00:00.000Z", "today 00:00"),
        ("UTC", "2026-12-30T23:59:59.000Z", "Wed 30 Dec 23:59"),
        ("UTC", "2019-11-27T16:20:00.000Z", "Wed 27 Nov 2019 16:20"),
        ("Asia/Tokyo", "2026-12-31T15:00:00.000Z", "today 00:00"),
        ("Asia/Tokyo", "2026-12-31T14:59:59.000Z", "Thu 31 Dec 2026 23:59"),
    ],
)
def test_today_is_the_readers_and_another_year_is_named(zone: str, moment: str, said: str) -> None:
    midnight = datetime(2026, 12, 31, 23, 59, 59, tzinfo=UTC)
    with telling(midnight), timezone.override(ZoneInfo(zone)):
        assert read(shown("{{ m|when }}", m=moment)).text == said


def test_a_moment_may_be_a_text_as_documents_hold_it() -> None:
    moment = datetime(2020, 1, 2, 3, 4, 5, 678_000, tzinfo=UTC)
    assert shown("{{ m|when }}", m="2020-01-02T03:04:05.678Z") == shown("{{ m|when }}", m=moment)


@pytest.mark.parametrize("value", [None, "", "soon", HOSTILE])
def test_what_is_no_moment_is_nothing(value: str | None) -> None:
    assert shown("{{ m|when }}{{ m|age }}", m=value) == ""


def test_an_age_can_be_kept_true_by_a_script_and_tells_since_when() -> None:
    made = read(shown("{{ m|age }}", m=now() - timedelta(minutes=18, seconds=30)))
    assert made.text == "18 min"
    assert made.elements[0][1]["title"].startswith("since 2")
    assert "data-age" in made.elements[0][1]


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(0, "0 s"), (40.9, "40 s"), (59.99, "59 s"), (60, "1 min"), (18 * 60, "18 min"), (3600, "1 h 00 min"), (3900, "1 h 05 min"),
     (20_520, "5 h 42 min"), (97_200, "1 d 3 h"), (86_400, "1 d"), (30 * 86_400 + 7200, "30 d"), (-5, "0 s"), (timedelta(minutes=2), "2 min")],
)  # fmt: skip
def test_a_span_is_said_in_two_units_at_most(seconds: float | timedelta, said: str) -> None:
    assert moments.duration(seconds) == said
    assert shown("{{ s|duration }}", s=seconds) == said


def test_no_span_is_nothing() -> None:
    assert shown("{{ s|duration }}", s=None) == ""


# -- Differences, counts, values -----------------------------------------------------------------------


def test_words_that_went_and_came_are_marked_and_the_rest_is_not() -> None:
    made = shown(
        "{% words changes %}", changes=[["=", "the "], ["-", "quick"], ["+", "slow"], ["=", " <fox>"]]
    )
    assert "the <del>quick</del><ins>slow</ins> &lt;fox&gt;" in made


def test_a_gauge_tells_its_counts_to_who_cannot_see_it() -> None:
    made = read(shown("{% gauge counts %}", counts={"completed": 2, "blocked": 1, "failed": 0, "pending": 1}))
    assert made.elements[0][1]["aria-label"] == "2 completed, 1 waiting, 1 pending"
    assert [attributes["class"] for tag, attributes in made.elements if tag == "rect"] == [
        "f-completed",
        "f-waiting",
    ]


def test_one_failed_of_a_thousand_can_be_seen_and_the_bar_is_never_over_full() -> None:
    made = read(
        shown("{% gauge counts %}", counts={"completed": 9_990, "failed": 1, "running": 1, "skipped": 1})
    )
    bars = [attributes for tag, attributes in made.elements if tag == "rect"]
    assert all(float(bar["width"].rstrip("%")) > 0.8 for bar in bars)
    assert float(bars[-1]["x"].rstrip("%")) + float(bars[-1]["width"].rstrip("%")) <= 100.01


@pytest.mark.parametrize("counts", [{}, None, {"completed": 0}])
def test_a_gauge_of_nothing_is_empty(counts: dict[str, int] | None) -> None:
    assert [tag for tag, _ in read(shown("{% gauge counts %}", counts=counts)).elements] == ["svg"]


def test_a_value_is_shown_one_entry_a_line() -> None:
    made = read(shown("{{ value|jsonlines }}", value={"a": [1, None], "é": datetime(2020, 1, 1, tzinfo=UTC)}))
    assert made.text == '{\n  "a": [\n    1,\n    null\n  ],\n  "é": "2020-01-01 00:00:00+00:00"\n}'


def test_documents_and_short_texts_are_laid_out() -> None:
    assert "<strong>now</strong>" in shown("{{ text|markdown }}", text="**now**")
    assert shown("{{ text|said }}", text="**now**\nor *never*") == "<strong>now</strong><br>or <em>never</em>"
    assert shown("{{ text|said }}{{ text|markdown }}", text=None) == ""


@pytest.mark.parametrize(
    "source",
    ["{% icon hostile %}", "{% icon 'note' size=hostile %}", "{% state hostile %}", "{% state 'running' hostile %}", "{{ hostile|ident }}", "{{ hostile|said }}",
     "{{ hostile|markdown }}", "{% words changes %}", "{% gauge counts hostile %}", "{{ hostile|jsonlines }}", "{{ nested|jsonlines }}"],
)  # fmt: skip
def test_nothing_hostile_comes_to_life(source: str) -> None:
    context = {
        "hostile": HOSTILE,
        "changes": [["+", HOSTILE], [HOSTILE, HOSTILE]],
        "counts": {HOSTILE: 1},
        "nested": {HOSTILE: [HOSTILE]},
    }
    made = shown(source, **context)
    assert "<script" not in made
    assert not [name for _, attributes in read(made).elements for name in attributes if name.startswith("on")]
    if "icon" not in source and "state" not in source and "gauge" not in source:
        assert_harmless(made)
