"""Many alike, counted: the total, a bar, a row per state, then by name what needs eyes."""

from chief_project.web.graph import words
from chief_project.web.graph.lighting import Lit
from chief_project.web.graph.marks import icon, text
from chief_project.web.graph.markup import Raw, element, joined
from chief_project.web.graph.scene import HEAD, Count, Named, Node
from chief_project.web.graph.text import clip, clip_middle, width

_NONE = {"waiting": "checkpoint"}  # amber says that someone waits; where none does, there is none


def draw_tally(node: Node, lit: Lit) -> Raw:
    """What stands in the box, from top to bottom."""
    x, y, wide = node.x + 12, node.y + HEAD, node.width - 24
    total = words.number(node.total)
    parts = [
        text("g-big", x, y + 32, total),
        text("g-sm", x + round(width(total, 26, bold=True)) + 10, y + 32, clip(node.about, wide - 70, 12)),
        _bar(node, x, y + 46, wide),
    ]
    row = y + 80
    for count in node.counts:
        parts.append(_count(count, x, row))
        row += 21
    parts.append(element("path", {"class": "g-con-head", "d": f"M{node.x} {row - 8}h{node.width}"}))
    row += 12
    for number, each in enumerate(node.named):
        more = node.more if number == len(node.named) - 1 else ""
        parts.append(_named(each, x, row, wide, node, lit, more))
        row += 20
    return joined(parts)


def _bar(node: Node, x: int, y: int, wide: int) -> Raw:
    """How the states share the total; what is pending is the ground, and nothing else is too narrow to be seen."""
    parts = [element("rect", {"class": "g-bar-bg", "x": x, "y": y, "width": wide, "height": 10})]
    at = float(x)
    for count in node.counts:
        if not count.count or count.state == "pending":
            continue
        part = min(max(wide * count.count / max(1, node.total), 3.0), x + wide - at)
        kind = f"f-{count.state}"
        shown = {"class": kind, "x": round(at, 1), "y": y, "width": round(part, 1), "height": 10}
        parts.append(element("rect", shown))
        at += part
    return joined(parts)


def _count(count: Count, x: int, row: int) -> Raw:
    """One state with its count, as a link where there is a table to be filtered by it."""
    return element(
        "a" if count.href else "g",
        {
            "class": f"g-count s-{count.state}" + ("" if count.count else " g-none"),
            "aria-label": f"{count.count} {count.word}",
            "href": count.href or None,
        },
        icon(count.state if count.count else _NONE.get(count.state, count.state), x, row - 11, 13),
        text("g-num", x + 50, row, words.number(count.count), end=True),
        text("g-sm", x + 60, row, count.word),
    )


def _named(each: Named, x: int, row: int, wide: int, node: Node, lit: Lit, more: str) -> Raw:
    """One by name; ``more``: a word about the rest, on the right."""
    room = round(width(more, 12)) + 8 if more else 0
    parts = [
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
            icon(each.state, x, row - 10, 13),
            text("g-id g-link", x + 19, row, clip_middle(each.name, wide - 20 - room)),
        )
    ]
    if more:
        parts.append(text("g-sm", x + wide, row, more, end=True))
    return joined(parts)
