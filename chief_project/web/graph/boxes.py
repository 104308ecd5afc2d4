"""A box: a step that holds no others, or a fold of several."""

from chief_project.web.graph import words
from chief_project.web.graph.lighting import Lit
from chief_project.web.graph.marks import (
    backs,
    badge,
    classes_of,
    corners,
    icon,
    link,
    replay,
    state_of,
    text,
)
from chief_project.web.graph.markup import Raw, element, joined
from chief_project.web.graph.parts import CHECKPOINT, LINE, clipped
from chief_project.web.graph.scene import Node
from chief_project.web.graph.text import clip, clip_middle, width


def draw_box(node: Node, lit: Lit, owner: str) -> Raw:
    """The box as a link. ``owner``: the id of the container around it, "" outside."""
    parts = [backs(node)] if node.backs else []
    parts.append(_shape(node))
    if node.stale:
        parts.append(_hatching(node))
    parts.append(_first_line(node))
    left = node.x + 10 + (CHECKPOINT if node.shape == "checkpoint" else 0)
    kind = "g-title g-sm" if node.small else "g-title"
    parts += [text(kind, left, node.y + 37 + LINE * number, line) for number, line in enumerate(node.lines)]
    if node.shape == "fold":
        parts.append(_fold_foot(node))
    if node.again_word:
        parts.append(replay(node))
    parts.append(corners(node))
    classes = (" g-fold" if node.shape == "fold" else "") + classes_of(node)
    return link(node, classes, owner=owner, selected=lit.selected == node.id, parts=parts)


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
    return element("rect", {"class": "g-box", "x": x, "y": y, "width": wide, "height": high, "rx": 3})


def _hatching(node: Node) -> Raw:
    """The ground of a box that doesn't count, and a plain one behind its text."""
    x, y, wide, high = node.x, node.y, node.width, node.height
    hatched = {"fill": "url(#hatch-stale)", "x": x + 1, "y": y + 1, "width": wide - 2, "height": high - 2}
    plain = {"class": "g-textback", "x": x + 6, "y": y + 5, "width": wide - 12, "height": high - 10}
    return joined([element("rect", hatched), element("rect", plain)])


def _first_line(node: Node) -> Raw:
    """The state (or the id), and on the right what else there is to say; the id gives way first."""
    inset = CHECKPOINT if node.shape == "checkpoint" else 0
    left, right = node.x + 10 + inset, node.x + node.width - 10 - inset
    base = node.y + 19
    parts: list[Raw] = []
    taken = 19 + width(node.word, 12, bold=True) + 12 if node.state or node.stale else 70
    taken += width(node.what, 11.5, bold=True) + 9 if node.what else 0
    for each in node.badges:
        drawn, wide = badge(each, right, base, right - left - taken)
        parts.append(drawn)
        right -= wide + 8
    if node.what:
        shown = clip(node.what, max(40, right - left - (90 if node.state else 50)), 11.5, bold=True)
        parts.append(text("g-what", right, base, shown, end=True))
        right -= round(width(shown, 11.5, bold=True)) + 9
    if node.state or node.stale:
        state = state_of(node) or ""
        shown = clip(node.word, right - left - 19, 12, bold=True)
        parts += [icon(state, left, node.y + 8), text("g-state", left + 19, base, shown)]
        left += 19 + round(width(shown, 12, bold=True)) + 12
        shown = clipped(node.name, right - left, whole=node.small) if node.shape != "fold" else ""
        if shown:
            parts.append(text("g-id", right, base, shown, end=True))
        elif node.shape == "fold":
            parts.append(text("g-num", right, base, node.name, end=True))
    else:
        if node.icon:
            parts.append(icon(node.icon, left, node.y + 8, 13))
            left += 18
        if node.shape == "fold":
            parts.append(text("g-num", left, base, node.name))
        else:
            parts.append(text("g-id", left, base, clip_middle(node.name, right - left)))
    return joined(parts)


def _fold_foot(node: Node) -> Raw:
    """How many of its steps are in which state; the first and the last of them where that isn't known."""
    y = node.y + node.height - 9
    if not node.counts:
        return text("g-id", node.x + 10, y, clip_middle(node.about, node.width - 20))
    parts, x = [], float(node.x + 10)
    for count in node.counts:
        if not count.count:
            continue
        shown = words.number(count.count)
        parts.append(
            element(
                "g",
                {"class": f"s-{count.state}"},
                icon(count.state, x, y - 10, 12),
                text("g-sm", x + 16, y, shown, tip=f"{shown} {count.word}"),
            )
        )
        x += 16 + width(shown, 12) + 10
    return joined(parts)
