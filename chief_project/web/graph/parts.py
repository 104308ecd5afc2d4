"""What a plan's and a run's drawing have in common: boxes for steps and folds, edges and groups between them."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from chief_project.web.graph import words
from chief_project.web.graph.folding import Fold, Unit
from chief_project.web.graph.scene import (
    RETURN_LABEL,
    Badge,
    Edge,
    Group,
    Lane,
    Node,
    Scope,
    groups_of,
    reduced,
)
from chief_project.web.graph.text import clip, clip_middle, plain, spoken, width, wrap
from workflows.domain.plan import Plan, Step

WIDTHS = ((4, 220), (6, 188))
NARROW = 160
CHECKPOINT = 14  # how far a checkpoint's points reach out
LINE = 16
FEW_SIDE_BY_SIDE = 4
EDGES_AS_SAID = 12  # boxes; beyond, edges that longer ways imply are left out

_PLACEHOLDER = re.compile(r"\{\{\s*([^{}\s]+)\s*\}\}")
_JOINTS = re.compile(r"[^./:_-]*[./:_-]+|[^./:_-]+")


@dataclass(frozen=True)
class Links:
    """Where boxes lead: a step by its id or path, a fold by its id; counts only where there is a page for them."""

    href: Callable[[str], str]
    open_href: Callable[[str], str] = field(default=lambda fold_id: "")
    counted: Callable[[str, str], str] | None = None


def filled(text: str, values: Mapping[str, Any]) -> str:
    """``text`` with each ``{{ name }}`` that is known said; values are text, and aren't filled in turn."""
    if not values or "{{" not in text:
        return text
    return _PLACEHOLDER.sub(
        lambda found: value_text(values[found[1]]) if found[1] in values else found[0], text
    )


def value_text(value: object) -> str:
    """A metadata value on one line."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return plain(str(value)[:400])


def facts_text(metadata: Mapping[str, Any]) -> str:
    """The first few of what was reported as metadata."""
    said = [f"{key}={value}" for key, value in first_facts(metadata)]
    return ", ".join(said) + (" …" if len(metadata) > len(said) else "")


def first_facts(metadata: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """The first few, each by name and value."""
    return tuple((plain(key[:80]), value_text(value)[:80]) for key, value in list(metadata.items())[:4])


def title(goal: str) -> str:
    """A goal whose first word, where it is a long dotted name, is told by its end."""
    first, space, rest = spoken(goal[:600]).partition(" ")
    if len(first) <= 36:
        return first + space + rest
    parts = _JOINTS.findall(first)
    kept = parts.pop() if parts else first
    while parts and len(parts[-1]) + len(kept) <= 24:
        kept = parts.pop() + kept
    return ("…" if parts else "") + kept + space + rest


def box(step: Step, *, id: str, href: str, wide: int, goal: str, small: bool) -> Node:  # noqa: A002 - it is one
    """A box for one step that is no construct."""
    shape = "checkpoint" if step.type == "checkpoint" else "task"
    size = 12 if small else 13
    lines = wrap(title(goal), wide - 20, 3 if small else 2, size)
    node = Node(
        id=id, href=href, shape=shape, name=step.id, goal=spoken(goal), width=wide,
        height=box_height(len(lines)), lines=lines, small=small,
    )  # fmt: skip
    if shape == "checkpoint":
        node.icon = "checkpoint"
        node.width += 2 * CHECKPOINT
    return node


def box_height(lines: int) -> int:
    """So that boxes of one row mostly agree: one line takes the room of two only where the text is large."""
    return 32 + LINE * max(1, lines)


def fold_title(plan: Plan, fold: Fold) -> str:
    """What a fold's steps have in common, else the first and the last of them."""
    goals = [plan.by_id[each].goal[:300] for each in fold.members]
    if fold.why == "group":
        path = plan.by_id[fold.members[0]].group or ""
        paths = {plan.by_id[each].group for each in fold.members}
        return path if len(paths) == 1 else path.split("/")[0]
    if fold.why == "closed":
        return goals[0]
    if fold.why in {"alike", "words"}:
        common = _common(goals)
        if len(common) >= 2:
            return common
    return f"{title(goals[0])} … {title(goals[-1])}"


def _common(goals: Sequence[str]) -> str:
    first, last = min(goals), max(goals)
    length = 0
    while length < min(len(first), len(last)) and first[length] == last[length]:
        length += 1
    if length < len(first) and first[length : length + 1].isalnum() and first[length - 1 : length].isalpha():
        shorter = re.sub(r"\w+$", "", first[:length])
        length = len(shorter) if len(shorter) >= 2 else length
    return re.sub(r"[\W_]+(?:id|no|nr)?[\W_\d]*$", "", first[:length], flags=re.IGNORECASE)


def fold_box(plan: Plan, fold: Fold, *, id: str, links: Links, wide: int, small: bool) -> Node:  # noqa: A002
    """A box for several steps, without their states."""
    goal = fold_title(plan, fold)
    size = 12 if small else 13
    lines = wrap(title(goal), wide - 20, 2, size)
    if fold.why == "rank":
        ends = (plan.by_id[fold.members[0]].goal, f"… {title(plan.by_id[fold.members[-1]].goal)}")
        lines = tuple(clip(title(end), wide - 20, size) for end in ends)
    return Node(
        id=id, href=links.open_href(fold.id), shape="fold", name=words.steps_word(len(fold.steps)),
        goal=spoken(goal), width=wide, height=box_height(len(lines)) + 18, lines=lines, small=small, backs=1,
        covers=frozenset(fold.steps), total=len(fold.steps), about=_range(fold), hides=fold.steps,
    )  # fmt: skip


def _range(fold: Fold) -> str:
    """The first and the last id of a fold."""
    return f"{fold.members[0]} … {fold.members[-1]}" if len(fold.members) > 1 else fold.members[0]


def step_width(side_by_side: int) -> int:
    """Boxes are narrower where many stand side by side."""
    return next((wide for limit, wide in WIDTHS if side_by_side <= limit), NARROW)


def notes_badge(count: int) -> list[Badge]:
    """How many notes are open, where some are."""
    return [Badge("note", count, words.notes_word(count))] if count else []


def assemble(
    plan: Plan,
    units: Sequence[Unit],
    nodes: list[Node],
    *,
    around: str | None,
    kind: Callable[[int, int], str],
    opened: Sequence[Fold] = (),
) -> Scope:
    """A scope of ``nodes``, one per unit, with the edges and groups that the plan gives them.

    ``around`` is the group of the construct they are in; ``kind`` tells an edge's kind from the places of its ends.
    What an ``opened`` fold held stands in one block, where all of it still waits for the same and is waited for alike.
    """
    owner = {
        step_id: number
        for number, unit in enumerate(units)
        for step_id in ((unit,) if isinstance(unit, str) else unit.members)
    }
    pairs: dict[tuple[int, int], None] = {}
    for step_id, head in owner.items():
        for needed in plan.by_id[step_id].depends_on if step_id in plan.by_id else ():
            tail = owner.get(needed)
            if tail is not None and tail != head:
                pairs[tail, head] = None
    kinds = {pair: kind(*pair) for pair in pairs}
    same = [pair for pair in pairs if kinds[pair] not in {"add", "del"}]
    if len(units) > EDGES_AS_SAID or any(not isinstance(unit, str) for unit in units):
        same = reduced(len(units), same)
    told = set(same)
    edges = [pair for pair in pairs if pair in told or kinds[pair] in {"add", "del"}]
    scope = Scope(
        nodes=nodes,
        edges=[Edge(*pair, kinds[pair]) for pair in edges],
        groups=_groups(plan, units, around),
        implied=len(pairs) - len(edges),
    )
    members = [{unit} if isinstance(unit, str) else set(unit.members) for unit in units]
    for fold in sorted(opened, key=lambda each: len(each.members)):
        held = set(fold.members)
        inside = [place for place, each in enumerate(members) if each <= held]
        if len(inside) > FEW_SIDE_BY_SIDE and _stand_alike(scope, set(inside)):
            _join(scope, members, inside, fold, plan)
    return scope


def _stand_alike(scope: Scope, places: set[int]) -> bool:
    """Whether no edge joins them, and all have the same neighbours."""
    around: dict[int, set[tuple[int, bool, str]]] = {place: set() for place in places}
    for edge in scope.edges:
        kind = edge.kind if edge.kind in {"add", "del"} else ""
        if edge.tail in places and edge.head in places:
            return False
        if edge.tail in places:
            around[edge.tail].add((edge.head, True, kind))
        elif edge.head in places:
            around[edge.head].add((edge.tail, False, kind))
    return len({frozenset(each) for each in around.values()}) == 1


def _join(scope: Scope, members: list[set[str]], inside: list[int], fold: Fold, plan: Plan) -> None:
    """Move the boxes at ``inside`` into one block, which has their edges once: walked if each of them is."""
    block = Node(
        id=f"{scope.nodes[inside[0]].id}~{fold.id}", href="", shape="block", name=words.steps_word(len(fold.steps)),
        goal=plain(title(fold_title(plan, fold))), width=0, height=0,
        lanes=[Lane(Scope([scope.nodes[place] for place in inside], [], grid=True))],
    )  # fmt: skip
    first, gone = inside[0], set(inside[1:])
    at: dict[int, int] = {}
    for place in range(len(scope.nodes)):
        if place not in gone:
            at[place] = len(at)
    at |= dict.fromkeys(gone, at[first])
    scope.nodes[first] = block
    members[first] = set(fold.members)
    scope.nodes[:] = [node for place, node in enumerate(scope.nodes) if place not in gone]
    members[:] = [each for place, each in enumerate(members) if place not in gone]
    edges: dict[tuple[int, int], Edge] = {}
    for edge in scope.edges:
        moved = edges.setdefault(
            (at[edge.tail], at[edge.head]), Edge(at[edge.tail], at[edge.head], edge.kind)
        )
        if edge.kind != moved.kind:
            moved.kind = ""
    scope.edges[:] = edges.values()
    for group in groups_of(scope.groups):
        group.members[:] = dict.fromkeys(at[place] for place in group.members)


def _groups(plan: Plan, units: Sequence[Unit], around: str | None) -> list[Group]:
    known: dict[str, Group] = {}
    tops: list[Group] = []
    for number, unit in enumerate(units):
        path = _path_of(plan, unit)
        if not path:
            continue
        parts = path.split("/")
        holder: Group | None = None
        for depth in range(1, len(parts) + 1):
            here = "/".join(parts[:depth])
            if around is not None and (around == here or around.startswith(f"{here}/")):
                continue
            if here not in known:
                known[here] = Group(here, parts[depth - 1], [])
                (tops if holder is None else holder.inner).append(known[here])
            holder = known[here]
        if holder is not None:
            holder.members.append(number)
    return tops


def _path_of(plan: Plan, unit: Unit) -> str | None:
    members = (unit,) if isinstance(unit, str) else unit.members
    if not isinstance(unit, str) and unit.why == "group":
        return None
    paths = {plan.by_id[each].group if each in plan.by_id else None for each in members}
    return paths.pop() if len(paths) == 1 else None


def head_width(name: str, goal: str, right: str) -> int:
    """The least width of a container's head: as much of its title as is worth reading."""
    return round(
        31
        + min(width(plain(goal[:300]), 13, bold=True), 190)
        + 12
        + min(width(name, 11, mono=True), 110)
        + 16
        + width(right, 12, bold=True)
        + 14
    )


def loop_lines(condition: str | None) -> tuple[str, ...]:
    """A return edge's label."""
    return wrap(words.again_until(condition), RETURN_LABEL - 8, 7, 12)


def clipped(text: str, room: float, *, whole: bool = False) -> str:
    """An id in the room that is left, or nothing where too little is; ``whole``: nothing but all of it."""
    if width(text, 11, mono=True) <= room:
        return text
    return "" if whole or room < 60 else clip_middle(text, room)
