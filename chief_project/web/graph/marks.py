"""What boxes, containers and edges are drawn with."""

from collections.abc import Iterable

from chief_project.web.graph.markup import Raw, element, joined
from chief_project.web.graph.routing import rounded
from chief_project.web.graph.scene import BACKS, CONTAINERS, Badge, Node
from chief_project.web.graph.text import clip, fitting, plain, width


def icon(name: str, x: float, y: float, size: int = 14) -> Raw:
    """One of the page's icons; ``x`` and ``y`` are its top left corner."""
    return element(
        "svg",
        {"class": "g-ico", "x": x, "y": y, "width": size, "height": size, "viewBox": "0 0 16 16"},
        element("use", {"href": f"#i-{name}"}),
    )


def text(kind: str, x: float, y: float, said: str, *, end: bool = False, tip: str = "") -> Raw:
    """A line of text of class ``kind`` on the base line ``y``, which begins at ``x`` or (``end``) ends there."""
    children: list[str] = [said]
    if tip:
        children.append(element("title", {}, tip))
    return element("text", {"class": kind, "x": x, "y": y, "text-anchor": "end" if end else None}, *children)


def badge(each: Badge, right: float, y: float, room: float) -> tuple[Raw, int]:
    """A badge that ends at ``right`` on the base line ``y``, and how wide it is: what it counts, where ``room`` lets it
    be read, else how many.
    """
    words = fitting(each.said, each.count, room - 17)
    said = words or str(each.count)
    wide = round(width(said, 11, mono=True) if words else width(said, 12)) + 17
    drawn = element(
        "g",
        {"class": "g-notes"},
        text("g-fact" if words else "g-sm", right, y, said, end=True, tip=each.title),
        icon(each.icon, right - wide, y - 11, 13),
    )
    return drawn, wide


def line(
    points: list[tuple[float, float]], kind: str, on: bool, tail: str, head: str, *, again: str = ""
) -> Raw:
    """An edge with its arrow, which points the way the last stretch goes.

    ``kind`` is an ``Edge``'s; ``tail`` and ``head`` are ids. ``again``: the loop's id, for the edge back.
    """
    x0, (x, y) = points[-2][0], points[-1]
    more = (f" g-edge--{kind}" if kind else "") + (" g-edge--lit" if on else "")
    arrow = (f" g-arrow--{kind}" if kind else "") + (" g-arrow--lit" if on else "")
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


def outline(name: str, path: str, box: tuple[int, int, int, int]) -> Raw:
    """A named outline around boxes; ``box``: its left, top, width and height. ``path`` says it at length."""
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


def backs(node: Node) -> Raw:
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


def corners(node: Node) -> Raw:
    """The brackets of a selected box. They are always there, so that selecting one changes a class only."""
    return brackets(node.x - 5, node.y - 5, node.x + node.width + 5, node.y + node.height + 5)


def brackets(x: int, y: int, right: int, low: int) -> Raw:
    """The same, of anything between these sides."""
    return element(
        "path",
        {
            "class": "g-corner",
            "d": f"M{x} {y + 9}V{y}H{x + 9}M{right - 9} {y}H{right}V{y + 9}"
            f"M{right} {low - 9}V{low}H{right - 9}M{x + 9} {low}H{x}V{low - 9}",
        },
    )


def replay(node: Node) -> Raw:
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
            text("g-sm", x + 36, round(y + 5), node.again_word),
        ]
    )


def state_of(node: Node) -> str | None:
    """The state that a box has the look of."""
    return "stale" if node.stale else node.state


def classes_of(node: Node) -> str:
    """The classes of its state, and of what an amendment does to it."""
    return (f" s-{state_of(node)}" if node.state else "") + (f" x-{node.ghost}" if node.ghost else "")


def link(node: Node, classes: str, *, owner: str, selected: bool, parts: Iterable[Raw]) -> Raw:
    """A box, or a container's head, as the link it is. ``owner``: the id of the container around it, "" outside."""
    if any(badge.icon == "stale" for badge in node.badges):
        classes += " has-stale"  # some of many: the filter leaves it as it is
    label = _label(node)
    return element(
        "a",
        {
            "class": f"node{classes}" + (" is-selected" if selected else ""),
            "href": node.href,
            "data-id": node.id,
            "data-in": owner or None,
            "data-fold": "" if "fold" in {node.shape, node.icon} else None,
            "data-has": " ".join(node.hides) or None,
            "aria-label": label,
            "aria-current": "true" if selected else None,
        },
        element("title", {}, label + (f"\n{node.facts}" if node.facts else "")),
        *parts,
    )


def _label(node: Node) -> str:
    """A box in words, for whoever hears it."""
    said = [f"{node.name}: {node.goal}" if node.name else node.goal, node.word, node.what, node.again_word]
    if node.shape in CONTAINERS:
        said.append(node.about)
    return ", ".join([said[0], *filter(None, said[1:])])
