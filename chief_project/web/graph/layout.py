"""Which layer a box stands in, and where across: the one place that asks the layout engine.

The engine is a program of its own, run with a time limit. What it answered is kept by what was asked, so nothing needs
to be forgotten when a plan changes; what took too long is kept as well, for a while.
"""

import logging
import shutil
import subprocess
import sysconfig
import time
from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from threading import Lock

log = logging.getLogger(__name__)

LIMIT = 2.0
"""Seconds that all layouts of one drawing may take."""

_KEPT = 512
_REMEMBER_FAILURE = 300.0  # seconds; a machine may have been busy
_POINTS = 72  # per inch, which the engine counts in


@dataclass(frozen=True, slots=True)
class Cluster:
    """Boxes that stay together, by their place in ``Graph.sizes``; ``members`` leaves out those of ``inner`` ones."""

    members: tuple[int, ...]
    inner: tuple["Cluster", ...] = ()


@dataclass(frozen=True, slots=True)
class Graph:
    """What is to be laid out: boxes by width and height in pixels, edges ``(from, to)`` by place, without cycles."""

    sizes: tuple[tuple[int, int], ...]
    edges: tuple[tuple[int, int], ...] = ()
    clusters: tuple[Cluster, ...] = ()


@dataclass(frozen=True, slots=True)
class Positions:
    """``centre``: x of each box; ``rank``: its layer from 0; ``crossings``: where each edge passes the layers between."""

    centre: tuple[float, ...]
    rank: tuple[int, ...]
    crossings: tuple[tuple[float, ...], ...]


class _Answers:
    """What was laid out, newest last. Safe to use from several threads; equal questions are asked once."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._kept: OrderedDict[Graph, tuple[Positions | None, float]] = OrderedDict()
        self._asking: dict[frozenset[Graph], Lock] = {}

    def get(self, graph: Graph) -> Positions | bool | None:
        """Positions, None if it took too long, False if it isn't known."""
        with self._lock:
            found = self._kept.get(graph)
            if found is None or (found[0] is None and time.monotonic() > found[1]):
                return False
            self._kept.move_to_end(graph)
            return found[0]

    def put(self, graph: Graph, positions: Positions | None) -> None:
        with self._lock:
            self._kept[graph] = (positions, time.monotonic() + _REMEMBER_FAILURE)
            while len(self._kept) > _KEPT:
                self._kept.popitem(last=False)

    def turn(self, graphs: frozenset[Graph]) -> Lock:
        with self._lock:
            if len(self._asking) > _KEPT:
                self._asking = {key: lock for key, lock in self._asking.items() if lock.locked()}
            return self._asking.setdefault(graphs, Lock())

    def clear(self) -> None:
        with self._lock:
            self._kept.clear()


answers = _Answers()


def layout(
    graphs: Sequence[Graph], *, until: float, engine: Callable[[str, float], str] | None = None
) -> list[Positions] | None:
    """The positions of each graph; None where that takes longer than ``until`` (as ``time.monotonic`` counts).

    ``engine`` takes what is asked in the engine's language and seconds, and raises ``TimeoutError``.
    """
    wanted = frozenset(graph for graph in graphs if answers.get(graph) is False)
    if wanted:
        turn = answers.turn(wanted)
        if not turn.acquire(timeout=max(0.0, until - time.monotonic())):
            return None
        try:
            missing = [graph for graph in dict.fromkeys(graphs) if answers.get(graph) is False]
            if missing:
                _ask(missing, until, engine or run_engine)
        finally:
            turn.release()
    found = [answers.get(graph) for graph in graphs]
    return [each for each in found if isinstance(each, Positions)] if all(found) else None


def _ask(graphs: Sequence[Graph], until: float, engine: Callable[[str, float], str]) -> None:
    simple = [graph for graph in graphs if _is_chain(graph)]
    for graph in simple:
        answers.put(graph, _chain(graph))
    others = [graph for graph in graphs if not _is_chain(graph)]
    if not others:
        return
    try:
        said = engine("".join(map(_question, others)), max(0.05, until - time.monotonic()))
    except TimeoutError:
        log.warning("a plan of %d boxes took too long to draw", sum(len(graph.sizes) for graph in others))
        for graph in others:
            answers.put(graph, None)
        return
    for graph, lines in zip(others, _split(said), strict=True):
        answers.put(graph, _read(graph, lines))


def run_engine(question: str, seconds: float) -> str:
    """What the layout program answers in its plain format; ``TimeoutError`` after ``seconds``, or if it fails."""
    program = Path(sysconfig.get_path("scripts")) / "graphviz-pure"
    command = str(program) if program.exists() else shutil.which("graphviz-pure")
    if command is None:
        raise TimeoutError("the layout program is not installed")
    try:
        done = subprocess.run(  # noqa: S603 - a fixed program; the question holds numbers only
            [command, "-Tplain"], input=question, capture_output=True, text=True, timeout=seconds, check=True
        )
    except (subprocess.TimeoutExpired, subprocess.CalledProcessError, OSError) as problem:
        raise TimeoutError(str(problem)) from problem
    return done.stdout


def _is_chain(graph: Graph) -> bool:
    """Boxes one below the other, in the order they stand in: no engine is needed."""
    return graph.edges == tuple((place, place + 1) for place in range(len(graph.sizes) - 1))


def _chain(graph: Graph) -> Positions:
    count = len(graph.sizes)
    return Positions((0.0,) * count, tuple(range(count)), ((),) * (count - 1))


def _question(graph: Graph) -> str:
    """The graph in the engine's language. Only numbers go in: no text of a plan reaches another program."""
    leaving = [0] * len(graph.sizes)
    coming = [0] * len(graph.sizes)
    for tail, head in graph.edges:
        leaving[tail] += 1
        coming[head] += 1
    parts = [
        'digraph{newrank=true;splines=polyline;ranksep=.5;nodesep=.34;node[shape=box,fixedsize=true,label=""]'
    ]
    parts += [
        f"n{place}[width={wide / _POINTS:.3f},height={high / _POINTS:.3f}]"
        for place, (wide, high) in enumerate(graph.sizes)
    ]
    parts += [
        f"n{tail}->n{head}" + ("[weight=4]" if leaving[tail] == coming[head] == 1 else "")
        for tail, head in graph.edges
    ]
    names = iter(range(len(graph.sizes) * 2 + 1))
    parts += [_cluster(cluster, names) for cluster in graph.clusters]
    return "\n".join([*parts, "}\n"])


def _cluster(cluster: Cluster, names: Iterator[int]) -> str:
    members = " ".join(f"n{place}" for place in cluster.members)
    inner = " ".join(_cluster(each, names) for each in cluster.inner)
    return f"subgraph cluster_{next(names)}{{margin=18 {members} {inner}}}"


def _split(said: str) -> Iterator[list[str]]:
    lines: list[str] = []
    for line in said.splitlines():
        if line == "stop":
            yield lines
            lines = []
        else:
            lines.append(line)


def _read(graph: Graph, lines: list[str]) -> Positions:
    count = len(graph.sizes)
    xs, ys = [0.0] * count, [0.0] * count
    ways: dict[tuple[int, int], list[tuple[float, float]]] = {}
    for line in lines:
        words = line.split(" ")
        if words[0] == "node":
            place = int(words[1][1:])
            xs[place], ys[place] = float(words[2]) * _POINTS, -float(words[3]) * _POINTS
        elif words[0] == "edge":
            numbers = [float(word) * _POINTS for word in words[4 : 4 + 2 * int(words[3])]]
            points = [(x, -y) for x, y in zip(numbers[0::2], numbers[1::2], strict=True)]
            ways[int(words[1][1:]), int(words[2][1:])] = points
    levels: list[float] = []
    for y in sorted(ys):
        if not levels or y > levels[-1] + 1:
            levels.append(y)
    rank = tuple(min(len(levels) - 1, bisect_left(levels, y - 1)) for y in ys)
    crossings = tuple(
        tuple(_x_at(ways[edge], levels[level]) for level in range(rank[edge[0]] + 1, rank[edge[1]]))
        for edge in graph.edges
    )
    return Positions(tuple(xs), rank, crossings)


def _x_at(points: list[tuple[float, float]], y: float) -> float:
    """Where a line of points passes ``y``."""
    for (x0, y0), (x1, y1) in pairwise(points):
        if y0 <= y <= y1 and y1 > y0:
            return x0 + (x1 - x0) * (y - y0) / (y1 - y0)
    return min(points, key=lambda point: abs(point[1] - y))[0]
