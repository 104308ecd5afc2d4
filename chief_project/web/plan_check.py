"""What is wrong with a plan that someone is still writing: what REST would refuse, all of it at once. Writes nothing.

REST says first what is no document, and what breaks the rules only of a document. Who types would see problems come
and go with every blank field. So where fields are no good, the rest of the plan is judged with stand-ins for them.
"""

from dataclasses import replace
from typing import Any, TypeVar

from pydantic import ValidationError

from chief_project.shared.documents import Document
from chief_project.shared.errors import ValidationFailed
from chief_project.shared.pointers import pointer
from chief_project.shared.serializers import document_problems, parse_document
from chief_project.web import plan_form
from workflows.documents import GroupDocument, StepDocument, WorkflowCreate, WorkflowRevise, plan_value
from workflows.domain.rules import Problem, problems

D = TypeVar("D", bound=Document)


def check(document: Any, shape: type[WorkflowCreate] | type[WorkflowRevise]) -> list[Problem]:
    """Every problem of ``document`` as a ``shape``, in plan order of its kind; rows that say nothing are no problem."""
    obstacle = plan_form.obstacle(document)
    if obstacle is not None:
        return [obstacle]
    try:
        plan_form.read_json(plan_form.json_text(document, indent=None))
    except ValidationFailed as refused:  # what no document may hold, such as NUL
        return [Problem(refused.details.get("pointer", ""), refused.message)]
    found = plan_form.row_problems(document)
    document = plan_form.without_rows(document)
    try:
        body = shape.model_validate(document)
    except ValidationError as refused:
        told = document_problems(refused, document)
        found += [Problem(pointer(where), _better(document, where, said)) for where, said in told]
        found += _of_rules(document, [where for where, _ in told])
    else:
        found += problems(plan_value(body.steps, body.groups or []))
    blank = tuple(plan_form.blank_rows(document))
    return [each for each in found if not _at(each.pointer, blank)]


def as_posted(shape: type[D], document: dict[str, Any]) -> D:
    """``document`` as REST takes it; raises ``ValidationFailed`` also for what its parser would not have let in."""
    plan_form.read_json(plan_form.json_text(document, indent=None))
    return parse_document(shape, document)


def _better(document: Any, where: tuple[str | int, ...], said: str) -> str:
    """A text that should have become JSON is told what hinders it."""
    here = document
    for token in where:
        if isinstance(here, str) or (isinstance(here, dict) and token not in here):
            return said
        here = here[token]
    raw = isinstance(here, str) and said in ("must be an object", "must be an array")
    return plan_form.not_json(here) if raw else said


def _of_rules(document: dict[str, Any], refused_at: list[tuple[str | int, ...]]) -> list[Problem]:
    steps = [dict(step) for step in document.get("steps", [])]
    groups = document.get("groups") or []
    for where in refused_at:
        if len(where) > 2 and where[0] == "steps":
            steps[int(where[1])].pop(str(where[2]), None)
        elif where and where[0] == "groups":
            groups = []
    names = [
        step.get("id") or given.get("id")
        for step, given in zip(steps, document.get("steps", []), strict=True)
    ]
    standing = [{"id": f"stand-in-{at}", "type": "task", "goal": "?"} | step for at, step in enumerate(steps)]
    try:
        plan = plan_value(
            [StepDocument.model_validate(step) for step in standing],
            [GroupDocument.model_validate(group) for group in groups],
        )
    except ValidationError:
        return []
    named = tuple(
        replace(step, id=name) if isinstance(name, str) and name and name != step.id else step
        for step, name in zip(plan.steps, names, strict=True)
    )
    # What follows from a stand-in is nobody's fault, and a step without its type can't be judged at all.
    told = tuple(
        pointer(where[:2] if where[2] == "type" else where[:3]) if len(where) > 2 else pointer(where[:1])
        for where in refused_at
        if where
    )
    return [each for each in problems(replace(plan, steps=named)) if not _at(each.pointer, told)]


def _at(where: str, places: tuple[str, ...]) -> bool:
    return any(where == place or where.startswith(f"{place}/") for place in places)
