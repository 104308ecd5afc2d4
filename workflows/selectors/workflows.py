"""Workflows as the contract shows them, and what waits for a person (contract 2)."""

from typing import Any

from django.db.models import Case, Count, F, Q, Value, When
from django.db.models.functions import Coalesce

from chief_project.shared import search
from chief_project.shared.caller import Caller, Right
from chief_project.shared.paging import Page, Paging, paginate
from chief_project.shared.reading import one_moment
from workflows import mappers, models
from workflows.selectors._find import find, no_workflow

UNLABELLED = ""
"""As ``project``: the workflows without a label."""


def get_workflow(*, caller: Caller, workflow_id: str) -> dict[str, Any]:
    """The ``Workflow`` with its review notes, oldest first. Two statements, and six where the plan isn't cached."""
    caller.must(Right.READ, "read a workflow")
    with one_moment():
        return document_of(find(workflow_id))


def workflow_etag(*, caller: Caller, workflow_id: str) -> int:
    """The number in the workflow's ETag, which every write to it moves: one statement, and no plan."""
    caller.must(Right.READ, "read a workflow")
    etag = models.Workflow.objects.filter(workflow_id=workflow_id).values_list("etag", flat=True).first()
    if etag is None:
        raise no_workflow(workflow_id)
    return etag


def list_workflows(
    *,
    caller: Caller,
    paging: Paging,
    status: str | None = None,
    project: str | None = None,
    q: str | None = None,
) -> Page:
    """Workflows by last change, newest first, whole but for their review notes.

    ``project``: a label, or ``UNLABELLED``; ``q``: beginnings of words in titles, goals and ids. Nine statements at
    most, however many workflows and steps.
    """
    caller.must(Right.READ, "list workflows")
    rows = models.Workflow.objects.filter(search.matching("workflow", q))
    if status is not None:
        rows = rows.filter(status=status)
    rows = rows.filter(of_project(project))
    with one_moment():
        page = paginate(rows, order=("-updated_at", "-id"), paging=paging)
        plans = mappers.load_plans(row.plan_id for row in page.rows)
    return page.map(lambda row: mappers.workflow_document(row, plans[row.plan_id]))


def of_project(project: str | None, *, field: str = "project") -> Q:
    """Rows whose ``field`` is a label, or has none with ``UNLABELLED``; every row with None."""
    if project is None:
        return Q()
    return Q(**{f"{field}__isnull": True}) if project == UNLABELLED else Q(**{field: project})


def list_projects(*, caller: Caller, paging: Paging) -> Page:
    """``{project, workflows}`` by label, counted; those without one come last under null."""
    caller.must(Right.READ, "list projects")
    rows = (
        models.Workflow.objects.annotate(
            unlabelled=Case(When(project__isnull=True, then=Value(1)), default=Value(0)),
            name=Coalesce("project", Value("")),
        )
        .values("unlabelled", "name")
        .annotate(workflows=Count("pk"))
    )
    page = paginate(rows, order=("unlabelled", "name"), paging=paging)
    return page.map(
        lambda row: {
            "project": None if row["unlabelled"] else row["name"],
            "workflows": row["workflows"],
        }
    )


def drafts_waiting(*, caller: Caller, project: str | None = None) -> list[dict[str, Any]]:
    """Drafts that wait for a person's decision, the longest first, with what it needs: one statement.

    Each: ``workflow_id, title, project, source, generated_by, version, revision, reason, submitted_by, since, steps``
    (how many) and ``open_notes`` (how many). ``reason`` is what the newest revision's author said of it. A draft
    that was sent back waits for its harness and isn't here. ``project`` as in ``list_workflows``.
    """
    caller.must(Right.READ, "read what waits")
    waiting = models.Workflow.objects.filter(of_project(project), status="draft", review_state="waiting")
    rows = waiting.order_by("review_at", "pk").values(
        "workflow_id",
        "title",
        "project",
        "source",
        "generated_by",
        "version",
        "revision",
        reason=F("review_reason"),
        submitted_by=F("review_by"),
        since=F("review_at"),
        steps=F("plan__step_count"),
        open_notes=Count("notes", filter=Q(notes__resolved=False)),
    )
    return [dict(row) for row in rows]


def document_of(row: models.Workflow) -> dict[str, Any]:
    """A head's document as it stands in this transaction: for services that answer it."""
    plan = mappers.load_plan(row.plan_id)
    notes = models.ReviewNote.objects.filter(workflow=row).order_by("id")
    return mappers.workflow_document(
        row, plan, notes=[mappers.note_document(note, row.workflow_id, plan) for note in notes]
    )
