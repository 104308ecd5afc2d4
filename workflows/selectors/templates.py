"""Workflow templates as the contract shows them (contract 6)."""

from collections.abc import Mapping, Sequence
from typing import Any

from chief_project.shared import search
from chief_project.shared.caller import Caller, Right
from chief_project.shared.errors import NotFound
from chief_project.shared.paging import Page, Paging, paginate
from chief_project.shared.reading import one_moment
from workflows import mappers, models
from workflows.domain.templates import Parameter, Preview, preview_extracted, preview_filled
from workflows.selectors._find import find


def no_template(template_id: str) -> NotFound:
    """The refusal for an id that names no template."""
    return NotFound(
        f"there is no template '{template_id}': list_templates (GET /v1/templates) names them",
        template_id=template_id,
    )


def list_templates(
    *, caller: Caller, paging: Paging, status: str | None = None, q: str | None = None
) -> Page:
    """Templates, the newest first; eight statements at most. ``status``: ``active`` or ``archived``.

    ``q`` finds beginnings of words in ids, titles, descriptions and goals.
    """
    caller.must(Right.READ, "list templates")
    rows = models.WorkflowTemplate.objects.filter(search.matching("template", q))
    if status is not None:
        rows = rows.filter(status=status)
    with one_moment():
        page = paginate(rows, order=("-id",), paging=paging)
        plans = mappers.load_plans(row.plan_id for row in page.rows)
    return page.map(lambda row: mappers.template_document(row, plans[row.plan_id]))


def get_template(*, caller: Caller, template_id: str) -> dict[str, Any]:
    """The ``Template``; archived ones can be read. One statement, and six where the plan isn't cached."""
    caller.must(Right.READ, "read a template")
    with one_moment():
        row = _find(template_id)
        return mappers.template_document(row, mappers.load_plan(row.plan_id))


def export_template(*, caller: Caller, template_id: str) -> dict[str, Any]:
    """Exactly the body that creates this template, its id included: posted again it is the same template."""
    caller.must(Right.READ, "export a template")
    with one_moment():
        row = _find(template_id)
        content = mappers.template_content(row, mappers.load_plan(row.plan_id))
        return {"template_id": row.template_id, **mappers.content_document(content)}


def preview_template(*, caller: Caller, template_id: str, parameters: Mapping[str, str]) -> Preview:
    """The workflow that ``parameters`` would make of the template, and what would be refused. Writes nothing."""
    caller.must(Right.READ, "read a template")
    with one_moment():
        row = _find(template_id)
        plan = mappers.load_plan(row.plan_id)
    return preview_filled(mappers.template_content(row, plan), parameters)


def preview_template_from_workflow(
    *,
    caller: Caller,
    workflow_id: str,
    substitutions: Mapping[str, str],
    title: str | None = None,
    parameters: Sequence[Parameter] = (),
) -> Preview:
    """The template that a workflow's plan would become, and what would be refused. Writes nothing.

    ``title`` as ``create_template_from_workflow`` takes it.
    """
    caller.must(Right.READ, "read a workflow")
    with one_moment():
        row = find(workflow_id)
        plan = mappers.load_plan(row.plan_id)
    return preview_extracted(
        row.title, plan, substitutions=substitutions, parameters=parameters, instead=title
    )


def count_workflows_of(*, caller: Caller, template_id: str) -> int:
    """How many workflows were made from a template, deleted ones left out."""
    caller.must(Right.READ, "read a template")
    return models.Workflow.objects.filter(template_id=template_id).count()


def _find(template_id: str) -> models.WorkflowTemplate:
    row = models.WorkflowTemplate.objects.filter(template_id=template_id).first()
    if row is None:
        raise no_template(template_id)
    return row
