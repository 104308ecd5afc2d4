"""Workflow templates as the contract shows them (contract 6)."""

from typing import Any

from chief_project.shared import search
from chief_project.shared.caller import Caller, Right
from chief_project.shared.errors import NotFound
from chief_project.shared.paging import Page, Paging, paginate
from chief_project.shared.reading import one_moment
from workflows import mappers, models


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


def _find(template_id: str) -> models.WorkflowTemplate:
    row = models.WorkflowTemplate.objects.filter(template_id=template_id).first()
    if row is None:
        raise no_template(template_id)
    return row
