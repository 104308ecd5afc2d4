"""What a selection lights: its box, and the edges that lead to it and away from it."""

from dataclasses import dataclass, field

from chief_project.web.graph.scene import Node, Scope


@dataclass(slots=True)
class Lit:
    """The id of the selected box, and the lit edges as ``(id of the tail, id of the head)``."""

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
        if _is(node, selected):
            lit.selected = node.id
        elif not any(_find(lane.scope, selected, lit) for lane in node.lanes):
            continue
        _light_from(scope, number, lit)
        return True
    return False


def _is(node: Node, selected: str) -> bool:
    """Whether a box is the selected one, or stands for it."""
    if node.id == selected:
        return True
    if selected in {each.id for each in (*node.named, *node.past)} | {lane.id for lane in node.lanes}:
        return True
    if node.covers:
        parts = selected.split("/")
        return any("/".join(parts[:end]) in node.covers for end in range(1, len(parts) + 1))
    return node.shape == "tally" and selected.startswith(f"{node.id}/")


def _light_from(scope: Scope, start: int, lit: Lit) -> None:
    """Light what leads to the box at ``start``, then what leads away from it."""
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
