"""A plan under a set of operations (contract 4). Pure.

Operations apply one after the other, and each may build on those before it; the rules of contract 2 are judged once,
over the plan that comes out, so that a removal and the rewiring around it stand in one set. What the operations do to
a run's state is ``effects``.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace

from amendments.domain.operations import INSERTS, Operation, place
from chief_project.shared.errors import ChiefError, Conflict, NotFound, ValidationFailed
from workflows.domain.plan import Group, Plan, Step
from workflows.domain.rules import ensure_valid, group_paths


class Draft:
    """A plan while it changes: steps by id, their order, and the ids that this set inserted and removed.

    ``never`` are the ids that amendments removed before, in any run of the workflow.
    """

    def __init__(self, plan: Plan, never: Iterable[str] = ()) -> None:
        self._groups = plan.groups
        self._described_before = group_paths(plan.steps)
        self._never = frozenset(never)
        self.order = [step.id for step in plan.steps]
        self.steps = dict(plan.by_id)
        self.inserted: set[str] = set()
        self.removed: set[str] = set()

    def holder(self, step_id: str) -> str | None:
        """The construct whose body lists the step as things stand, ``None`` at top level."""
        return next((step.id for step in self.steps.values() if step_id in (step.body or ())), None)

    def apply(self, index: int, operation: Operation) -> None:
        """Apply one operation; ``index`` says in a refusal which one it was."""
        self._must_know(index, operation)
        if operation.op in INSERTS:
            self._insert(index, operation)
        elif operation.op == "update_step":
            self._update(index, operation)
        elif operation.op == "remove_step":
            self._remove(operation.target)

    def plan(self) -> Plan:
        """The plan that comes out, judged whole. A group that the set emptied loses its description (contract 12)."""
        steps = tuple(self.steps[step_id] for step_id in self.order)
        emptied = self._described_before - group_paths(steps)
        groups: tuple[Group, ...] = tuple(group for group in self._groups if group.path not in emptied)
        changed = Plan(steps, groups)
        try:
            ensure_valid(changed)
        except ValidationFailed as problem:
            details = {"of": "the plan after the amendment"} | problem.details
            raise ValidationFailed(
                f"the plan after the amendment would break a rule: {problem.message}", **details
            ) from None
        return changed

    def _must_know(self, index: int, operation: Operation) -> None:
        target = operation.target
        if target in self.steps:
            return
        where = place(index, "target_step_id")
        if target in self.removed:
            raise NotFound(
                f"unknown step '{target}': an earlier operation of this amendment removes it", **where
            )
        if target in self._never:
            raise NotFound(f"unknown step '{target}': an amendment removed it from the plan", **where)
        raise NotFound(
            f"unknown step '{target}': the run's plan has no such step; get_run names them (GET /v1/runs/{{id}}/definition)",
            **where,
        )

    def _insert(self, index: int, operation: Operation) -> None:
        step = _step_of(operation)
        where = place(index, "step", "id")
        if step.id in self.steps:
            raise Conflict(
                f"step id '{step.id}' is already in use in this plan: choose another, or use update_step",
                **where,
            )
        if step.id in self.removed or step.id in self._never:
            raise Conflict(
                f"step id '{step.id}' belonged to a step that was removed, and an id is never reused in any run of"
                " its workflow: choose another",
                **where,
            )
        after = operation.op == "insert_after"
        self.order.insert(self.order.index(operation.target) + after, step.id)
        self.steps[step.id] = step
        self.inserted.add(step.id)
        holder = self.holder(operation.target)
        if holder is not None and self.holder(step.id) is None:
            body = list(self.steps[holder].body or ())
            body.insert(body.index(operation.target) + after, step.id)
            self.steps[holder] = replace(self.steps[holder], body=tuple(body))

    def _update(self, index: int, operation: Operation) -> None:
        step = _step_of(operation)
        if step.id != operation.target:
            raise ValidationFailed(
                f"update_step keeps the step's id: ids are permanent, so '{operation.target}' can't become"
                f" '{step.id}'; insert a new step and remove the old one instead",
                **place(index, "step", "id"),
            )
        self.steps[step.id] = step

    def _remove(self, step_id: str) -> None:
        del self.steps[step_id]
        self.order.remove(step_id)
        self.removed.add(step_id)
        for step in list(self.steps.values()):
            if step_id in (step.body or ()):
                body = tuple(member for member in step.body or () if member != step_id)
                self.steps[step.id] = replace(step, body=body)


def patch(plan: Plan, operations: Sequence[Operation], *, never: Iterable[str] = ()) -> Plan:
    """The plan after ``operations``; a replay changes none, and the very same plan comes back when nothing does.

    Raises ``NotFound`` for an unknown target, ``Conflict`` for an id that was used, ``ValidationFailed`` for the
    rest; ``details.operation`` names the operation where one alone is to blame.
    """
    if all(operation.op == "replay_step" for operation in operations):
        return plan
    draft = Draft(plan, never)
    for index, operation in enumerate(operations):
        draft.apply(index, operation)
    changed = draft.plan()
    return plan if same_plan(changed, plan) else changed


def patch_head(
    plan: Plan, operations: Sequence[Operation], *, never: Iterable[str] = ()
) -> tuple[Plan, None] | tuple[None, str]:
    """The workflow's head after ``operations``, or why they don't apply to it.

    A replay re-runs work of one run and says nothing about the shared plan, so it fits whatever the head says.
    """
    shared = [operation for operation in operations if operation.op != "replay_step"]
    try:
        return patch(plan, shared, never=never), None
    except ChiefError as problem:
        return None, problem.message


def same_plan(one: Plan, other: Plan) -> bool:
    """Equal in every word, where ``1``, ``1.0`` and ``true`` are three values of an input."""
    return (
        one.groups == other.groups
        and len(one.steps) == len(other.steps)
        and all(map(_same_step, one.steps, other.steps))
    )


def _same_step(one: Step, other: Step) -> bool:
    if one is other:
        return True
    return one == other and all(
        json.dumps(mine, sort_keys=True) == json.dumps(theirs, sort_keys=True)
        for mine, theirs in ((one.inputs, other.inputs), (one.outputs, other.outputs))
    )


def released(before: Plan, after: Plan) -> list[tuple[str, str]]:
    """The body steps that stand at top level afterwards, each with the construct that held it, in plan order."""
    return [
        (step_id, before.container[step_id]) for step_id in after.top_level if step_id in before.container
    ]


def moved(before: Plan, after: Plan) -> list[str]:
    """The steps of both plans whose scope changed, in plan order."""
    return [
        step.id
        for step in after.steps
        if step.id in before.by_id and before.container.get(step.id) != after.container.get(step.id)
    ]


def _step_of(operation: Operation) -> Step:
    assert operation.step is not None, operation.op
    return operation.step
