"""Make a workflow from a template (contract 6), and let the workflow policy decide on it once (contract 5)."""

from collections.abc import Mapping
from typing import Any

from django.db import transaction

from chief_project.shared import clock
from chief_project.shared.caller import Caller, Right
from chief_project.shared.errors import NotFound
from workflows import mappers
from workflows.domain.policy import WorkflowFacts, decide_workflow
from workflows.domain.templates import ensure_filled, fill, values_for
from workflows.selectors.policy import workflow_approval_rules
from workflows.services._new import NewWorkflow, insert_workflow
from workflows.services._template import lock_template
from workflows.services.approve_workflow import decide_approval


def create_workflow_from_template(
    *,
    caller: Caller,
    template_id: str,
    parameters: Mapping[str, str],
    workflow_id: str | None = None,
    title: str | None = None,
    project: str | None = None,
    origin_dir: str | None = None,
) -> dict[str, Any]:
    """A draft whose plan is the template's with ``parameters`` filled in, or an approved workflow if a rule says so.

    ``title`` replaces the template's as it is; ``project`` defaults to the template's. Answers the ``Workflow``; its
    ``from_template.parameters`` are the values in effect, defaults included. Raises ``NotFound`` for an archived
    template too, ``ValidationFailed`` with ``details.missing`` and ``details.unknown`` parameters, or for a filled plan
    that breaks the rules.
    """
    with transaction.atomic(savepoint=False):
        caller.must(Right.WORK, "make a workflow from a template")
        template = lock_template(template_id)
        if template.status == "archived":
            raise NotFound(
                f"template '{template_id}' is archived: nothing is made from it any more; use an active one",
                template_id=template_id,
                status=template.status,
            )
        content = mappers.template_content(template, mappers.load_plan(template.plan_id))
        values = values_for(content.parameters, parameters)
        filled_title, plan = fill(content.title, content.plan, values)
        new = NewWorkflow(
            title=filled_title if title is None else title,
            source="import",
            generated_by=f"template:{template_id}",
            plan=plan,
            workflow_id=workflow_id,
            project=template.project if project is None else project,
            origin_dir=origin_dir,
            template_id=template_id,
            template_version=template.version,
            template_parameters=values,
        )
        ensure_filled(new.title, plan)
        at = clock.now()
        lineage = {"template_id": template_id, "template_version": template.version, "parameters": values}
        row = insert_workflow(new, caller=caller, at=at, detail={"from_template": lineage})
        rule = decide_workflow(
            workflow_approval_rules(),
            WorkflowFacts(
                template_id=template_id, source=new.source, generated_by=new.generated_by, title=new.title
            ),
        )
        if rule is not None:
            decide_approval(
                row,
                caller=caller,
                at=at,
                decided_by=f"policy:{rule}",
                reason="a rule of the workflow approval policy matched",
            )
        return mappers.workflow_document(row, plan, notes=[])
