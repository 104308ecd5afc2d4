"""The scene of a plan: every step as it was planned, constructs open."""

from collections.abc import Mapping

from chief_project.web.graph import words
from chief_project.web.graph.folding import Folding, Unit
from chief_project.web.graph.parts import (
    Links,
    assemble,
    box,
    fold_box,
    head_width,
    loop_lines,
    notes_badge,
    step_width,
)
from chief_project.web.graph.scene import Lane, Node, Scope
from chief_project.web.graph.text import plain, spoken
from workflows.domain.plan import Plan, Step


def plan_scene(
    plan: Plan,
    folding: Folding,
    links: Links,
    *,
    notes: Mapping[str, int],
    marks: Mapping[str, str],
) -> Scope:
    """Boxes for the whole plan."""

    def scope(construct: Step | None) -> Scope:
        within = None if construct is None else construct.id
        units = folding.scopes[within]
        wide = step_width(folding.widest[within])
        nodes = [node(unit, wide) for unit in units]
        return assemble(
            plan,
            units,
            nodes,
            around=None if construct is None else construct.group,
            kind=lambda *_: "",
            opened=folding.opened,
        )

    def node(unit: Unit, wide: int) -> Node:
        if not isinstance(unit, str):
            made = fold_box(plan, unit, id=unit.id, links=links, wide=wide, small=wide < 200)
            made.badges = notes_badge(sum(notes.get(each, 0) for each in unit.steps))
            told = [plain(marks[each]) for each in unit.steps if each in marks]
            made.what = told[0] if len(set(told)) == 1 else f"{len(told)} ±" if told else ""
            return made
        step = plan.by_id[unit]
        if step.is_construct:
            made = container(step, id=unit, href=links.href(unit), scope=scope(step))
        else:
            made = box(step, id=unit, href=links.href(unit), wide=wide, goal=step.goal, small=wide < 200)
        made.badges = notes_badge(notes.get(unit, 0))
        made.what = plain(marks.get(unit, ""))
        return made

    return scope(None)


def container(step: Step, *, id: str, href: str, scope: Scope) -> Node:  # noqa: A002 - it is one
    """A loop or a parallel as it was planned: its body once."""
    about = "" if step.type == "loop" else words.lane_per([param.name for param in step.instance_params])
    return Node(
        id=id, href=href, shape=step.type, name=step.id, goal=spoken(step.goal),
        width=head_width(step.id, step.goal, about), height=0, about=about, lanes=[Lane(scope)],
        again=loop_lines(step.exit_when) if step.type == "loop" else (), backs=0 if step.type == "loop" else 1,
    )  # fmt: skip
