"""What is drawn, as values: boxes in scopes, edges between them; and where it all goes."""

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from chief_project.web.graph.layout import LIMIT, Cluster, Graph, Positions, layout
from chief_project.web.graph.routing import Arranged, arrange

HEAD = 32  # a container's
LANE_HEAD = 28
PAD = 16
LANE_PAD = 10
RETURN = 26  # from a loop's body to its return edge
RETURN_LABEL = 132
GRID_WIDTH = 1040
GRID_GAP = 18
BACKS = 8  # how far a stack's backs reach out
CONTAINERS = frozenset({"loop", "parallel", "tally"})
"""Shapes with a head."""


@dataclass(slots=True)
class Badge:
    """A small icon with a count, top right."""

    icon: str
    count: int
    title: str
    said: tuple[tuple[str, str], ...] = ()  # names and values, shown instead of the count where there is room


@dataclass(slots=True)
class Count:
    """How many are in a state."""

    state: str
    count: int
    word: str
    href: str | None = None


@dataclass(slots=True)
class Named:
    """One of many, told by name."""

    state: str
    word: str
    name: str
    href: str
    id: str


@dataclass(slots=True)
class Lane:
    """One branch of a parallel, or the body of a loop (without a ``head``)."""

    scope: "Scope"
    head: str | None = None
    short: str = ""  # where the head has no room
    title: str = ""
    state: str | None = None
    word: str = ""
    href: str | None = None
    id: str = ""
    what: str = ""
    facts: Badge | None = None  # what it brought besides its name
    x: int = 0
    width: int = 0


@dataclass(slots=True)
class Node:
    """A box. ``id`` is its data-id, unique in the drawing; ``name`` what is shown of it.

    ``shape``: task, checkpoint, fold, tally (a box of counts); loop and parallel (containers, with ``lanes``); block
    (an outline around what a fold held).
    """

    id: str
    href: str
    shape: str
    name: str
    goal: str
    width: int
    height: int
    lines: tuple[str, ...] = ()
    small: bool = False
    icon: str | None = None
    state: str | None = None
    word: str = ""
    stale: bool = False
    what: str = ""  # a word about the box itself: new, Reworded, 12 steps
    ghost: str | None = None  # added, changed, removed
    badges: list[Badge] = field(default_factory=list)
    facts: str = ""
    total: int = 0
    about: str = ""
    counts: list[Count] = field(default_factory=list)
    named: list[Named] = field(default_factory=list)
    more: str = ""
    lanes: list[Lane] = field(default_factory=list)
    again: tuple[str, ...] = ()  # a loop's exit condition, in lines
    backs: int = 0
    past: list[Named] = field(default_factory=list)  # earlier iterations
    values: Mapping[str, Any] = field(default_factory=dict)  # what fills the goal's placeholders
    inset: int = 0  # room kept free on both sides
    again_word: str = ""
    hidden: bool = False  # it has its place, but this view leaves it out
    covers: frozenset[str] = frozenset()  # the ids of what a fold or tally stands for
    hides: tuple[str, ...] = ()  # their ids
    x: int = 0
    y: int = 0


@dataclass(slots=True)
class Edge:
    """``tail`` and ``head`` are places in the scope's nodes; ``kind``: "", done, add, del."""

    tail: int
    head: int
    kind: str = ""
    shift: int = 0  # how far from the middle of its boxes it runs
    hidden: bool = False


@dataclass(slots=True)
class Group:
    """A named outline around nodes, by place."""

    path: str
    name: str
    members: list[int]
    inner: list["Group"] = field(default_factory=list)
    box: tuple[int, int, int, int] = (0, 0, 0, 0)


@dataclass(slots=True)
class Scope:
    """Boxes of one scope. ``ways`` are the edges' points, once it is placed."""

    nodes: list[Node]
    edges: list[Edge]
    groups: list[Group] = field(default_factory=list)
    grid: bool = False  # rows of boxes that no edge joins
    implied: int = 0  # edges that are left out, since longer ways say the same
    ways: tuple[tuple[tuple[float, float], ...], ...] = ()
    order: tuple[int, ...] = ()
    width: int = 0
    height: int = 0


@lru_cache(maxsize=512)
def _arranged(
    graph: Graph,
    positions: Positions,
    backs: tuple[int, ...],
    insets: tuple[int, ...],
    shifts: tuple[int, ...],
) -> Arranged:
    return arrange(graph, positions, backs, insets, shifts)


def place(scope: Scope, *, until: float | None = None) -> bool:
    """Give everything in a scope its place, from the innermost out; False if that takes too long."""
    until = time.monotonic() + LIMIT if until is None else until
    for level in reversed(_by_depth(scope)):
        graphs = []
        for each in level:
            for node in each.nodes:
                if node.lanes:
                    _fit(node)
            if each.grid:
                _put_grid(each)
            else:
                graphs.append(_graph(each))
        found = layout(graphs, until=until)
        if found is None:
            return False
        layered = [each for each in level if not each.grid]
        for each, graph, positions in zip(layered, graphs, found, strict=True):
            backs = tuple(BACKS if node.backs else 0 for node in each.nodes)
            insets = tuple(node.inset for node in each.nodes)
            shifts = tuple(edge.shift for edge in each.edges)
            arranged = _arranged(graph, positions, backs, insets, shifts)
            _put(each, positions, arranged)
    return True


def _by_depth(scope: Scope) -> list[list[Scope]]:
    levels = [[scope]]
    while True:
        inner = [lane.scope for each in levels[-1] for node in each.nodes for lane in node.lanes]
        if not inner:
            return levels
        levels.append(inner)


def _graph(scope: Scope) -> Graph:
    return Graph(
        sizes=tuple(
            (node.width + (BACKS if node.backs else 0) + 2 * node.inset, node.height) for node in scope.nodes
        ),
        edges=tuple((edge.tail, edge.head) for edge in scope.edges),
        clusters=tuple(map(_cluster, scope.groups)),
    )


def _cluster(group: Group) -> Cluster:
    return Cluster(tuple(group.members), tuple(map(_cluster, group.inner)))


def _put(scope: Scope, positions: Positions, arranged: Arranged) -> None:
    for node, (x, y) in zip(scope.nodes, arranged.places, strict=True):
        node.x, node.y = x + node.inset, y
    scope.ways = arranged.edges
    scope.width, scope.height = arranged.width, arranged.height
    places = range(len(scope.nodes))
    scope.order = tuple(sorted(places, key=lambda each: (positions.rank[each], positions.centre[each], each)))
    for group, box in zip(groups_of(scope.groups), arranged.clusters, strict=True):
        group.box = box


def _put_grid(scope: Scope) -> None:
    """Rows from the left, about as wide as a page."""
    x = y = row = 0
    for node in scope.nodes:
        wide = node.width + (BACKS if node.backs else 0) + 2 * node.inset
        if x and x + wide > GRID_WIDTH:
            x, y, row = 0, y + row + GRID_GAP, 0
        node.x, node.y = x + node.inset, y
        x += wide + GRID_GAP
        row = max(row, node.height + (BACKS if node.backs else 0))
        scope.width = max(scope.width, x - GRID_GAP)
    scope.height = y + row
    scope.order = tuple(range(len(scope.nodes)))


def groups_of(groups: Iterable[Group]) -> Iterator[Group]:
    """Groups and what nests in them, outer first."""
    for group in groups:
        yield group
        yield from groups_of(group.inner)


def _fit(node: Node) -> None:
    """A container's size around its lanes, and where each lane begins."""
    least = node.width
    if node.shape == "loop":
        lane = node.lanes[0]
        extra = RETURN + (RETURN_LABEL if node.again else 20)
        lane.x, lane.width = PAD + 4, lane.scope.width
        node.width = max(least, lane.scope.width + 2 * (PAD + 4) + extra)
        node.height = HEAD + lane.scope.height + 2 * PAD + (26 if node.past else 0)
        return
    if node.shape == "block":
        (lane,) = node.lanes
        lane.x, lane.width = PAD, lane.scope.width
        node.width = lane.scope.width + 2 * PAD
        node.height = lane.scope.height + 2 * PAD + 6
        return
    inner = [max(lane.scope.width, 120) + 2 * LANE_PAD for lane in node.lanes]
    spare = max(0, least - sum(inner)) / len(inner)
    x = 0.0
    for lane, wide in zip(node.lanes, inner, strict=True):
        lane.width = round(x + wide + spare) - round(x)
        lane.x = round(x)
        x += wide + spare
    node.width = round(x)
    node.height = HEAD + lane_top(node) + max(lane.scope.height for lane in node.lanes) + PAD


def lane_top(node: Node) -> int:
    """How far below a parallel's head its lanes' boxes begin."""
    return LANE_HEAD + 4 if any(lane.head for lane in node.lanes) else PAD


def implied(scope: Scope) -> int:
    """How many edges are left out, in all scopes."""
    return sum(each.implied for level in _by_depth(scope) for each in level)


def everything(scope: Scope) -> Iterator[tuple[Node, str]]:
    """Every node in topological order, a container before what it holds, with the id of its container ("" outside)."""

    def walk(within: Scope, owner: str) -> Iterator[tuple[Node, str]]:
        for number in within.order:
            node = within.nodes[number]
            if node.hidden:
                continue
            yield node, owner
            for lane in node.lanes:
                yield from walk(lane.scope, node.id)

    return walk(scope, "")


def reduced(count: int, edges: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The edges that no longer way implies. ``edges`` have no cycle; places are numbers below ``count``."""
    after: list[list[int]] = [[] for _ in range(count)]
    waiting = [0] * count
    for tail, head in edges:
        after[tail].append(head)
        waiting[head] += 1
    order = [place for place in range(count) if not waiting[place]]
    for place_ in order:
        for head in after[place_]:
            waiting[head] -= 1
            if not waiting[head]:
                order.append(head)
    position = {place_: number for number, place_ in enumerate(order)}
    reach = [0] * count
    kept: set[tuple[int, int]] = set()
    for tail in reversed(order):
        seen = 0
        for head in sorted(after[tail], key=lambda each: position[each]):
            if not seen >> head & 1:
                kept.add((tail, head))
                seen |= reach[head] | 1 << head
        reach[tail] = seen
    return [edge for edge in edges if edge in kept]
