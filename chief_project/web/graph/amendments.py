"""An amendment's scene: the plan before and after laid out as one, so that no view of it moves a box."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from chief_project.web.graph import words
from chief_project.web.graph.folding import Folding
from chief_project.web.graph.parts import Links, box_height, filled, title
from chief_project.web.graph.plans import plan_scene
from chief_project.web.graph.runs import run_scene
from chief_project.web.graph.scene import Node, Scope
from chief_project.web.graph.text import spoken, width, wrap
from workflows.domain.diff import plan_diff
from workflows.domain.plan import Plan, Step


@dataclass(frozen=True)
class Both:
    """Two plans as one. ``kinds``: added, removed or changed per step id; ``edges``: add or del per ``(from, to)``.

    ``fields`` are the names of what changed on a changed step; ``again`` the paths that run again (a step's, or an
    instance's), and ``kept`` every step that must have a box of its own.
    """

    plan: Plan
    before: Plan
    kinds: Mapping[str, str]
    fields: Mapping[str, frozenset[str]]
    edges: Mapping[tuple[str, str], str]
    again: frozenset[str]
    kept: frozenset[str]


def both(before: Plan, after: Plan, operations: Sequence[Mapping[str, Any]]) -> Both:
    """What two plans have in common and what differs. A removed step stands in the scope it stood in, if that is left."""
    gone = [step for step in before.steps if step.id not in after.by_id]
    home = dict(after.container)
    for step in gone:
        holder = before.container.get(step.id)
        if holder is not None and before.by_id[holder].is_construct and _stays(holder, before, after):
            home[step.id] = holder
    members: dict[str, list[str]] = {}
    for step_id, holder in home.items():
        members.setdefault(holder, []).append(step_id)
    steps = [*after.steps, *gone]
    edges: dict[tuple[str, str], str] = {}
    for step in steps:
        former = before.by_id.get(step.id)
        later = after.by_id.get(step.id)
        old = set(former.depends_on) if former else set()
        new = set(later.depends_on) if later else set()
        for needed in (*(later.depends_on if later else ()), *(former.depends_on if former else ())):
            if home.get(needed) == home.get(step.id):
                kind = "" if needed in old and needed in new else "add" if needed in new else "del"
                edges[needed, step.id] = kind
    _without_cycles(edges)
    waits: dict[str, list[str]] = {}
    for tail, head in edges:
        waits.setdefault(head, []).append(tail)
    union = Plan(
        tuple(
            _in_union(step, tuple(waits.get(step.id, ())), tuple(members.get(step.id, ()))) for step in steps
        ),
        after.groups,
    )
    changed = {each["step_id"]: frozenset(each["fields"]) for each in plan_diff(before, after)["changed"]}
    kinds = {step.id: "removed" for step in gone}
    kinds |= {step.id: "added" for step in after.steps if step.id not in before.by_id}
    kinds |= dict.fromkeys(changed, "changed")
    again = {_path(operation, union) for operation in operations if operation.get("op") == "replay_step"}
    kept = {*kinds, *(part for path in again for part in path.split("/"))}
    kept |= {end for edge, kind in edges.items() if kind for end in edge}
    for step_id in list(kept):
        holder = union.container.get(step_id)
        while holder is not None:
            kept.add(holder)
            holder = union.container.get(holder)
    return Both(union, before, kinds, changed, edges, frozenset(again), frozenset(kept & union.by_id.keys()))


def _stays(holder: str, before: Plan, after: Plan) -> bool:
    """Whether a construct is drawn as one: it is left, or it goes with its body."""
    return after.by_id[holder].is_construct if holder in after.by_id else before.by_id[holder].is_construct


def _in_union(step: Step, waits: tuple[str, ...], members: tuple[str, ...]) -> Step:
    if step.is_construct and not members:  # all it held went elsewhere
        return replace(step, type="task", body=None, depends_on=waits)
    return replace(step, depends_on=waits, body=members if step.is_construct else None)


def _without_cycles(edges: dict[tuple[str, str], str]) -> None:
    """Take out the edges that go, where with those that come they would run in a circle."""
    after: dict[str, set[str]] = {}
    for (tail, head), kind in edges.items():
        if kind != "del":
            after.setdefault(tail, set()).add(head)
    for (tail, head), kind in list(edges.items()):
        if kind != "del":
            continue
        if _reaches(after, head, tail):
            del edges[tail, head]
        else:
            after.setdefault(tail, set()).add(head)


def _reaches(after: Mapping[str, set[str]], start: str, goal: str) -> bool:
    seen, frontier = {start}, [start]
    while frontier:
        current = frontier.pop()
        if current == goal:
            return True
        frontier += after.get(current, set()) - seen
        seen |= after.get(current, set())
    return False


def _path(operation: Mapping[str, Any], plan: Plan) -> str:
    """What a replay runs again: a step's path or an instance's."""
    target = str(operation.get("target_step_id"))
    scope = operation.get("instance_path")
    if scope is None and operation.get("instance_id") is not None:
        scope = f"{plan.container.get(target, target)}/{operation['instance_id']}"
    if scope is None:
        return target
    if not isinstance(scope, str):
        scope = "/".join(scope)
    parts = scope.split("/")
    return scope if len(parts) > 1 and parts[-2] == target else f"{scope}/{target}"


def amendment_scene(
    two: Both, folding: Folding, links: Links, *, run: Mapping[str, Any] | None, view: str, yours: bool
) -> Scope:
    """Boxes for both plans at once, dressed for one view. Which view it is changes no size."""
    scope = (
        plan_scene(two.plan, folding, links, notes={}, marks={})
        if run is None
        else run_scene(two.plan, run, folding, links, words.Voice(yours))
    )
    _dress(scope, two, view)
    return scope


def _dress(scope: Scope, two: Both, view: str) -> None:
    for node in scope.nodes:
        step_id = node.id.rsplit("/", 1)[-1]
        kind = two.kinds.get(step_id) if not node.covers or "*" in node.id else None
        if {node.id, step_id} & two.again:
            node.inset = AGAIN + round(width(words.again_word(), 12))
        if kind == "changed":
            _words_of(node, step_id, two, view)
        if kind in {"added", "removed"} and node.state in {"pending", "skipped"}:
            node.state, node.word = None, ""  # it has none yet, or none any more
        if view == "both":
            node.ghost = kind
            node.what = words.change_word(kind, two.fields.get(step_id, frozenset())) if kind else ""
        node.hidden = (kind == "added" and view == "before") or (kind == "removed" and view == "after")
        if node.inset and view != "before":
            node.again_word = words.again_word()
        for lane in node.lanes:
            if lane.id in two.again and view != "before":
                lane.what = words.again_word()
            _dress(lane.scope, two, view)
    for edge in scope.edges:
        tail, head = scope.nodes[edge.tail], scope.nodes[edge.head]
        kind = two.edges.get((tail.id.rsplit("/", 1)[-1], head.id.rsplit("/", 1)[-1]), "")
        edge.hidden = (kind == "add" and view == "before") or (kind == "del" and view == "after")
        edge.shift = {"add": -SHIFT, "del": SHIFT}.get(kind, 0)
        if kind and view == "both":
            edge.kind = kind


AGAIN = 44
"""Room on a box's side for the arrow that says it runs again; its word comes to that."""

SHIFT = 20
"""How far edges that come and go keep from those that stay, in pixels."""


def _words_of(node: Node, step_id: str, two: Both, view: str) -> None:
    """The goal as this view has it, in a box that has room for both."""
    goals = {"before": two.before.by_id[step_id].goal, "after": two.plan.by_id[step_id].goal}
    if node.lanes or node.shape == "tally":
        if view == "before":
            node.goal = spoken(goals["before"])
        return
    room = node.width - 20 - (28 if node.shape == "checkpoint" else 0)
    lines = {
        when: wrap(title(filled(goal, node.values)), room, 3 if node.small else 2, 12 if node.small else 13)
        for when, goal in goals.items()
    }
    shown = "before" if view == "before" else "after"
    node.height = max(node.height, *(box_height(len(each)) for each in lines.values()))
    node.lines, node.goal = lines[shown], spoken(filled(goals[shown], node.values))
