"""Every plan a workflow ever had, and what differs between them (contract 2)."""

import re
from typing import Any

from chief_project.shared.caller import Caller, Right
from chief_project.shared.errors import NotFound, ValidationFailed
from chief_project.shared.paging import Page, Paging, paginate
from chief_project.shared.reading import one_moment
from workflows import mappers, models
from workflows.domain.diff import plan_diff
from workflows.domain.plan import KeptPlan
from workflows.selectors._find import find

Kept = models.Revision | models.Version
_NAME = re.compile(r"([rv])([1-9]\d{0,8})", re.ASCII)


def list_revisions(*, caller: Caller, workflow_id: str, paging: Paging) -> Page:
    """``{n, at, by, via, reason}`` of every text the draft ever had, the first one first."""
    return _list(models.Revision, caller=caller, workflow_id=workflow_id, paging=paging)


def list_versions(*, caller: Caller, workflow_id: str, paging: Paging) -> Page:
    """``{n, at, by, via, reason}`` of every approved version, the first one first."""
    return _list(models.Version, caller=caller, workflow_id=workflow_id, paging=paging)


def get_revision(*, caller: Caller, workflow_id: str, number: int) -> dict[str, Any]:
    """The plan as of a revision: ``{workflow_id, n, at, by, via, reason, title, steps, groups}``."""
    return _get(models.Revision, "revision", caller=caller, workflow_id=workflow_id, number=number)


def get_version(*, caller: Caller, workflow_id: str, number: int) -> dict[str, Any]:
    """The plan as of an approved version: ``{workflow_id, n, at, by, via, reason, title, steps, groups}``."""
    return _get(models.Version, "approved version", caller=caller, workflow_id=workflow_id, number=number)


def plan_of_workflow(
    *, caller: Caller, workflow_id: str, revision: int | None = None, version: int | None = None
) -> KeptPlan:
    """The plan as a value: as it stands, or of one ``revision`` or approved ``version``; ``NotFound`` without it.

    For what draws or compares plans in this process. One statement, one more for an older plan, six where the plan
    isn't cached, two for the read's begin and end.
    """
    caller.must(Right.READ, "read a plan")
    with one_moment():
        head = find(workflow_id)
        row: models.Workflow | Kept = head
        if revision is not None:
            row = _kept(head, models.Revision, revision)
        elif version is not None:
            row = _kept(head, models.Version, version)
        return KeptPlan(row.plan_id, mappers.load_plan(row.plan_id), row.title)


def get_diff(
    *, caller: Caller, workflow_id: str, before: str | None = None, after: str | None = None
) -> dict[str, Any]:
    """``{workflow_id, from, to, …}`` and what ``plan_diff`` tells, between any two of ``v2`` and ``r3``.

    Without ``after`` it is the newest: of versions where the workflow has two and is no draft, else of revisions.
    Without ``before`` it is the one of the same kind that came before ``after``. Raises ``ValidationFailed`` for
    other names, ``NotFound`` for numbers there are not.
    """
    caller.must(Right.READ, "compare plans")
    names = {"from": kept_name(before, "from"), "to": kept_name(after, "to")}
    with one_moment():
        row = find(workflow_id)
        later = _kept(row, *(names["to"] or _newest(row)))
        former = _kept(row, *names["from"]) if names["from"] else _one_before(later)
        plans = mappers.load_plans([former.plan_id, later.plan_id])
    return {
        "workflow_id": workflow_id,
        "from": kept_label(former),
        "to": kept_label(later),
        **plan_diff(
            plans[former.plan_id],
            plans[later.plan_id],
            title_before=former.title,
            title_after=later.title,
        ),
    }


def revision_of_etag(row: models.Workflow, etag: int) -> int | None:
    """The revision that stood when the head's ETag was ``etag``; None for one that it never had."""
    if etag > row.etag:
        return None
    found = models.Revision.objects.filter(workflow=row, etag__lte=etag).order_by("-number")
    return found.values_list("number", flat=True).first()


def what_changed(row: models.Workflow, *, since: int | None) -> dict[str, Any]:
    """Details of a 412: the newest revision, who made it, when and why, and the difference of the plan that stands
    (amendments included) from revision ``since``.

    ``difference`` is null where there is nothing to compare: an unknown revision.
    """
    wanted = [row.revision] if since is None else [row.revision, since]
    kept = {each.number: each for each in models.Revision.objects.filter(workflow=row, number__in=wanted)}
    newest, former = kept[row.revision], None if since is None else kept.get(since)
    difference = None
    if former is not None:
        plans = mappers.load_plans([former.plan_id, row.plan_id])
        difference = plan_diff(
            plans[former.plan_id],
            plans[row.plan_id],
            title_before=former.title,
            title_after=row.title,
        )
    return {
        "version": row.version,
        "revision": row.revision,
        "since": since,
        "by": newest.by,
        "at": newest.at,
        "reason": newest.reason,
        "difference": difference,
    }


def kept_entry(kept: Kept) -> dict[str, Any]:
    """``{n, at, by, via, reason}``, the item of a list of versions or revisions."""
    return {"n": kept.number, "at": kept.at, "by": kept.by, "via": kept.via, "reason": kept.reason}


def _list(model: type[Kept], *, caller: Caller, workflow_id: str, paging: Paging) -> Page:
    caller.must(Right.READ, "read a workflow's history")
    with one_moment():
        row = find(workflow_id)
        page = paginate(model._default_manager.filter(workflow=row), order=("number",), paging=paging)
    return page.map(kept_entry)


def _get(model: type[Kept], what: str, *, caller: Caller, workflow_id: str, number: int) -> dict[str, Any]:
    caller.must(Right.READ, "read a workflow's history")
    with one_moment():
        row = find(workflow_id)
        kept = model._default_manager.filter(workflow=row, number=number).first()
        if kept is None:
            raise NotFound(f"workflow '{workflow_id}' has no {what} {number}", workflow_id=workflow_id)
        plan = mappers.load_plan(kept.plan_id)
    return {
        "workflow_id": workflow_id,
        **kept_entry(kept),
        "title": kept.title,
        "steps": [mappers.step_document(step) for step in plan.steps],
        "groups": [mappers.group_document(group) for group in plan.groups],
    }


def kept_name(text: str | None, parameter: str) -> tuple[type[Kept], int] | None:
    """The kind and the number that ``r3`` or ``v2`` names; ``ValidationFailed`` naming ``parameter`` for other texts."""
    if text is None:
        return None
    match = _NAME.fullmatch(text)
    if match is None:
        raise ValidationFailed(
            f"query parameter '{parameter}': {text[:40]!r} names no plan; write 'v2' for a version, 'r3' for a revision",
            parameter=parameter,
        )
    return (models.Version if match[1] == "v" else models.Revision), int(match[2])


def kept_label(kept: Kept) -> str:
    """``r3`` for a revision, ``v2`` for an approved version."""
    return f"{'v' if isinstance(kept, models.Version) else 'r'}{kept.number}"


def _newest(row: models.Workflow) -> tuple[type[Kept], int]:
    if row.status != "draft":
        newest = list(models.Version.objects.filter(workflow=row).order_by("-number")[:2])
        if len(newest) == 2:
            return models.Version, newest[0].number
    return models.Revision, row.revision


def _kept(row: models.Workflow, model: type[Kept], number: int) -> Kept:
    kept = model._default_manager.filter(workflow=row, number=number).first()
    if kept is None:
        what = "approved version" if model is models.Version else "revision"
        raise NotFound(f"workflow '{row.workflow_id}' has no {what} {number}", workflow_id=row.workflow_id)
    return kept


def _one_before(later: Kept) -> Kept:
    """What came before, of the same kind; the first one is compared with itself."""
    former = type(later)._default_manager.filter(workflow_id=later.workflow_id, number__lt=later.number)
    return former.order_by("-number").first() or later
