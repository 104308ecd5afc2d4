"""A scene as SVG. Text goes through ``markup`` only; no id of a plan becomes an element's id."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _

from chief_project.web.graph import words
from chief_project.web.graph.markup import Raw, element, joined
from chief_project.web.graph.parts import CHECKPOINT, LINE, clipped
from chief_project.web.graph.routing import rounded
from chief_project.web.graph.scene import (
    BACKS,
    HEAD,
    LANE_PAD,
    PAD,
    RETURN,
    Edge,
    Lane,
    Named,
    Node,
    Scope,
    everything,
    groups_of,
    implied,
    lane_top,
)
from chief_project.web.graph.text import clip, clip_middle, plain, width

MARGIN = 8
_GLYPHS = {"loop": "loop", "parallel": "parallel", "fold": "n-templates"}
_NONE = {"waiting": "checkpoint"}  # amber says that someone waits; where none does, there is none


@dataclass(frozen=True, slots=True)
class Drawing:
    """A plan or a run as SVG, or None if that took too long: then the page leads with the table.

    ``boxes`` are drawn, ``folded`` steps have none of their own; ``note`` says what was folded. ``order`` holds the ids
    (a run's paths) of the steps that have a box, in topological order. ``unfolded``: ``(fold id, its title)`` of what ``opened`` opened.
    """

    svg: SafeString | None
    width: int = 0
    height: int = 0
    boxes: int = 0
    folded: int = 0
    note: str | None = None
    order: tuple[str, ...] = ()
    unfolded: tuple[tuple[str, str], ...] = ()


@dataclass(slots=True)
class Lit:
    """What the selection lights: the ids of boxes, and of each scope's edges by its first node's id."""

    selected: str | None = None
    asked: str | None = None  # a branch's id, where its container is the selected box
    edges: set[tuple[str, str]] = field(default_factory=set)


def light(scope: Scope, selected: str | None) -> Lit:
    """The selected box, its ancestors and descendants; in outer scopes those of the containers around it."""
    lit = Lit(asked=selected)
    if selected is not None:
        _find(scope, selected, lit)
    return lit


def _find(scope: Scope, selected: str, lit: Lit) -> bool:
    for number, node in enumerate(scope.nodes):
        inside = [lane.scope for lane in node.lanes]
        if _is(node, selected):
            lit.selected = node.id
        elif not any(_find(each, selected, lit) for each in inside):
            continue
        _light_from(scope, number, lit)
        return True
    return False


def _is(node: Node, selected: str) -> bool:
    """Whether a box is the selected one, or stands for it."""
    if node.id == selected:
        return True
    if selected in {each.id for each in node.named} | {each.id for each in node.lanes} | {
        each.id for each in node.past
    }:
        return True
    if node.covers:
        parts = selected.split("/")
        return any("/".join(parts[:end]) in node.covers for end in range(1, len(parts) + 1))
    return node.shape == "tally" and selected.startswith(f"{node.id}/")


def _light_from(scope: Scope, start: int, lit: Lit) -> None:
    for here, there in ((1, 0), (0, 1)):
        links: dict[int, list[int]] = {}
        for edge in scope.edges:
            ends = (edge.tail, edge.head)
            links.setdefault(ends[here], []).append(ends[there])
        seen, frontier = {start}, [start]
        while frontier:
            current = frontier.pop()
            for other in links.get(current, ()):
                pair = (other, current) if here else (current, other)
                lit.edges.add((scope.nodes[pair[0]].id, scope.nodes[pair[1]].id))
                if other not in seen:
                    seen.add(other)
                    frontier.append(other)


def draw(scope: Scope, *, label: str, selected: str | None, depth: int = 0) -> tuple[SafeString, int, int]:
    """The whole SVG, with its width and height."""
    wide, high = scope.width + 2 * MARGIN, scope.height + 2 * MARGIN
    lit = light(scope, selected)
    drawn = element(
        "svg",
        {
            "class": f"graph{_fit_class(wide)}",
            "width": wide,
            "height": high,
            "viewBox": f"0 0 {wide} {high}",
            "role": "group",
            "aria-label": label,
        },
        element("g", {"transform": f"translate({MARGIN} {MARGIN})"}, _scope(scope, lit, "", 0)),
    )
    return mark_safe(drawn), wide, high  # noqa: S308 - markup escaped what it was given


FITS = (640, 800, 960, 1120, 1280, 1440, 1600)
"""Widths up to which the style sheet knows how wide a canvas must be to fit a drawing into it."""


def _fit_class(wide: int) -> str:
    """A drawing up to a quarter wider than its canvas is fitted; a wider one keeps its size and scrolls."""
    return next((f" graph--fit graph--fit-{limit}" for limit in FITS if wide <= limit), "")


def _scope(scope: Scope, lit: Lit, owner: str, depth: int) -> Raw:
    """Groups, edges, then boxes in topological order."""
    parts: list[Raw] = []
    for group in groups_of(scope.groups):
        parts.append(_group(group.name, group.path, group.box))
    own = [(edge, way) for edge, way in zip(scope.edges, scope.ways, strict=True) if not edge.hidden]
    own.sort(key=lambda each: (scope.nodes[each[0].tail].id, scope.nodes[each[0].head].id) in lit.edges)
    parts += [_edge(scope, edge, way, lit) for edge, way in own]
    parts += [
        _node(scope.nodes[number], lit, owner, depth)
        for number in scope.order
        if not scope.nodes[number].hidden
    ]
    return joined(parts)


def _group(name: str, path: str, box: tuple[int, int, int, int]) -> Raw:
    x, y, wide, high = box
    shown = clip(plain(name), max(40, wide - 40), 12)
    return element(
        "g",
        {"class": "g-grp"},
        element("rect", {"class": "g-group", "x": x, "y": y, "width": wide, "height": high, "rx": 6}),
        element(
            "rect",
            {
                "class": "g-knock",
                "x": x + 14,
                "y": y - 8,
                "width": round(width(shown, 12)) + 10,
                "height": 16,
            },
        ),
        element(
            "text",
            {"class": "g-group-label", "x": x + 19, "y": y + 4},
            shown,
            element("title", {}, plain(path)),
        ),
    )


def _edge(scope: Scope, edge: Edge, way: Iterable[tuple[float, float]], lit: Lit) -> Raw:
    tail, head = scope.nodes[edge.tail].id, scope.nodes[edge.head].id
    kind = f"-{edge.kind}" if edge.kind else ""
    on = (tail, head) in lit.edges
    return _line(list(way), kind, on, tail, head)


def _line(
    points: list[tuple[float, float]], kind: str, on: bool, tail: str, head: str, *, again: str = ""
) -> Raw:
    """An edge with its arrow, which points the way the last stretch goes. ``again``: the loop's id, for the edge back."""
    x0, (x, y) = points[-2][0], points[-1]
    more = (f" g-edge-{kind}" if kind else "") + (" g-edge--lit" if on else "")
    arrow = (f" g-arrow-{kind}" if kind else "") + (" g-arrow--lit" if on else "")
    if x0 == x:
        tip = f"M{x:g} {y:g}L{x - 4:g} {y - 7:g}L{x + 4:g} {y - 7:g}Z"
        short = (x, y - 6)
    else:
        turn = 7 if x0 > x else -7
        tip = f"M{x:g} {y:g}L{x + turn:g} {y - 4:g}L{x + turn:g} {y + 4:g}Z"
        short = (x + (6 if x0 > x else -6), y)
    return element(
        "g",
        {
            "class": "g-e",
            "data-from": None if again else tail,
            "data-again": tail if again else None,
            "data-in": again or None,
            "data-to": head,
        },
        element("path", {"class": f"g-edge{more}", "d": rounded([*points[:-1], short])}),
        element("path", {"class": f"g-arrow{arrow}", "d": tip}),
    )


def _icon(name: str, x: float, y: float, size: int = 14) -> Raw:
    return element(
        "svg",
        {"class": "g-ico", "x": x, "y": y, "width": size, "height": size, "viewBox": "0 0 16 16"},
        element("use", {"href": f"#i-{name}"}),
    )


def _text(kind: str, x: float, y: float, text: str, *, end: bool = False, tip: str = "") -> Raw:
    children: list[str] = [text]
    if tip:
        children.append(element("title", {}, tip))
    return element("text", {"class": kind, "x": x, "y": y, "text-anchor": "end" if end else None}, *children)


def _has(node: Node) -> str | None:
    """The ids that a fold hides, so that they are found in the browser."""
    return " ".join(node.hides) or None


def _label(node: Node) -> str:
    said = f"{node.name}: {node.goal}" if node.name else node.goal
    for more in (
        node.word,
        node.what,
        node.again_word,
        node.about if node.shape in {"loop", "parallel", "tally"} else "",
    ):
        if more:
            said += f", {more}"
    return said


def _node(node: Node, lit: Lit, owner: str, depth: int) -> Raw:
    if node.shape == "block":
        return _block(node, lit, owner, depth)
    if node.shape in {"loop", "parallel", "tally"}:
        return _container(node, lit, owner, depth)
    on = lit.selected == node.id
    classes = "node" + _has_stale(node)
    if node.shape == "fold":
        classes += " g-fold"
    if node.state:
        classes += f" s-{'stale' if node.stale else node.state}"
    if node.ghost:
        classes += f" x-{node.ghost}"
    if on:
        classes += " is-selected"
    label = _label(node)
    parts = [element("title", {}, label + (f"\n{node.facts}" if node.facts else ""))]
    if node.backs:
        parts.append(_backs(node))
    parts.append(_shape(node))
    if node.stale:
        parts += [
            element(
                "rect",
                {
                    "fill": "url(#hatch-stale)",
                    "x": node.x + 1,
                    "y": node.y + 1,
                    "width": node.width - 2,
                    "height": node.height - 2,
                },
            ),
            element(
                "rect",
                {
                    "class": "g-textback",
                    "x": node.x + 6,
                    "y": node.y + 5,
                    "width": node.width - 12,
                    "height": node.height - 10,
                },
            ),
        ]
    parts.append(_first_line(node))
    left = node.x + 10 + (CHECKPOINT if node.shape == "checkpoint" else 0)
    kind = "g-title g-sm" if node.small else "g-title"
    parts += [_text(kind, left, node.y + 37 + LINE * number, line) for number, line in enumerate(node.lines)]
    if node.shape == "fold":
        parts.append(_fold_foot(node))
    if node.again_word:
        parts.append(_replay(node))
    parts.append(_corners(node))
    return element(
        "a",
        {
            "class": classes,
            "href": node.href,
            "data-id": node.id,
            "data-in": owner or None,
            "data-fold": "" if node.shape == "fold" else None,
            "data-has": _has(node),
            "aria-label": label,
            "aria-current": "true" if on else None,
        },
        *parts,
    )


def _shape(node: Node) -> Raw:
    x, y, wide, high = node.x, node.y, node.width, node.height
    if node.shape == "checkpoint":
        point = CHECKPOINT
        return element(
            "path",
            {
                "class": "g-box",
                "d": f"M{x + point} {y}H{x + wide - point}L{x + wide} {y + high / 2:g}L{x + wide - point} {y + high}"
                f"H{x + point}L{x} {y + high / 2:g}Z",
            },
        )
    box = element("rect", {"class": "g-box", "x": x, "y": y, "width": wide, "height": high, "rx": 3})
    if node.shape == "ref":
        inner = {
            "class": "g-con-head",
            "x": x + 3,
            "y": y + 3,
            "width": wide - 6,
            "height": high - 6,
            "rx": 1,
        }
        return joined([box, element("rect", inner)])
    return box


def _backs(node: Node) -> Raw:
    """The edges of what lies behind."""
    return element(
        "g",
        {"class": "g-stack"},
        *(
            element(
                "rect",
                {
                    "class": "g-back",
                    "x": node.x + step,
                    "y": node.y + step,
                    "width": node.width,
                    "height": node.height,
                    "rx": 3,
                },
            )
            for step in (BACKS, BACKS // 2)
        ),
    )


def _first_line(node: Node) -> Raw:
    """The state (or the id), and on the right what else there is to say; the id gives way first."""
    inset = CHECKPOINT if node.shape == "checkpoint" else 0
    left, right = node.x + 10 + inset, node.x + node.width - 10 - inset
    base = node.y + 19
    parts: list[Raw] = []
    for badge in node.badges:
        count = str(badge.count)
        wide = round(width(count, 12))
        parts.append(
            element(
                "g",
                {"class": "g-notes"},
                _text("g-sm", right, base, count, end=True, tip=badge.title),
                _icon(badge.icon, right - wide - 17, node.y + 8, 13),
            )
        )
        right -= wide + 25
    if node.what:
        shown = clip(node.what, max(40, right - left - (90 if node.state else 50)), 11.5, bold=True)
        parts.append(_text("g-what", right, base, shown, end=True))
        right -= round(width(shown, 11.5, bold=True)) + 9
    if node.state or node.stale:
        state = "stale" if node.stale else node.state or ""
        shown = clip(node.word, right - left - 19, 12, bold=True)
        parts += [_icon(state, left, node.y + 8), _text("g-state", left + 19, base, shown)]
        left += 19 + round(width(shown, 12, bold=True)) + 12
        shown = clipped(node.name, right - left, whole=node.small) if node.shape != "fold" else ""
        if shown:
            parts.append(_text("g-id", right, base, shown, end=True))
        elif node.shape == "fold":
            parts.append(_text("g-num", right, base, node.name, end=True))
    else:
        if node.icon:
            parts.append(_icon(node.icon, left, node.y + 8, 13))
            left += 18
        if node.shape == "fold":
            parts.append(_text("g-num", left, base, node.name))
        else:
            parts.append(_text("g-id", left, base, clip_middle(node.name, right - left)))
    return joined(parts)


def _fold_foot(node: Node) -> Raw:
    y = node.y + node.height - 9
    if not node.counts:
        return _text("g-id", node.x + 10, y, clip_middle(node.about, node.width - 20))
    parts, x = [], float(node.x + 10)
    for count in node.counts:
        if not count.count:
            continue
        shown = words.number(count.count)
        parts.append(
            element(
                "g",
                {"class": f"s-{count.state}"},
                _icon(count.state, x, y - 10, 12),
                _text("g-sm", x + 16, y, shown, tip=f"{shown} {count.word}"),
            )
        )
        x += 16 + width(shown, 12) + 10
    return joined(parts)


def _has_stale(node: Node) -> str:
    """A box of many, some of which are stale: the filter leaves it as it is."""
    return " has-stale" if any(badge.icon == "stale" for badge in node.badges) else ""


def _corners(node: Node) -> Raw:
    """The brackets of a selected box. They are always there, so that selecting one changes a class only."""
    x, y, right, low = node.x - 5, node.y - 5, node.x + node.width + 5, node.y + node.height + 5
    return element(
        "path",
        {
            "class": "g-corner",
            "d": f"M{x} {y + 9}V{y}H{x + 9}M{right - 9} {y}H{right}V{y + 9}"
            f"M{right} {low - 9}V{low}H{right - 9}M{x + 9} {low}H{x}V{low - 9}",
        },
    )


def _replay(node: Node) -> Raw:
    """It runs again: a loop arrow on the side."""
    x, y = node.x + node.width, node.y + min(node.height, 64) / 2
    arrow = (
        f"M{x + 6} {y + 15:g}H{x + 20}Q{x + 29} {y + 15:g} {x + 29} {y + 6:g}V{y - 4:g}"
        f"Q{x + 29} {y - 13:g} {x + 20} {y - 13:g}H{x + 12}"
    )
    tip = f"M{x + 5} {y - 13:g}L{x + 13} {y - 17:g}L{x + 13} {y - 9:g}Z"
    return joined(
        [
            element("path", {"class": "g-replay", "d": arrow}),
            element("path", {"class": "g-arrow--replay", "d": tip}),
            _text("g-sm", x + 36, round(y + 5), node.again_word),
        ]
    )


# -- Containers --------------------------------------------------------------------------------------


def _container(node: Node, lit: Lit, owner: str, depth: int) -> Raw:
    """A construct cut into the ground: its head is the link. What it holds stands beside it, not in it, so that the
    state of the one doesn't colour the other."""
    on = lit.selected == node.id
    classes = "con"
    if node.state:
        classes += f" s-{'stale' if node.stale else node.state}"
    if node.ghost:
        classes += f" x-{node.ghost}"
    label = _label(node)
    ground = "g-box g-con g-con--inner" if depth % 2 else "g-box g-con"
    box = {"class": ground, "x": node.x, "y": node.y, "width": node.width, "height": node.height, "rx": 4}
    parts = [_backs(node)] if node.backs else []
    parts.append(
        element(
            "g",
            {"class": classes},
            element(
                "a",
                {
                    "class": "node"
                    + (" s-stale" if node.stale else "")
                    + _has_stale(node)
                    + (" is-selected" if on else ""),
                    "href": node.href,
                    "data-id": node.id,
                    "data-in": owner or None,
                    "data-fold": "" if node.icon == "fold" else None,
                    "data-has": _has(node),
                    "aria-label": label,
                    "aria-current": "true" if on else None,
                },
                element("title", {}, label + (f"\n{node.facts}" if node.facts else "")),
                element("rect", box),
                element(
                    "path", {"class": "g-con-head", "d": f"M{node.x} {node.y + HEAD - 0.5:g}h{node.width}"}
                ),
                *_head(node),
                _corners(node),
            ),
        )
    )
    if node.shape == "tally":
        parts.append(_tally(node, lit))
    elif node.shape == "loop":
        parts.append(_loop(node, lit, depth))
    else:
        parts.append(_lanes(node, lit, depth))
    if node.again_word:
        parts.append(_replay(node))
    return element("g", {}, *parts)


def _block(node: Node, lit: Lit, owner: str, depth: int) -> Raw:
    """What a fold held, in an outline: it is no link, and it waits and is waited for as each of its boxes is."""
    inside = element(
        "g",
        {"transform": f"translate({node.x + PAD} {node.y + PAD + 6})"},
        _scope(node.lanes[0].scope, lit, node.id, depth),
    )
    box = (node.x, node.y, node.width, node.height)
    name = f"{node.name}: {node.goal}"
    return element(
        "g",
        {"class": "g-block", "data-id": node.id, "data-in": owner or None},
        _group(name, name, box),
        inside,
    )


def _head(node: Node) -> list[Raw]:
    """Glyph, title, id; on the right the state, or how many lanes there will be."""
    left, right, base = node.x + 31, node.x + node.width - 12, node.y + 20
    parts = [_icon(_GLYPHS.get(node.icon or node.shape, "parallel"), node.x + 10, node.y + 9)]
    for badge in node.badges:
        wide = round(width(str(badge.count), 12))
        parts.append(_text("g-sm", right, base, str(badge.count), end=True, tip=badge.title))
        parts.append(_icon(badge.icon, right - wide - 17, node.y + 9, 13))
        right -= wide + 25
    if node.what:
        parts.append(_text("g-what", right, base, node.what, end=True))
        right -= round(width(node.what, 11.5, bold=True)) + 10
    if node.state:
        state = "stale" if node.stale else node.state
        wide = round(width(node.word, 12, bold=True))
        parts.append(_text("g-state", right, base, node.word, end=True))
        parts.append(_icon(state, right - wide - 19, node.y + 9))
        right -= wide + 30
    elif node.about:
        parts.append(_text("g-sm", right, base, node.about, end=True))
        right -= round(width(node.about, 12)) + 14
    shown = clip(node.goal, right - left, 13, bold=True)
    parts.append(
        element("text", {"class": "g-title g-head", "x": left, "y": base, "font-weight": 600}, shown)
    )
    left += round(width(shown, 13, bold=True)) + 12
    name = clipped(node.name, right - left)
    if name:
        parts.append(_text("g-id", left, base, name))
    return parts


def _inside(lane: Lane, x: float, y: float, lit: Lit, owner: str, depth: int) -> Raw:
    return element(
        "g",
        {"class": "g-stale" if lane.state == "stale" else None, "transform": f"translate({x:g} {y:g})"},
        _scope(lane.scope, lit, owner, depth + 1),
    )


def _lanes(node: Node, lit: Lit, depth: int) -> Raw:
    parts = []
    short = any(width(lane.head or "", 11, mono=True) > lane.width - 2 * LANE_PAD - 18 for lane in node.lanes)
    for number, lane in enumerate(node.lanes):
        x = node.x + lane.x
        if number:
            path = f"M{x + 0.5:g} {node.y + HEAD}V{node.y + node.height}"
            parts.append(element("path", {"class": "g-lane", "d": path}))
        if lane.state == "stale":
            parts.append(_stale_lane(node, lane))
        if lane.head:
            room = lane.width - 2 * LANE_PAD
            parts.append(_lane_head(lane, x + LANE_PAD, node.y + HEAD, room, node, lit, short))
        inset = (lane.width - lane.scope.width) / 2
        parts.append(_inside(lane, round(x + inset), node.y + HEAD + lane_top(node), lit, node.id, depth))
    return joined(parts)


def _stale_lane(node: Node, lane: Lane) -> Raw:
    """The ground of a branch that doesn't count, beneath its boxes."""
    hatched = {
        "fill": "url(#hatch-stale)",
        "x": node.x + lane.x + 1,
        "y": node.y + HEAD,
        "width": lane.width - 2,
        "height": node.height - HEAD - 1,
    }
    back = {
        "class": "g-textback",
        "x": node.x + lane.x + 5,
        "y": node.y + HEAD + 5,
        "width": lane.width - 10,
        "height": 20,
    }
    return element("g", {"class": "g-stale"}, element("rect", hatched), element("rect", back))


def _lane_head(lane: Lane, x: float, y: float, room: float, node: Node, lit: Lit, short: bool) -> Raw:
    parts = []
    if lane.state:
        parts.append(_icon(lane.state, x, y + 9, 12))
        x += 18
        room -= 18
    if lane.what:
        room -= 18
        again = {"class": "g-again"}
        parts.append(element("g", again, _icon("replay", x + room + 4, y + 9, 13)))
    head = lane.head or ""
    if short:
        head = lane.short or head
    parts.append(_text("g-id", x, y + 19, clip_middle(head, room)))
    label = ", ".join(each for each in (lane.title or lane.head or "", lane.word, lane.what) if each)
    classes = "g-lane-head" + (f" s-{lane.state}" if lane.state else "")
    if lane.id and lane.id == lit.asked:
        classes += " is-selected"
    if lane.href is None:
        return element("g", {"class": classes}, element("title", {}, label), *parts)
    return element(
        "a",
        {"class": classes, "href": lane.href, "data-id": lane.id, "data-in": node.id, "aria-label": label},
        element("title", {}, label),
        *parts,
    )


def _loop(node: Node, lit: Lit, depth: int) -> Raw:
    """The body of the iteration that counts, and the edge by which it begins again."""
    lane = node.lanes[0]
    x, y = node.x + lane.x, node.y + HEAD + PAD
    parts = []
    if node.past:
        parts.append(_past(node))
        y += 26
    parts.append(_return_edge(node, lane.scope, x, y, lit))
    parts.append(_inside(lane, x, y, lit, node.id, depth))
    return joined(parts)


def _return_edge(node: Node, body: Scope, x: float, y: float, lit: Lit) -> Raw:
    """From the last box up to the first, on the right; around what stands beside them."""
    first, last = body.nodes[body.order[0]], body.nodes[body.order[-1]]
    right = x + body.width + RETURN - 6
    start: list[tuple[float, float]]
    end: list[tuple[float, float]]
    if any(other.x > last.x and other.y + other.height > last.y for other in body.nodes if other is not last):
        middle = x + last.x + last.width / 2
        low = y + body.height + 8
        start = [(middle, y + last.y + last.height), (middle, low), (right, low)]
    else:
        level = y + last.y + min(last.height, 64) / 2
        start = [(x + last.x + last.width + (BACKS if last.backs else 0), level), (right, level)]
    if any(
        other.x > first.x and other.y < first.y + first.height for other in body.nodes if other is not first
    ):
        middle = x + first.x + first.width / 2
        end = [(right, y - 10), (middle, y - 10), (middle, y + first.y)]
    else:
        level = y + first.y + min(first.height, 64) / 2 - (10 if first is last else 0)
        end = [(right, level), (x + first.x + first.width + (BACKS if first.backs else 0), level)]
        if first is last:
            start = [(px, py + 10) for px, py in start]
    on = lit.selected is not None and lit.selected in {each.id for each in body.nodes}
    middle = (start[-1][1] + end[0][1]) / 2
    top = middle - (len(node.again) - 1) * LINE / 2 + 4
    return joined(
        [
            _line([*start, *end], "", on, last.id, first.id, again=node.id),
            *(
                _text("g-sm g-note", right + 10, round(top + LINE * number), line)
                for number, line in enumerate(node.again)
            ),
        ]
    )


def _past(node: Node) -> Raw:
    """The iterations as links, oldest first; where there is no room for all, the newest."""
    x, y = node.x + 14.0, node.y + HEAD + 21
    parts = [_text("g-sm g-note", x, y, node.about)]
    x += width(node.about, 12) + 14
    room = node.x + node.width - 12 - x
    shown: list[tuple[Named, float]] = []
    for each in reversed(node.past):
        wide = 17 + width(each.name, 12) + 12
        if wide > room:
            break
        shown.insert(0, (each, wide))
        room -= wide
    for each, wide in shown:
        attributes = {
            "class": f"g-named s-{each.state}",
            "href": each.href,
            "data-id": each.id,
            "data-in": node.id,
            "aria-label": f"{each.name}, {each.word}",
        }
        parts.append(
            element(
                "a",
                attributes,
                element("title", {}, f"{each.name}, {each.word}"),
                _icon(each.state, x, y - 11, 13),
                _text("g-sm", x + 17, y, each.name),
            )
        )
        x += wide
    return joined(parts)


def _tally(node: Node, lit: Lit) -> Raw:
    """Many alike: the total, a bar, a row per state, then by name what needs eyes."""
    x, y, wide = node.x + 12, node.y + HEAD, node.width - 24
    total = words.number(node.total)
    parts = [
        _text("g-big", x, y + 32, total),
        _text("g-sm", x + round(width(total, 26, bold=True)) + 10, y + 32, clip(node.about, wide - 70, 12)),
        element("rect", {"class": "g-bar-bg", "x": x, "y": y + 46, "width": wide, "height": 10}),
    ]
    at = float(x)
    for count in node.counts:
        part = wide * count.count / max(1, node.total)
        if count.count and count.state != "pending":
            part = max(part, 3.0)
            part = min(part, x + wide - at)
            parts.append(
                element(
                    "rect",
                    {
                        "class": f"f-{count.state}",
                        "x": round(at, 1),
                        "y": y + 46,
                        "width": round(part, 1),
                        "height": 10,
                    },
                )
            )
            at += part
    row = y + 80
    for count in node.counts:
        attributes: dict[str, object] = {
            "class": f"g-count s-{count.state}" + ("" if count.count else " g-none"),
            "aria-label": f"{count.count} {count.word}",
        }
        if count.href:
            attributes["href"] = count.href
        parts.append(
            element(
                "a" if count.href else "g",
                attributes,
                _icon(count.state if count.count else _NONE.get(count.state, count.state), x, row - 11, 13),
                _text("g-num", x + 50, row, words.number(count.count), end=True),
                _text("g-sm", x + 60, row, count.word),
            )
        )
        row += 21
    parts.append(element("path", {"class": "g-con-head", "d": f"M{node.x} {row - 8}h{node.width}"}))
    row += 12
    for number, each in enumerate(node.named):
        last = number == len(node.named) - 1
        more = round(width(node.more, 12)) + 8 if last and node.more else 0
        shown = clip_middle(each.name, wide - 20 - more)
        parts.append(
            element(
                "a",
                {
                    "class": f"g-named s-{each.state}" + (" is-selected" if lit.asked == each.id else ""),
                    "href": each.href,
                    "data-id": each.id,
                    "data-in": node.id,
                    "aria-label": f"{each.word}: {each.name}",
                },
                element("title", {}, f"{each.name}, {each.word}"),
                _icon(each.state, x, row - 10, 13),
                _text("g-id g-link", x + 19, row, shown),
            )
        )
        if more:
            parts.append(_text("g-sm", x + wide, row, node.more, end=True))
        row += 20
    return joined(parts)


def finished(
    scope: Scope,
    *,
    placed: bool,
    label: str,
    selected: str | None,
    folded: int,
    level: str,
    unfolded: tuple[tuple[str, str], ...] = (),
) -> Drawing:
    """The drawing of a scene that was placed, or the answer that it couldn't be in time."""
    if not placed:
        note = _("This plan is too large to be drawn in time. The table shows all of it.")
        return Drawing(None, note=note, folded=folded)
    nodes = [node for node, _ in everything(scope) if node.shape != "block"]
    order = tuple(node.id for node in nodes if not node.hides)
    svg, wide, high = draw(scope, label=label, selected=selected)
    return Drawing(
        svg=svg,
        width=wide,
        height=high,
        boxes=len(nodes),
        folded=folded,
        note=words.note(level, len(nodes), folded, implied(scope)),
        order=order,
        unfolded=unfolded,
    )
