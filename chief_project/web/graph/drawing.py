"""A scene as SVG. Text goes through ``markup`` only; no id of a plan becomes an element's id."""

from dataclasses import dataclass

from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _

from chief_project.web.graph import words
from chief_project.web.graph.boxes import draw_box
from chief_project.web.graph.containers import draw_block, draw_container
from chief_project.web.graph.lighting import Lit, light
from chief_project.web.graph.marks import line, outline
from chief_project.web.graph.markup import Raw, element, joined
from chief_project.web.graph.scene import CONTAINERS, Node, Scope, everything, groups_of, implied

MARGIN = 8
FITS = (640, 800, 960, 1120, 1280, 1440, 1600)
"""Widths up to which the style sheet knows how wide a canvas must be to fit a drawing into it."""


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
    svg, wide, high = _draw(scope, label=label, selected=selected)
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


def _draw(scope: Scope, *, label: str, selected: str | None) -> tuple[SafeString, int, int]:
    """The whole SVG, with its width and height."""
    wide, high = scope.width + 2 * MARGIN, scope.height + 2 * MARGIN
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
        element(
            "g", {"transform": f"translate({MARGIN} {MARGIN})"}, _scope(scope, light(scope, selected), "", 0)
        ),
    )
    return mark_safe(drawn), wide, high  # noqa: S308 - markup escaped what it was given


def _fit_class(wide: int) -> str:
    """A drawing up to a quarter wider than its canvas is fitted; a wider one keeps its size and scrolls."""
    return next((f" graph--fit graph--fit-{limit}" for limit in FITS if wide <= limit), "")


def _scope(scope: Scope, lit: Lit, owner: str, depth: int) -> Raw:
    """Groups, edges (those that are lit last, on top), then boxes in topological order.

    ``owner``: the id of the container around the scope, "" outside; ``depth``: how many containers are around it.
    """
    parts = [outline(group.name, group.path, group.box) for group in groups_of(scope.groups)]
    edges = []
    for edge, way in zip(scope.edges, scope.ways, strict=True):
        if not edge.hidden:
            ends = (scope.nodes[edge.tail].id, scope.nodes[edge.head].id)
            edges.append((ends in lit.edges, edge.kind, ends, way))
    edges.sort(key=lambda each: each[0])
    parts += [line(list(way), kind, on, *ends) for on, kind, ends, way in edges]
    nodes = (scope.nodes[number] for number in scope.order)
    parts += [_node(node, lit, owner, depth) for node in nodes if not node.hidden]
    return joined(parts)


def _node(node: Node, lit: Lit, owner: str, depth: int) -> Raw:
    deeper = depth if node.shape == "block" else depth + 1
    inside = [_scope(lane.scope, lit, node.id, deeper) for lane in node.lanes]
    if node.shape == "block":
        return draw_block(node, owner, inside[0])
    if node.shape in CONTAINERS:
        return draw_container(node, lit, owner, inside, inner=depth % 2 == 1)
    return draw_box(node, lit, owner)
