"""A plan as a nested list, for ``templates/parts/plan_outline.html``. Pure; no recursion, however deep bodies nest."""

import json
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from chief_project.shared.text.plain import unmarked
from workflows.domain.plan import Plan, Step
from workflows.domain.templates import pieces

Name = TypeVar("Name", bound=Hashable)
Piece = tuple[str, bool]


@dataclass(frozen=True, slots=True)
class Node:
    """One line of the outline, and how its list nests: ``opens`` a body's list; then ``closes`` so many lists.

    ``ends`` is a range of that length, since a template counts with nothing else.
    """

    step: Step
    depth: int
    opens: bool
    closes: int
    href: str | None = None
    selected: bool = False
    notes: int = 0

    @property
    def ends(self) -> range:
        """One round per list that ends after this line."""
        return range(self.closes)

    @property
    def goal(self) -> list[Piece]:
        """The goal without the marks of code and strong text, cut at its placeholders."""
        return pieces(unmarked(self.step.goal))

    @property
    def criteria(self) -> list[list[Piece]]:
        """The criteria, likewise."""
        return [pieces(unmarked(criterion.text)) for criterion in self.step.criteria]

    @property
    def inputs(self) -> list[tuple[str, list[Piece]]]:
        """The inputs by name, cut at their placeholders; what is no text as JSON."""
        return [
            (name, pieces(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)))
            for name, value in self.step.inputs.items()
        ]


def outline_of(
    plan: Plan,
    *,
    link: Callable[[Step], str] | None = None,
    selected: str | None = None,
    notes: Mapping[str, int] | None = None,
) -> list[Node]:
    """Every step once, in plan order, a construct's body below it in body order.

    ``link``: where a step's line leads; ``notes``: open notes by step id, for their count beside it.
    """
    bodies = {step.id: step.body for step in plan.steps if step.body}
    counts = notes or {}
    return [
        Node(
            step=(step := plan.by_id[name]),
            depth=depth,
            opens=name in bodies,
            closes=closes,
            href=None if link is None else link(step),
            selected=name == selected,
            notes=counts.get(name, 0),
        )
        for name, depth, closes in nested(plan.top_level, bodies)
    ]


def reading_order(plan: Plan) -> list[str]:
    """Every step's id as the outline tells them: bodies after their constructs."""
    bodies = {step.id: step.body for step in plan.steps if step.body}
    return [step_id for step_id, _depth, _closes in nested(plan.top_level, bodies)]


def nested(roots: Sequence[Name], bodies: Mapping[Name, Sequence[Name]]) -> list[tuple[Name, int, int]]:
    """``(name, depth, lists that end after it)`` in the order of reading; a name met twice is told once only."""
    found: list[tuple[Name, int, int]] = []
    seen: set[Name] = set()
    waiting = [iter(roots)]
    while waiting:
        name = next(waiting[-1], None)
        if name is None:
            waiting.pop()
            if waiting and found:
                last, depth, closes = found[-1]
                found[-1] = (last, depth, closes + 1)
        elif name not in seen:
            seen.add(name)
            found.append((name, len(waiting) - 1, 0))
            if bodies.get(name):
                waiting.append(iter(bodies[name]))
    return found
