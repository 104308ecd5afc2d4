"""Plans: rows ⇄ values ⇄ documents. A plan never changes, so its values are cached by id without invalidation."""

import secrets
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import asdict
from datetime import datetime
from threading import Lock
from typing import Any

from django.db.models import Q

from chief_project.shared.rows import insert
from chief_project.shared.wire.rendering import dumps
from workflows import models
from workflows.domain.diff import step_document
from workflows.domain.plan import CONSTRUCTS, Criterion, Field, Group, InstanceParam, Plan, Step
from workflows.domain.templates import Content, Parameter
from workflows.models.plan import PLACES, PLANS
from workflows.statements import insert_rows

__all__ = [
    "content_document",
    "field_document",
    "group_document",
    "load_plan",
    "load_plans",
    "note_document",
    "plan_cache",
    "save_plan",
    "step_document",
    "template_content",
    "template_document",
    "workflow_document",
]

_CACHE_STEPS = 50_000


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
    """Write the rows of a plan that keeps the rules: one statement a table, two beyond a hundred rows."""
    plan_pk = secrets.randbelow(PLANS - 1) + 1
    row = insert(models.Plan(pk=plan_pk, created_at=at, step_count=len(plan.steps)))
    first = row.pk * PLACES
    key = {step.id: first + place for place, step in enumerate(plan.steps)}
    container, place_in_body = _bodies(plan, key)
    insert_rows(
        models.Step,
        _STEP_FIELDS,
        (
            (
                key[step.id],
                row.pk,
                step.id,
                step.type,
                step.goal,
                step.harness,
                _json(step.inputs),
                _json(step.outputs),
                step.on_instance_failure,
                step.exit_when,
                step.group,
                container.get(step.id),
                place_in_body.get(step.id),
            )
            for step in plan.steps
        ),
    )
    insert_rows(
        models.Dependency,
        ("step", "position", "needs"),
        (
            (key[step.id], place, key[needed])
            for step in plan.steps
            for place, needed in enumerate(step.depends_on)
        ),
    )
    insert_rows(
        models.Criterion,
        ("step", "position", "text"),
        (
            (key[step.id], place, criterion.text)
            for step in plan.steps
            for place, criterion in enumerate(step.criteria)
        ),
    )
    insert_rows(
        models.CheckpointField,
        ("step", "position", "name", "label", "hint", "required"),
        (
            (key[step.id], place, asked.name, asked.label, asked.hint, asked.required)
            for step in plan.steps
            for place, asked in enumerate(step.fields)
        ),
    )
    insert_rows(
        models.InstanceParameter,
        ("step", "position", "name", "description", "required"),
        (
            (key[step.id], place, param.name, param.description, param.required)
            for step in plan.steps
            for place, param in enumerate(step.instance_params)
        ),
    )
    insert_rows(
        models.Group,
        ("plan", "position", "path", "description"),
        ((row.pk, place, group.path, group.description) for place, group in enumerate(plan.groups)),
    )
    return row


_STEP_FIELDS = (
    "id",
    "plan",
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


def _bodies(plan: Plan, key: dict[str, int]) -> tuple[dict[str, int], dict[str, int]]:
    """For each step in a body: its construct's key, and its place there."""
    container: dict[str, int] = {}
    places: dict[str, int] = {}
    for step in plan.steps:
        for place, member in enumerate(step.body or ()):
            container[member], places[member] = key[step.id], place
    return container, places


def _json(value: Any) -> str:
    return dumps(value).decode() if value else "{}"


def load_plan(plan_pk: int) -> Plan:
    """A plan by its row's id: from the cache, or in six statements."""
    plan = plan_cache.get(plan_pk)
    if plan is None:
        plan = _read_plans([plan_pk])[plan_pk]
        plan_cache.put(plan_pk, plan)
    return plan


def load_plans(plan_pks: Iterable[int]) -> dict[int, Plan]:
    """Several plans by their rows' ids: those that aren't cached come together, in six statements."""
    found: dict[int, Plan] = {}
    missing = []
    for plan_pk in set(plan_pks):
        plan = plan_cache.get(plan_pk)
        if plan is None:
            missing.append(plan_pk)
        else:
            found[plan_pk] = plan
    for plan_pk, plan in _read_plans(missing).items():
        plan_cache.put(plan_pk, plan)
        found[plan_pk] = plan
    return found


def _read_plans(plan_pks: list[int]) -> dict[int, Plan]:
    if not plan_pks:
        return {}
    if len(plan_pks) == 1:
        of_plan = Q(step__gte=plan_pks[0] * PLACES, step__lt=(plan_pks[0] + 1) * PLACES)
    else:
        of_plan = Q(step__plan__in=plan_pks)
    steps: dict[int, list[tuple[Any, ...]]] = {plan_pk: [] for plan_pk in plan_pks}
    name: dict[int, str] = {}
    bodies: dict[int, list[tuple[int, str]]] = {}
    for row in models.Step.objects.filter(plan__in=plan_pks).order_by("pk").values_list(*_READ_FIELDS):
        steps[row[1]].append(row)
        name[row[0]] = row[2]
        if row[11] is not None:
            bodies.setdefault(row[11], []).append((row[12], row[2]))

    def of_steps(model: Any, *fields: str) -> dict[int, list[tuple[Any, ...]]]:
        found: dict[int, list[tuple[Any, ...]]] = {}
        for step_pk, *values in (
            model.objects.filter(of_plan).order_by("step_id", "position").values_list("step_id", *fields)
        ):
            found.setdefault(step_pk, []).append(tuple(values))
        return found

    needs = of_steps(models.Dependency, "needs_id")
    criteria = of_steps(models.Criterion, "text")
    fields = of_steps(models.CheckpointField, "name", "label", "hint", "required")
    params = of_steps(models.InstanceParameter, "name", "description", "required")
    groups: dict[int, list[Group]] = {}
    described = models.Group.objects.filter(plan__in=plan_pks).order_by("plan_id", "position")
    for plan_pk, path, description in described.values_list("plan_id", "path", "description"):
        groups.setdefault(plan_pk, []).append(Group(path, description))

    def step(row: tuple[Any, ...]) -> Step:
        pk, _, step_id, type_, goal, harness, inputs, outputs, on_failure, exit_when, group, _, _ = row
        return Step(
            id=step_id,
            type=type_,
            goal=goal,
            harness=harness,
            depends_on=tuple(name[needed] for (needed,) in needs.get(pk, ())),
            inputs=inputs,
            outputs=outputs,
            criteria=tuple(
                Criterion(id=f"c{place}", text=text) for place, (text,) in enumerate(criteria.get(pk, ()), 1)
            ),
            body=tuple(member for _, member in sorted(bodies.get(pk, ()))) if type_ in CONSTRUCTS else None,
            on_instance_failure=on_failure,
            exit_when=exit_when,
            instance_params=tuple(InstanceParam(*values) for values in params.get(pk, ())),
            fields=tuple(Field(*values) for values in fields.get(pk, ())),
            group=group,
        )

    return {
        plan_pk: Plan(steps=tuple(map(step, rows)), groups=tuple(groups.get(plan_pk, ())))
        for plan_pk, rows in steps.items()
    }


_READ_FIELDS = tuple(
    {"plan": "plan_id", "container": "container_id"}.get(name, name) for name in _STEP_FIELDS
)


def field_document(asked: Field) -> dict[str, Any]:
    """A declared field of a checkpoint or a question."""
    return {"name": asked.name, "label": asked.label, "hint": asked.hint, "required": asked.required}


def group_document(group: Group) -> dict[str, Any]:
    """A described display path (contract 12)."""
    return {"path": group.path, "description": group.description}


def workflow_document(
    row: models.Workflow, plan: Plan, *, notes: list[dict[str, Any]] | None = None
) -> dict[str, Any]:
    """A workflow as the contract shows it (contract 2); without ``review_notes`` where ``notes`` is None.

    ``review`` is null once the workflow is no draft: then nothing is under review.
    """
    document: dict[str, Any] = {
        "workflow_id": row.workflow_id,
        "title": row.title,
        "source": row.source,
        "generated_by": row.generated_by,
        "status": row.status,
        "version": row.version,
        "revision": row.revision,
        "review": {
            "state": row.review_state,
            "revision": row.review_revision,
            "by": row.review_by,
            "actor": row.review_actor,
            "at": row.review_at,
            "reason": row.review_reason,
        }
        if row.status == "draft"
        else None,
        "steps": [step_document(step) for step in plan.steps],
        "groups": [group_document(group) for group in plan.groups],
        "project": row.project,
        "origin_dir": row.origin_dir,
        "from_template": None
        if row.template_id is None
        else {
            "template_id": row.template_id,
            "template_version": row.template_version,
            "parameters": row.template_parameters,
        },
        "created_at": row.created_at,
        "updated_at": row.updated_at,
    }
    if notes is not None:
        document["review_notes"] = notes
    return document


def note_document(note: models.ReviewNote, workflow_id: str, plan: Plan) -> dict[str, Any]:
    """A review note; ``orphaned`` says that the plan as it is has no such step (contract 7)."""
    return {
        "note_id": note.note_id,
        "workflow_id": workflow_id,
        "revision": note.revision,
        "step_id": note.step_id,
        "step_goal": note.step_goal,
        "body": note.body,
        "author": note.author,
        "actor": note.actor,
        "created_at": note.created_at,
        "resolved": note.resolved,
        "resolved_at": note.resolved_at,
        "resolved_by": note.resolved_by,
        "resolved_actor": note.resolved_actor,
        "resolved_via": note.resolved_via,
        "via": note.via,
        "orphaned": note.step_id is not None and note.step_id not in plan.by_id,
    }


def template_content(row: models.WorkflowTemplate, plan: Plan) -> Content:
    """What its creator said, as a value."""
    return Content(
        title=row.title,
        description=row.description,
        parameters=tuple(Parameter(**parameter) for parameter in row.parameters),
        plan=plan,
        project=row.project,
    )


def content_document(content: Content) -> dict[str, Any]:
    """The body that creates such a template, without its id."""
    return {
        "title": content.title,
        "description": content.description,
        "parameters": [asdict(parameter) for parameter in content.parameters],
        "steps": [step_document(step) for step in content.plan.steps],
        "groups": [group_document(group) for group in content.plan.groups],
        "project": content.project,
    }


def template_document(row: models.WorkflowTemplate, plan: Plan) -> dict[str, Any]:
    """A template as the contract shows it (contract 6)."""
    return {
        "template_id": row.template_id,
        **content_document(template_content(row, plan)),
        "status": row.status,
        "version": row.version,
        "derived_from_workflow_id": row.derived_from_workflow_id,
        "created_at": row.created_at,
        "updated_at": row.updated_at,
    }
