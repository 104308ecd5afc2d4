"""How a workflow comes to be, whatever it is made from: a document, a template, another workflow (contract 2)."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from chief_project.shared import audit, ids, rows
from chief_project.shared.caller import Caller
from chief_project.shared.services.use_id import use_id
from workflows import models
from workflows.domain.plan import Plan
from workflows.domain.rules import ensure_valid
from workflows.mappers import save_plan
from workflows.services.indexing import index_workflow


@dataclass(frozen=True, slots=True)
class NewWorkflow:
    """What a draft begins with; ``plan`` isn't judged yet."""

    title: str
    source: str
    plan: Plan
    workflow_id: str | None = None
    generated_by: str | None = None
    project: str | None = None
    origin_dir: str | None = None
    template_id: str | None = None
    template_version: int | None = None
    template_parameters: dict[str, Any] | None = None


def insert_workflow(
    new: NewWorkflow,
    *,
    caller: Caller,
    at: datetime,
    event: str = "workflow.created",
    reason: str | None = None,
    detail: dict[str, Any] | None = None,
) -> models.Workflow:
    """A draft at version 1, revision 1, with its first revision and its audit entry.

    Raises ``ValidationFailed`` for an id or a plan that breaks the rules, ``Conflict`` for an id that was used.
    """
    workflow_id = (
        ids.mint("wf") if new.workflow_id is None else ids.check(new.workflow_id, field="workflow_id")
    )
    ensure_valid(new.plan)
    use_id(kind="workflow", value=workflow_id, field="workflow_id")
    plan = save_plan(new.plan, at=at)
    row = models.Workflow(
        workflow_id=workflow_id,
        title=new.title,
        source=new.source,
        generated_by=new.generated_by,
        status="draft",
        plan=plan,
        project=new.project,
        origin_dir=new.origin_dir,
        template_id=new.template_id,
        template_version=new.template_version,
        template_parameters=new.template_parameters,
        review_by=caller.actor,
        review_actor=caller.actor,
        review_at=at,
        created_at=at,
        updated_at=at,
    )
    rows.insert(row)
    keep_revision(row, caller=caller, at=at, reason=reason)
    index_workflow(row, new.plan)
    audit.record(
        caller=caller,
        event=event,
        at=at,
        head=row,
        workflow_id=workflow_id,
        detail={
            "title": new.title,
            "source": new.source,
            "generated_by": new.generated_by,
            "project": new.project,
            "origin_dir": new.origin_dir,
            "steps": len(new.plan.steps),
            "version": 1,
            "revision": 1,
            **(detail or {}),
        },
    )
    return row


def keep_revision(row: models.Workflow, *, caller: Caller, at: datetime, reason: str | None) -> None:
    """Keep the draft's text as it stands, under its number."""
    revision = models.Revision(
        workflow=row,
        number=row.revision,
        etag=row.etag,
        plan_id=row.plan_id,
        title=row.title,
        at=at,
        by=caller.actor,
        principal=caller.principal,
        via=caller.via,
        reason=reason,
    )
    rows.insert(revision)
