"""Plans: rows ⇄ values ⇄ documents. A plan never changes, so its values are cached by id without invalidation."""

from collections import OrderedDict
from datetime import datetime
from threading import Lock
from typing import Any

from workflows import models
from workflows.domain.plan import CONSTRUCTS, Criterion, Field, Group, InstanceParam, Plan, Step

_CACHE_STEPS = 50_000
_BATCH = 2_000


class _PlanCache:
    """The most recently used plans, bounded by the steps they hold together."""

    def __init__(self, most_steps: int) -> None:
        self._most_steps = most_steps
        self._held = 0
        self._plans: OrderedDict[int, Plan] = OrderedDict()
        self._lock = Lock()

    def get(self, plan_pk: int) -> Plan | None:
        with self._lock:
            plan = self._plans.get(plan_pk)
            if plan is not None:
                self._plans.move_to_end(plan_pk)
            return plan

    def put(self, plan_pk: int, plan: Plan) -> None:
        with self._lock:
            if plan_pk in self._plans:
                return
            self._plans[plan_pk] = plan
            self._held += len(plan.steps)
            while self._held > self._most_steps and len(self._plans) > 1:
                self._held -= len(self._plans.popitem(last=False)[1].steps)

    def clear(self) -> None:
        with self._lock:
            self._plans.clear()
            self._held = 0


plan_cache = _PlanCache(_CACHE_STEPS)


def save_plan(plan: Plan, *, at: datetime) -> models.Plan:
    """Write a plan's rows in bulk: a fixed number of statements per 2,000 rows of a kind."""
    row = models.Plan.objects.create(created_at=at, step_count=len(plan.steps))
    steps = [
        models.Step(
            plan=row,
            position=position,
            step_id=step.id,
            type=step.type,
            goal=step.goal,
            harness=step.harness,
            inputs=step.inputs,
            outputs=step.outputs,
            on_instance_failure=step.on_instance_failure,
            exit_when=step.exit_when,
            group=step.group,
        )
        for position, step in enumerate(plan.steps)
    ]
    models.Step.objects.bulk_create(steps, batch_size=_BATCH)
    rows = {step.step_id: step for step in steps}
    contained = []
    for step in plan.steps:
        for place, member in enumerate(step.body or ()):
            rows[member].container, rows[member].body_position = rows[step.id], place
            contained.append(rows[member])
    if contained:
        models.Step.objects.bulk_update(contained, ["container", "body_position"], batch_size=_BATCH)
    pairs = list(zip(steps, plan.steps, strict=True))
    models.Dependency.objects.bulk_create(
        (
            models.Dependency(step=own, position=place, needs=rows[needed])
            for own, step in pairs
            for place, needed in enumerate(step.depends_on)
        ),
        batch_size=_BATCH,
    )
    models.Criterion.objects.bulk_create(
        (
            models.Criterion(step=own, position=place, text=criterion.text)
            for own, step in pairs
            for place, criterion in enumerate(step.criteria)
        ),
        batch_size=_BATCH,
    )
    models.CheckpointField.objects.bulk_create(
        (
            models.CheckpointField(
                step=own,
                position=place,
                name=asked.name,
                label=asked.label,
                hint=asked.hint,
                required=asked.required,
            )
            for own, step in pairs
            for place, asked in enumerate(step.fields)
        ),
        batch_size=_BATCH,
    )
    models.InstanceParameter.objects.bulk_create(
        (
            models.InstanceParameter(
                step=own,
                position=place,
                name=param.name,
                description=param.description,
                required=param.required,
            )
            for own, step in pairs
            for place, param in enumerate(step.instance_params)
        ),
        batch_size=_BATCH,
    )
    models.Group.objects.bulk_create(
        (
            models.Group(plan=row, position=place, path=group.path, description=group.description)
            for place, group in enumerate(plan.groups)
        ),
        batch_size=_BATCH,
    )
    return row


def load_plan(plan_pk: int) -> Plan:
    """A plan by its row's id: from the cache, or in six statements."""
    plan = plan_cache.get(plan_pk)
    if plan is None:
        plan = _read_plan(plan_pk)
        plan_cache.put(plan_pk, plan)
    return plan


def _read_plan(plan_pk: int) -> Plan:
    rows = list(
        models.Step.objects.filter(plan=plan_pk)
        .order_by("position")
        .values_list(
            "pk",
            "step_id",
            "type",
            "goal",
            "harness",
            "inputs",
            "outputs",
            "on_instance_failure",
            "exit_when",
            "group",
            "container",
            "body_position",
        )
    )
    name = {row[0]: row[1] for row in rows}
    bodies: dict[int, list[tuple[int, str]]] = {}
    for row in rows:
        if row[10] is not None:
            bodies.setdefault(row[10], []).append((row[11], row[1]))

    def of_steps(model: Any, *fields: str) -> dict[int, list[tuple[Any, ...]]]:
        found: dict[int, list[tuple[Any, ...]]] = {}
        query = model.objects.filter(step__plan=plan_pk).order_by("step_id", "position")
        for step_pk, *values in query.values_list("step_id", *fields):
            found.setdefault(step_pk, []).append(tuple(values))
        return found

    needs = of_steps(models.Dependency, "needs_id")
    criteria = of_steps(models.Criterion, "text")
    fields = of_steps(models.CheckpointField, "name", "label", "hint", "required")
    params = of_steps(models.InstanceParameter, "name", "description", "required")
    groups = models.Group.objects.filter(plan=plan_pk).order_by("position").values_list("path", "description")
    return Plan(
        steps=tuple(
            Step(
                id=step_id,
                type=type_,
                goal=goal,
                harness=harness,
                depends_on=tuple(name[needed] for (needed,) in needs.get(pk, ())),
                inputs=inputs,
                outputs=outputs,
                criteria=tuple(
                    Criterion(id=f"c{place}", text=text)
                    for place, (text,) in enumerate(criteria.get(pk, ()), 1)
                ),
                body=tuple(member for _, member in sorted(bodies.get(pk, ())))
                if type_ in CONSTRUCTS
                else None,
                on_instance_failure=on_failure,
                exit_when=exit_when,
                instance_params=tuple(InstanceParam(*values) for values in params.get(pk, ())),
                fields=tuple(Field(*values) for values in fields.get(pk, ())),
                group=group,
            )
            for pk, step_id, type_, goal, harness, inputs, outputs, on_failure, exit_when, group, _, _ in rows
        ),
        groups=tuple(Group(path, description) for path, description in groups),
    )


def step_document(step: Step) -> dict[str, Any]:
    """A step as the contract shows it: every key, ``null`` or empty where unset (contract 2)."""
    return {
        "id": step.id,
        "type": step.type,
        "goal": step.goal,
        "harness": step.harness,
        "depends_on": list(step.depends_on),
        "inputs": step.inputs,
        "outputs": step.outputs,
        "criteria": [{"id": criterion.id, "text": criterion.text} for criterion in step.criteria],
        "body": None if step.body is None else list(step.body),
        "on_instance_failure": step.on_instance_failure,
        "exit_when": step.exit_when,
        "instance_params": [
            {"name": param.name, "description": param.description, "required": param.required}
            for param in step.instance_params
        ],
        "fields": [field_document(asked) for asked in step.fields],
        "group": step.group,
        "ref_template_id": None,
        "ref_parameters": {},
    }


def field_document(asked: Field) -> dict[str, Any]:
    """A declared field of a checkpoint or a question."""
    return {"name": asked.name, "label": asked.label, "hint": asked.hint, "required": asked.required}


def group_document(group: Group) -> dict[str, Any]:
    """A described display path (contract 12)."""
    return {"path": group.path, "description": group.description}
