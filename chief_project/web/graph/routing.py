"""From layers to pixels: boxes in rows, and edges that run straight down and turn with round corners.

Between two rows lies a channel. An edge turns only there, each on a line of its own unless it shares an end with its
neighbour, so that what touches belongs together. A row's boxes hang from one line; a channel is as high as its edges need.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from chief_project.web.graph.layout import Cluster, Graph, Positions

Point = tuple[float, float]

STUB = 14  # from a box to the first turn
LANDING = 20  # from the last turn to a box: room for the arrow
BETWEEN = 9  # between two lines of a channel
LEAST = 36  # a channel's height
AROUND = 16  # between a group's outline and what it holds
LEGEND = 8  # more of it at the top, for the name
PORT = 18  # how near to a box's corner an edge may leave or land


@dataclass(frozen=True, slots=True)
class Arranged:
    """Top left of each box, each edge's points, each cluster's ``(x, y, width, height)`` (outer first), and the whole size."""

    places: tuple[tuple[int, int], ...]
    edges: tuple[tuple[Point, ...], ...]
    clusters: tuple[tuple[int, int, int, int], ...]
    width: int
    height: int


@dataclass(slots=True)
class _Turn:
    """An edge's way through one channel: it comes from above at ``top`` and goes on at ``bottom``."""

    edge: int
    top: float
    bottom: float
    line: int = 0


@dataclass(slots=True)
class _Net:
    """Turns that share a line, because they share an end."""

    turns: list[_Turn]
    ends_at: float | None = None  # all of them go on there
    low: float = field(init=False)
    high: float = field(init=False)

    def __post_init__(self) -> None:
        xs = [x for turn in self.turns for x in (turn.top, turn.bottom)]
        self.low, self.high = min(xs), max(xs)


def arrange(
    graph: Graph,
    positions: Positions,
    below: Sequence[int] | None = None,
    insets: Sequence[int] | None = None,
    shifts: Sequence[int] | None = None,
) -> Arranged:
    """Pixels for what was laid out.

    ``below``: how much lower than its box an edge leaves each (a stack's backs); ``insets``: how much of each box's
    sides is left free, where no edge lands; ``shifts``: how far from the middle of its boxes each edge runs.
    """
    rank, centre = positions.rank, positions.centre
    rows: list[list[int]] = [[] for _ in range(max(rank, default=-1) + 1)]
    for place in sorted(range(len(rank)), key=lambda each: centre[each]):
        rows[rank[place]].append(place)
    columns = _columns(graph, positions, rows, insets or (0,) * len(rank), shifts or (0,) * len(graph.edges))
    channels, turns = _channels(graph, rank, columns, len(rows))
    lines = [_draw_lines(channel) for channel in channels]
    flat = list(_flatten(graph.clusters))
    tops, line_y, height = _heights(graph, rank, rows, lines, flat)
    lows = [tops[rank[place]] + high for place, (_, high) in enumerate(graph.sizes)]
    paths = []
    for number, (tail, head) in enumerate(graph.edges):
        points: list[Point] = [(columns[number][0], lows[tail] + (below[tail] if below else 0))]
        for channel, turn in turns[number]:
            if turn.top != turn.bottom:
                y = line_y[channel] + turn.line * BETWEEN
                points += [(turn.top, y), (turn.bottom, y)]
        points.append((columns[number][-1], tops[rank[head]]))
        paths.append(points)
    boxes = [
        (centre[place] - wide / 2, tops[rank[place]], wide, high)
        for place, (wide, high) in enumerate(graph.sizes)
    ]
    outlines = [_outline(members, depth, boxes) for members, depth in flat]
    return _shifted(graph, boxes, paths, outlines, height)


def _columns(
    graph: Graph, positions: Positions, rows: list[list[int]], insets: Sequence[int], shifts: Sequence[int]
) -> list[list[float]]:
    """Each edge's x: as it leaves, in every row it passes, and as it lands."""
    rank, centre = positions.rank, positions.centre
    free = [_gaps(row, graph, centre) for row in rows]
    taken: list[list[tuple[float, object]]] = [[] for _ in rows]
    found: list[list[float]] = [[] for _ in graph.edges]
    by_length = sorted(range(len(graph.edges)), key=lambda each: len(positions.crossings[each]))
    for number in by_length:
        tail, head = graph.edges[number]
        shift = shifts[number]
        passed = [
            _gap_at(free[rank[tail] + 1 + step], x) for step, x in enumerate(positions.crossings[number])
        ]
        levels = range(rank[tail] + 1, rank[head])
        found[number] = _column(
            _span(tail, graph, centre, insets), centre[tail] + shift, passed, positions.crossings[number],
            _span(head, graph, centre, insets), centre[head] + shift,
            [taken[level] for level in levels], (head, shift),
        )  # fmt: skip
        for level, x in zip(levels, found[number][1:-1], strict=True):
            taken[level].append((x, (head, shift)))
    return found


def _span(place: int, graph: Graph, centre: Sequence[float], insets: Sequence[int]) -> tuple[float, float]:
    half = max(0.0, graph.sizes[place][0] / 2 - PORT - insets[place])
    return centre[place] - half, centre[place] + half


def _gaps(row: list[int], graph: Graph, centre: Sequence[float]) -> list[tuple[float, float]]:
    """Where a row has room for an edge to pass."""
    gaps = []
    left = float("-inf")
    for place in row:
        half = graph.sizes[place][0] / 2 + 11
        gaps.append((left, centre[place] - half))
        left = centre[place] + half
    return [gap for gap in [*gaps, (left, float("inf"))] if gap[1] > gap[0]]


def _gap_at(gaps: list[tuple[float, float]], x: float) -> tuple[float, float]:
    return min(gaps, key=lambda gap: max(gap[0] - x, x - gap[1], 0.0))


def _column(
    leave: tuple[float, float],
    leave_at: float,
    passed: list[tuple[float, float]],
    wanted: Sequence[float],
    land: tuple[float, float],
    land_at: float,
    taken: list[list[tuple[float, object]]],
    owner: object,
) -> list[float]:
    """Straight through if one x fits everywhere; else as few turns as it takes, the last as early as it can be."""
    count = len(passed)
    for x in (land_at, leave_at, (max(leave[0], land[0]) + min(leave[1], land[1])) / 2):
        if (
            leave[0] <= x <= leave[1]
            and land[0] <= x <= land[1]
            and all(low <= x <= high for low, high in passed)
            and not (x != land_at and any(_is_taken(x, taken[step], owner) for step in range(count)))
        ):
            return [x] * (count + 2)
    xs = [leave_at, *([0.0] * count), land_at]
    step = count - 1
    while step >= 0 and passed[step][0] <= land_at <= passed[step][1]:
        if _is_taken(land_at, taken[step], owner):
            break
        xs[step + 1] = land_at
        step -= 1
    while step >= 0:
        last = step
        low, high = passed[step]
        while step > 0 and max(low, passed[step - 1][0]) <= min(high, passed[step - 1][1]):
            step -= 1
            low, high = max(low, passed[step][0]), min(high, passed[step][1])
        near = leave_at if step == 0 else sum(wanted[step : last + 1]) / (last + 1 - step)
        x = _free(min(max(near, low), high), low, high, taken[step : last + 1], owner)
        xs[step + 1 : last + 2] = [x] * (last + 1 - step)
        step -= 1
    return xs


def _is_taken(x: float, taken: list[tuple[float, object]], owner: object) -> bool:
    return any(abs(x - other) < BETWEEN - 1 and whose != owner for other, whose in taken)


def _free(x: float, low: float, high: float, taken: list[list[tuple[float, object]]], owner: object) -> float:
    """The place nearest to ``x`` that no edge to another box runs in."""
    for away in range(24):
        for side in (1, -1):
            here = x + side * away * BETWEEN
            if low <= here <= high and not any(_is_taken(here, row, owner) for row in taken):
                return here
    return x


def _channels(
    graph: Graph, rank: Sequence[int], columns: list[list[float]], count: int
) -> tuple[list[list[_Net]], list[list[tuple[int, _Turn]]]]:
    """For each channel its nets; for each edge its turns, with the channel they are in."""
    turns: list[list[tuple[int, _Turn]]] = []
    by_source: list[dict[tuple[str, float], list[_Turn]]] = [defaultdict(list) for _ in range(count)]
    for number, (tail, _) in enumerate(graph.edges):
        own = []
        for step, (top, bottom) in enumerate(zip(columns[number], columns[number][1:], strict=False)):
            turn = _Turn(number, top, bottom)
            own.append((rank[tail] + step, turn))
            if top != bottom:
                by_source[rank[tail] + step]["source" if step == 0 else f"edge {number}", top].append(turn)
        turns.append(own)
    channels = []
    for sources in by_source:
        nets = []
        by_end: dict[float, list[_Turn]] = defaultdict(list)
        for found in sources.values():
            if len({turn.bottom for turn in found}) > 1:
                nets.append(_Net(found))
            else:
                by_end[found[0].bottom] += found
        for end, found in by_end.items():
            nets.append(_Net(found, end))
        channels.append(nets)
    return channels, turns


def _draw_lines(nets: list[_Net]) -> int:
    """Give each net a line, from above; answers how many lines the channel has."""
    above: dict[int, set[int]] = defaultdict(set)  # a net → the nets that must lie above it
    tops = sorted((turn.top, number) for number, net in enumerate(nets) for turn in net.turns)
    for number, net in enumerate(nets):
        for turn in net.turns:
            for top, other in tops:
                if other != number and abs(top - turn.bottom) < BETWEEN - 2:
                    above[number].add(other)
    order = sorted(range(len(nets)), key=lambda each: _preference(nets[each]))
    lines: list[list[_Net]] = []
    placed: dict[int, int] = {}

    def place(number: int, path: frozenset[int]) -> None:
        least = 0
        for other in above[number]:
            if other not in placed and other not in path:
                place(other, path | {number})
            if other in placed:
                least = max(least, placed[other] + 1)
        line = least
        while line < len(lines) and any(_touch(nets[number], other) for other in lines[line]):
            line += 1
        while len(lines) <= line:
            lines.append([])
        lines[line].append(nets[number])
        placed[number] = line
        for turn in nets[number].turns:
            turn.line = line

    for number in order:
        if number not in placed:
            place(number, frozenset())
    return len(lines)


def _preference(net: _Net) -> tuple[float, float]:
    """From above: what goes right, the rightmost first; what goes left, the leftmost first. Fewest crossings."""
    first = net.turns[0]
    goes_right = first.bottom > first.top
    return (0 if net.ends_at is None else 1, -first.top if goes_right else first.top)


def _touch(one: _Net, other: _Net) -> bool:
    if one.high + 6 < other.low or other.high + 6 < one.low:
        return False
    return not (one.ends_at is not None and one.ends_at == other.ends_at)


def _flatten(clusters: Sequence[Cluster], depth: int = 0) -> list[tuple[tuple[int, ...], int]]:
    """Every cluster's members (those of inner ones included), outer first, with how deep clusters nest in it."""
    found: list[tuple[tuple[int, ...], int]] = []
    for cluster in clusters:
        inner = _flatten(cluster.inner, depth + 1)
        own = sum((members for members, _ in inner), cluster.members)
        found.append((tuple(dict.fromkeys(own)), _depth(cluster)))
        found += inner
    return found


def _depth(cluster: Cluster) -> int:
    return 1 + max(map(_depth, cluster.inner), default=0)


def _heights(
    graph: Graph,
    rank: Sequence[int],
    rows: list[list[int]],
    lines: list[int],
    flat: list[tuple[tuple[int, ...], int]],
) -> tuple[list[float], list[float], float]:
    """The top of each row, the first line of each channel, and the height of all."""
    opens, closes = [0] * (len(rows) + 1), [0] * (len(rows) + 1)
    for members, depth in flat:
        first, last = min(rank[each] for each in members), max(rank[each] for each in members)
        opens[first] = max(opens[first], depth * (AROUND + LEGEND))
        closes[last] = max(closes[last], depth * AROUND)
    y = float(opens[0]) if rows else 0.0
    tops, line_y = [], []
    for level, row in enumerate(rows):
        tops.append(y)
        y += max(graph.sizes[place][1] for place in row)
        y += closes[level]
        line_y.append(y + STUB)
        if level < len(rows) - 1:
            y += max(LEAST, STUB + LANDING + max(0, lines[level] - 1) * BETWEEN)
            y += opens[level + 1]
    return tops, line_y, y


def _outline(
    members: tuple[int, ...], depth: int, boxes: Sequence[tuple[float, float, int, int]]
) -> tuple[float, float, float, float]:
    left = min(boxes[each][0] for each in members) - depth * AROUND
    right = max(boxes[each][0] + boxes[each][2] for each in members) + depth * AROUND
    top = min(boxes[each][1] for each in members) - depth * (AROUND + LEGEND) + LEGEND
    low = max(boxes[each][1] + boxes[each][3] for each in members) + depth * AROUND
    return left, top, right - left, low - top


def _shifted(
    graph: Graph,
    boxes: Sequence[tuple[float, float, int, int]],
    paths: list[list[Point]],
    outlines: list[tuple[float, float, float, float]],
    height: float,
) -> Arranged:
    """Everything moved so that it begins at 0, 0."""
    xs = (
        [box[0] for box in boxes]
        + [x for points in paths for x, _ in points]
        + [each[0] for each in outlines]
    )
    rights = (
        [box[0] + box[2] for box in boxes]
        + [x for points in paths for x, _ in points]
        + [each[0] + each[2] for each in outlines]
    )
    left = min(xs, default=0.0)
    return Arranged(
        places=tuple((round(x - left), round(y)) for x, y, _, _ in boxes),
        edges=tuple(tuple((round(x - left), round(y)) for x, y in points) for points in paths),
        clusters=tuple((round(x - left), round(y), round(w), round(h)) for x, y, w, h in outlines),
        width=round(max(rights, default=0.0) - left),
        height=round(height),
    )


def rounded(points: Sequence[Point], radius: float = 6) -> str:
    """A path through ``points`` whose corners are round."""
    kept: list[Point] = []
    for point in points:
        if kept and kept[-1] == point:
            continue
        if len(kept) >= 2 and (
            kept[-2][0] == kept[-1][0] == point[0] or kept[-2][1] == kept[-1][1] == point[1]
        ):
            kept[-1] = point
        else:
            kept.append(point)
    said = [f"M{kept[0][0]:g} {kept[0][1]:g}"]
    for before, corner, after in zip(kept, kept[1:], kept[2:], strict=False):
        here = min(radius, _far(before, corner) / 2, _far(corner, after) / 2)
        (x0, y0), (x1, y1) = _toward(corner, before, here), _toward(corner, after, here)
        said.append(f"L{x0:g} {y0:g}Q{corner[0]:g} {corner[1]:g} {x1:g} {y1:g}")
    said.append(f"L{kept[-1][0]:g} {kept[-1][1]:g}")
    return "".join(said)


def _far(one: Point, other: Point) -> float:
    return abs(one[0] - other[0]) + abs(one[1] - other[1])


def _toward(corner: Point, point: Point, far: float) -> Point:
    whole = _far(corner, point) or 1
    return (
        round(corner[0] + (point[0] - corner[0]) * far / whole, 1),
        round(corner[1] + (point[1] - corner[1]) * far / whole, 1),
    )
