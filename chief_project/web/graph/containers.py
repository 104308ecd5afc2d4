"""Containers: a loop or a parallel around what it holds, or around a tally of it; and blocks."""

from collections.abc import Sequence

from chief_project.web.graph.lighting import Lit
from chief_project.web.graph.marks import (
    backs,
    badge,
    brackets,
    classes_of,
    corners,
    icon,
    line,
    link,
    outline,
    replay,
    state_of,
    text,
)
from chief_project.web.graph.markup import Raw, element, joined
from chief_project.web.graph.parts import LINE, clipped
from chief_project.web.graph.scene import (
    BACKS,
    HEAD,
    LANE_PAD,
    PAD,
    RETURN,
    Lane,
    Named,
    Node,
    Scope,
    lane_top,
)
from chief_project.web.graph.tallies import draw_tally
from chief_project.web.graph.text import clip, clip_middle, width

MOST_FACTS = 240  # pixels of a head that its metadata may take
_GLYPHS = {"loop": "loop", "parallel": "parallel", "fold": "n-templates"}


def draw_container(node: Node, lit: Lit, owner: str, inside: Sequence[Raw], *, inner: bool) -> Raw:
    """A construct cut into the ground: its head is the link. What it holds stands beside it, not in it, so that the
    state of the one doesn't colour the other.

    ``inside``: what each of its lanes holds. ``inner``: whether the ground around it is a container's.
    """
    parts = [backs(node)] if node.backs else []
    branch = any(lane.head and lane.id == lit.asked for lane in node.lanes)  # that one is marked, then
    parts.append(_ground(node, owner, selected=lit.selected == node.id and not branch, inner=inner))
    if node.shape == "tally":
        parts.append(draw_tally(node, lit))
    elif node.shape == "loop":
        parts.append(_loop(node, lit, inside[0]))
    else:
        parts.append(_lanes(node, lit, inside))
    if node.again_word:
        parts.append(replay(node))
    return element("g", {}, *parts)


def _ground(node: Node, owner: str, *, selected: bool, inner: bool) -> Raw:
    x, y, wide, high = node.x, node.y, node.width, node.height
    ground = "g-box g-con g-con--inner" if inner else "g-box g-con"
    parts = [
        element("rect", {"class": ground, "x": x, "y": y, "width": wide, "height": high, "rx": 4}),
        element("path", {"class": "g-con-head", "d": f"M{x} {y + HEAD - 0.5:g}h{wide}"}),
        *_head(node),
        corners(node),
    ]
    stale = " s-stale" if node.stale else ""
    head = link(node, stale, owner=owner, selected=selected, parts=parts)
    return element("g", {"class": f"con{classes_of(node)}"}, head)


def draw_block(node: Node, owner: str, inside: Raw) -> Raw:
    """What a fold held, in an outline: it is no link, and it waits and is waited for as each of its boxes is."""
    box = (node.x, node.y, node.width, node.height)
    name = f"{node.name}: {node.goal}"
    return element(
        "g",
        {"class": "g-block", "data-id": node.id, "data-in": owner or None},
        outline(name, name, box),
        element("g", {"transform": f"translate({node.x + PAD} {node.y + PAD + 6})"}, inside),
    )


def _head(node: Node) -> list[Raw]:
    """Glyph, title, id; on the right the state, or how many lanes there will be. Each end is a group: where the
    container is wider than the window, a script keeps both in sight.
    """
    left, right, base = node.x + 31, node.x + node.width - 12, node.y + 20
    near = [icon(_GLYPHS.get(node.icon or node.shape, "parallel"), node.x + 10, node.y + 9)]
    far = []
    for each in node.badges:
        drawn, wide = badge(each, right, base, min(MOST_FACTS, right - left - 300))
        far.append(drawn)
        right -= wide + 8
    if node.what:
        far.append(text("g-what", right, base, node.what, end=True))
        right -= round(width(node.what, 11.5, bold=True)) + 10
    if node.state:
        wide = round(width(node.word, 12, bold=True))
        far.append(text("g-state", right, base, node.word, end=True))
        far.append(icon(state_of(node) or "", right - wide - 19, node.y + 9))
        right -= wide + 30
    elif node.about:
        far.append(text("g-sm", right, base, node.about, end=True))
        right -= round(width(node.about, 12)) + 14
    shown = clip(node.goal, right - left, 13, bold=True)
    near.append(element("text", {"class": "g-title g-head", "x": left, "y": base, "font-weight": 600}, shown))
    left += round(width(shown, 13, bold=True)) + 12
    name = clipped(node.name, right - left)
    if name:
        near.append(text("g-id", left, base, name))
    return [element("g", {"class": "g-near"}, *near), element("g", {"class": "g-far"}, *far)]


def _placed(lane: Lane, x: float, y: float, inside: Raw) -> Raw:
    return element(
        "g",
        {"class": "g-stale" if lane.state == "stale" else None, "transform": f"translate({x:g} {y:g})"},
        inside,
    )


def _lanes(node: Node, lit: Lit, inside: Sequence[Raw]) -> Raw:
    """Branches side by side. ``inside``: what each lane holds."""
    parts = []
    short = any(width(lane.head or "", 11, mono=True) > lane.width - 2 * LANE_PAD - 18 for lane in node.lanes)
    for number, (lane, held) in enumerate(zip(node.lanes, inside, strict=True)):
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
        parts.append(_placed(lane, round(x + inset), node.y + HEAD + lane_top(node), held))
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
    """A branch's state and name, as a link where it leads somewhere. ``short``: by its short name, as its neighbours."""
    parts = []
    if lane.state:
        parts.append(icon(lane.state, x, y + 9, 12))
        x += 18
        room -= 18
    if lane.what:
        room -= 18
        parts.append(element("g", {"class": "g-again"}, icon("replay", x + room + 4, y + 9, 13)))
    head = (lane.short if short else "") or lane.head or ""
    if lane.facts:
        drawn, wide = badge(lane.facts, x + room, y + 19, room - width(head, 11, mono=True) - 12)
        if width(head, 11, mono=True) <= room - wide - 8:  # the name comes first
            parts.append(drawn)
            room -= wide + 8
    parts.append(text("g-id", x, y + 19, clip_middle(head, room)))
    label = ", ".join(each for each in (lane.title or lane.head or "", lane.word, lane.what) if each)
    classes = "g-lane-head" + (f" s-{lane.state}" if lane.state else "")
    low, side = node.y + node.height - 3, node.x + lane.x + lane.width - 3
    parts.append(brackets(node.x + lane.x + 3, node.y + HEAD + 3, side, low))
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


def _loop(node: Node, lit: Lit, inside: Raw) -> Raw:
    """The body of the iteration that counts, and the edge by which it begins again."""
    lane = node.lanes[0]
    x, y = node.x + lane.x, node.y + HEAD + PAD
    parts = []
    if node.past:
        parts.append(_past(node, lit))
        y += 26
    parts.append(_return_edge(node, lane.scope, x, y, lit))
    parts.append(_placed(lane, x, y, inside))
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
            line([*start, *end], "", on, last.id, first.id, again=node.id),
            *(
                text("g-sm g-note", right + 10, round(top + LINE * number), said)
                for number, said in enumerate(node.again)
            ),
        ]
    )


def _past(node: Node, lit: Lit) -> Raw:
    """The iterations as links, oldest first; where there is no room for all, the newest."""
    x, y = node.x + 14.0, node.y + HEAD + 21
    parts = [text("g-sm g-note", x, y, node.about)]
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
            "class": f"g-named s-{each.state}" + (" is-selected" if lit.asked == each.id else ""),
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
                icon(each.state, x, y - 11, 13),
                text("g-sm", x + 17, y, each.name),
            )
        )
        x += wide
    return joined(parts)
