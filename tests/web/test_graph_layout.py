"""Laying out: asked once per question, never waited for beyond the limit, edges that go where boxes are not."""

import time
from collections.abc import Iterator
from itertools import pairwise
from threading import Barrier, Thread

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chief_project.web.graph import layout as layouts
from chief_project.web.graph.layout import Cluster, Graph, answers, layout, run_engine
from chief_project.web.graph.routing import arrange, rounded
from chief_project.web.graph.text import clip, clip_middle, plain, width, wrap

DIAMOND = Graph(sizes=((220, 64),) * 4, edges=((0, 1), (0, 2), (1, 3), (2, 3)))


@pytest.fixture(autouse=True)
def _nothing_known() -> Iterator[None]:
    answers.clear()
    yield
    answers.clear()


def soon() -> float:
    return time.monotonic() + 120


def test_a_graph_is_laid_out_in_layers_from_the_top() -> None:
    (found,) = layout([DIAMOND], until=soon()) or []
    assert found.rank == (0, 1, 1, 2)
    assert abs(found.centre[1] - found.centre[2]) >= 220


def test_equal_questions_are_asked_once() -> None:
    asked = []

    def engine(question: str, seconds: float) -> str:
        asked.append(question)
        return run_engine(question, seconds)

    for _ in range(3):
        assert layout([DIAMOND, DIAMOND], until=soon(), engine=engine)
    assert len(asked) == 1


def test_threads_that_ask_the_same_share_one_answer() -> None:
    asked, found, together = [], [], Barrier(6)

    def engine(question: str, seconds: float) -> str:
        asked.append(question)
        time.sleep(0.05)
        return run_engine(question, seconds)

    def ask() -> None:
        together.wait()
        found.append(layout([DIAMOND], until=soon(), engine=engine))

    threads = [Thread(target=ask) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(asked) == 1
    assert len(found) == 6
    assert all(found)


def test_what_takes_too_long_is_answered_none_and_remembered() -> None:
    asked = []

    def engine(question: str, seconds: float) -> str:
        asked.append(seconds)
        raise TimeoutError

    assert layout([DIAMOND], until=soon(), engine=engine) is None
    assert layout([DIAMOND], until=soon(), engine=engine) is None
    assert len(asked) == 1


def test_the_program_is_stopped_at_its_time_limit() -> None:
    count = 2_000  # it would take minutes
    edges = tuple((tail, tail + step) for step in (1, 7, 31, 97) for tail in range(count - step))
    began = time.monotonic()
    assert layout([Graph(((220, 64),) * count, edges)], until=time.monotonic() + 0.1) is None
    assert time.monotonic() - began < 30


def test_a_chain_needs_no_program() -> None:
    def engine(question: str, seconds: float) -> str:
        raise AssertionError(question)

    chain = Graph(((220, 64),) * 3, ((0, 1), (1, 2)))
    assert layout([chain], until=soon(), engine=engine)


def test_only_numbers_reach_the_program() -> None:
    seen = []

    def engine(question: str, seconds: float) -> str:
        seen.append(question)
        return run_engine(question, seconds)

    layout(
        [Graph(((220, 64),) * 3, ((0, 1), (0, 2)), (Cluster((1,), (Cluster((2,)),)),))],
        until=soon(),
        engine=engine,
    )
    assert set(seen[0]) <= set('abcdefghijklmnopqrstuvwxyz_0123456789={}[];.,"-> \n')


def test_clusters_hold_their_own_boxes_and_no_other() -> None:
    graph = Graph(
        sizes=((220, 64),) * 6,
        edges=((0, 1), (1, 2), (0, 3), (3, 4), (2, 5), (4, 5)),
        clusters=(Cluster((1, 2)), Cluster((4,), (Cluster((3,)),))),
    )
    (positions,) = layout([graph], until=soon()) or []
    arranged = arrange(graph, positions)
    for members, (x, y, wide, high) in zip(({1, 2}, {3, 4}, {3}), arranged.clusters, strict=True):
        inside = {
            place
            for place, (left, top) in enumerate(arranged.places)
            if x < left + 110 < x + wide and y < top + 32 < y + high
        }
        assert inside == members


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    count = draw(st.integers(2, 25))
    sizes = draw(
        st.lists(st.tuples(st.integers(60, 400), st.integers(40, 300)), min_size=count, max_size=count)
    )
    numbers = st.integers(0, count - 1)
    pairs = draw(st.lists(st.tuples(numbers, numbers), max_size=50))
    outer = draw(st.sets(numbers, max_size=8))
    inner = draw(st.sets(numbers, max_size=4)) & outer
    other = draw(st.sets(numbers, max_size=5)) - outer
    clusters = (
        [Cluster(tuple(sorted(outer - inner)), (Cluster(tuple(sorted(inner))),) if inner else ())]
        if outer
        else []
    )
    clusters += [Cluster(tuple(sorted(other)))] if other else []
    return Graph(tuple(sizes), tuple(sorted({(a, b) for a, b in pairs if a < b})), tuple(clusters))


@settings(max_examples=60, deadline=None)
@given(graphs())
def test_boxes_never_overlap_and_edges_go_around_them(graph: Graph) -> None:
    (positions,) = layout([graph], until=soon()) or []
    arranged = arrange(graph, positions)
    boxes = [
        (x, y, x + wide, y + high) for (x, y), (wide, high) in zip(arranged.places, graph.sizes, strict=True)
    ]
    for number, (left, top, right, low) in enumerate(boxes):
        for other in boxes[number + 1 :]:
            assert right <= other[0] or other[2] <= left or low <= other[1] or other[3] <= top
    for (tail, head), points in zip(graph.edges, arranged.edges, strict=True):
        assert boxes[tail][0] < points[0][0] < boxes[tail][2]
        assert points[0][1] == boxes[tail][3]
        assert boxes[head][0] < points[-1][0] < boxes[head][2]
        assert points[-1][1] == boxes[head][1]
        for (x0, y0), (x1, y1) in pairwise(points):
            assert x0 == x1 or y0 == y1
            assert y1 >= y0
            for left, top, right, low in boxes:
                assert max(x0, x1) <= left or min(x0, x1) >= right or y1 <= top or y0 >= low
    assert all(
        0 <= x <= arranged.width and 0 <= y <= arranged.height for way in arranged.edges for x, y in way
    )


def test_corners_are_round_and_straight_edges_stay_straight() -> None:
    assert rounded([(0, 0), (0, 20), (0, 40)]) == "M0 0L0 40"
    assert rounded([(0, 0), (0, 20), (40, 20)]) == "M0 0L0 14Q0 20 6 20L40 20"


def test_text_breaks_where_words_or_identifiers_do() -> None:
    assert wrap("Write the v2 schema and its compatibility table", 200, 2) == (
        "Write the v2 schema and its",
        "compatibility table",
    )
    assert wrap("NFCORE_AIRRFLOW.SEQUENCE_ASSEMBLY.PRESTO_UMI", 160, 3)[0].endswith(("_", "."))


@given(st.text(max_size=300), st.integers(40, 240), st.integers(1, 4))
def test_lines_fit_and_are_no_more_than_asked_for(text: str, room: int, lines: int) -> None:
    found = wrap(text, room, lines)
    assert len(found) <= lines
    assert all(width(line) <= room or len(line) <= 2 for line in found)
    if width(plain(text)) <= room:
        assert " ".join(found) == plain(text)


@given(st.text(max_size=100), st.integers(30, 200))
def test_what_is_clipped_fits(text: str, room: int) -> None:
    assert width(clip(text, room)) <= room
    assert len(clip_middle("a" * len(text), room)) <= max(len(text), 2)


def test_the_engine_is_where_it_is_installed() -> None:
    assert "graph" in layouts.run_engine("digraph{a}", 5)
