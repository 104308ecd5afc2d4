"""How a template comes to be, whatever it is made from: a document, a workflow (contract 6)."""

from dataclasses import asdict
from datetime import datetime
from typing import Any

from chief_project.shared import audit, ids, search
from chief_project.shared.caller import Caller
from chief_project.shared.errors import Conflict
from chief_project.shared.services.use_id import use_id
from workflows import mappers, models
from workflows.domain.rules import ensure_valid
from workflows.domain.templates import Content, ensure_template, same_content


def insert_template(
    content: Content,
    *,
    caller: Caller,
    at: datetime,
    template_id: str | None = None,
    derived_from: models.Workflow | None = None,
) -> tuple[dict[str, Any], bool]:
    """The ``Template`` and whether it is new: with a used id and the same content, the template that has it.

    ``derived_from`` is locked, and heads the entry's audit stream. Raises ``ValidationFailed`` for a plan, parameters
    or placeholders that break the rules, ``Conflict`` for an id that is another template's, or was a deleted one's.
    """
    chosen = ids.mint("tpl") if template_id is None else ids.check(template_id, field="template_id")
    ensure_valid(content.plan)
    ensure_template(content)
    try:
        use_id(kind="template", value=chosen, field="template_id")
    except Conflict:
        row = models.WorkflowTemplate.objects.filter(template_id=chosen).first()
        if row is None:
            raise
        plan = mappers.load_plan(row.plan_id)
        if not same_content(mappers.template_content(row, plan), content):
            raise Conflict(
                f"template_id '{chosen}' is in use by a template that says something else: choose another id, or"
                " leave it out",
                pointer="/template_id",
            ) from None
        return mappers.template_document(row, plan), False
    workflow_id = None if derived_from is None else derived_from.workflow_id
    row = models.WorkflowTemplate.objects.create(
        template_id=chosen,
        title=content.title,
        description=content.description,
        parameters=[asdict(parameter) for parameter in content.parameters],
        plan=mappers.save_plan(content.plan, at=at),
        project=content.project,
        status="active",
        derived_from_workflow_id=workflow_id,
        created_at=at,
        updated_at=at,
    )
    steps = content.plan.steps
    ids_and_goals = [*(step.id for step in steps), *(step.goal for step in steps)]
    search.index("template", row.pk, [content.title, chosen, content.description, *ids_and_goals])
    audit.record(
        caller=caller,
        event="template.created",
        at=at,
        head=derived_from,
        workflow_id=workflow_id,
        detail={
            "template_id": chosen,
            "title": content.title,
            "parameters": [parameter.name for parameter in content.parameters],
            "steps": len(content.plan.steps),
            "project": content.project,
            "version": 1,
        },
    )
    return mappers.template_document(row, content.plan), True
