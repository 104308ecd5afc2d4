"""A plan as values: steps, groups, and the graph they make. Pure; no rule is judged here (see ``rules``)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

CONSTRUCTS = frozenset({"loop", "parallel"})


@dataclass(frozen=True, slots=True)
class Criterion:
    """A condition a task answers by ``id`` (``c1`` … by position)."""

    id: str
    text: str


@dataclass(frozen=True, slots=True)
class Field:
    """Something a checkpoint or a question asks a person for in writing."""

    name: str
    label: str | None = None
    hint: str | None = None
    required: bool = True


@dataclass(frozen=True, slots=True)
class InstanceParam:
    """A value each instance of a construct brings in its metadata."""

    name: str
    description: str | None = None
    required: bool = True


@dataclass(frozen=True, slots=True)
class Step:
    """One node of the plan. ``body`` is a tuple for constructs and ``None`` for everything else."""

    id: str
    type: str
    goal: str
    harness: str = ""
    depends_on: tuple[str, ...] = ()
    inputs: Mapping[str, Any] = field(default_factory=dict)
    outputs: Mapping[str, Any] = field(default_factory=dict)
    criteria: tuple[Criterion, ...] = ()
    body: tuple[str, ...] | None = None
    on_instance_failure: str | None = None
    exit_when: str | None = None
    instance_params: tuple[InstanceParam, ...] = ()
    fields: tuple[Field, ...] = ()
    group: str | None = None

    @property
    def is_construct(self) -> bool:
        """A loop or a parallel: its body runs once per instance."""
        return self.type in CONSTRUCTS


@dataclass(frozen=True, slots=True)
class Group:
    """What a display path stands for."""

    path: str
    description: str = ""


@dataclass(frozen=True)
class Plan:
    """Steps in the order they were submitted, and the groups that are described.

    The derived views assume a plan that keeps the rules; they are computed once and kept with the value.
    """

    steps: tuple[Step, ...]
    groups: tuple[Group, ...] = ()

    @cached_property
    def by_id(self) -> dict[str, Step]:
        """Every step under its id."""
        return {step.id: step for step in self.steps}

    @cached_property
    def container(self) -> dict[str, str]:
        """The construct whose body lists a step; top-level steps are absent."""
        return {member: step.id for step in self.steps for member in step.body or ()}

    @cached_property
    def top_level(self) -> tuple[str, ...]:
        """The ids in no body, in plan order."""
        return tuple(step.id for step in self.steps if step.id not in self.container)

    @cached_property
    def dependents(self) -> dict[str, tuple[str, ...]]:
        """For each step id, the steps that name it in ``depends_on``, in plan order."""
        found: dict[str, list[str]] = {}
        for step in self.steps:
            for needed in step.depends_on:
                found.setdefault(needed, []).append(step.id)
        return {needed: tuple(steps) for needed, steps in found.items()}

    @cached_property
    def rank(self) -> dict[str, int]:
        """A topological number within each step's scope: a dependency's is always lower (no recursion)."""
        waiting = {step.id: len(set(step.depends_on)) for step in self.steps}
        ready = [step.id for step in self.steps if not waiting[step.id]]
        order: dict[str, int] = {}
        position = 0
        while position < len(ready):
            current = ready[position]
            order[current] = position
            position += 1
            for dependent in self.dependents.get(current, ()):
                waiting[dependent] -= 1
                if not waiting[dependent]:
                    ready.append(dependent)
        return order

    def scope(self, construct_id: str | None) -> tuple[str, ...]:
        """The step ids of the top level (``None``) or of one construct's body."""
        return self.top_level if construct_id is None else (self.by_id[construct_id].body or ())

    def downstream(self, step_id: str) -> set[str]:
        """Every step that waits for ``step_id``, directly or through others of the same scope."""
        found: set[str] = set()
        frontier = [step_id]
        while frontier:
            for dependent in self.dependents.get(frontier.pop(), ()):
                if dependent not in found:
                    found.add(dependent)
                    frontier.append(dependent)
        return found


@dataclass(frozen=True, slots=True)
class KeptPlan:
    """A plan as it is kept: ``key`` names it for ever, so that what is made of it can be cached; ``title`` goes with it."""

    key: int
    plan: Plan
    title: str
