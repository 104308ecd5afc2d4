"""Remove a template for good (contract 6)."""

from typing import Any

from django.db import transaction

from chief_project.shared import audit, clock, search
from chief_project.shared.caller import Caller, Right
from workflows import models
from workflows.services._template import lock_template


def delete_template(*, caller: Caller, template_id: str) -> dict[str, Any]:
    """The template and its plan are gone; answers ``{template_id, title}``. People only.

    Kept: workflows made from it, with their lineage; the audit log; its id, which is never used again.
    """
    with transaction.atomic(savepoint=False):
        caller.must(Right.ADMINISTER, "delete a template")
        caller.must_be_person("delete a template")
        row = lock_template(template_id)
        steps = row.plan.step_count
        plan_pk = row.plan_id
        search.remove("template", [row.pk])
        row.delete()
        models.Plan.objects.filter(pk=plan_pk).delete()
        audit.record(
            caller=caller,
            event="template.deleted",
            at=clock.now(),
            detail={
                "template_id": template_id,
                "title": row.title,
                "status": row.status,
                "version": row.version,
                "steps": steps,
                "derived_from_workflow_id": row.derived_from_workflow_id,
            },
        )
        return {"template_id": template_id, "title": row.title}
