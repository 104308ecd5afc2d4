"""Every plan a workflow ever had, and what differs between them (contract 2)."""

import re
from dataclasses import dataclass
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


@dataclass(frozen=True, slots=True)
class PlanThen:
    """A revision or an approved version as it was: ``name`` is ``r3`` or ``v2``, ``entry`` ``{n, at, by, via, reason}``."""

    name: str
    entry: dict[str, Any]
    kept: KeptPlan


def list_revisions(*, caller: Caller, workflow_id: str, paging: Paging) -> Page:
    """``{n, at, by, via, reason}`` of every text the draft ever had, the first one first."""
    return _list(models.Revision, caller=caller, workflow_id=workflow_id, paging=paging)


def list_versions(*, caller: Caller, workflow_id: str, paging: Paging) -> Page:
    """``{n, at, by, via, reason}`` of every approved version, the first one first."""
    return _list(models.Version, caller=caller, workflow_id=workflow_id, paging=paging)


def get_revision(*, caller: Caller, workflow_id: str, number: int) -> dict[str, Any]:
    """The plan as of a revision: ``{workflow_id, n, at, by, via, reason, title, steps, groups}``."""
    return _get(models.Revision, caller=caller, workflow_id=workflow_id, number=number)


def get_version(*, caller: Caller, workflow_id: str, number: int) -> dict[str, Any]:
    """The plan as of an approved version: ``{workflow_id, n, at, by, via, reason, title, steps, groups}``."""
    return _get(models.Version, caller=caller, workflow_id=workflow_id, number=number)


def plan_of_workflow(*, caller: Caller, workflow_id: str) -> KeptPlan:
    """The plan as it stands, as a value; ``NotFound`` without such a workflow.

    For what draws or compares plans in this process. One statement, six more where the plan isn't cached, two for the
    read's begin and end.
    """
    caller.must(Right.READ, "read a plan")
    with one_moment():
        row = find(workflow_id)
        return KeptPlan(row.plan_id, mappers.load_plan(row.plan_id), row.title)


def plan_then(*, caller: Caller, workflow_id: str, name: str) -> PlanThen:
    """The plan that ``r3`` or ``v2`` names, as a value; ``NotFound``, saying which there are, for any other text.

    One statement more than ``plan_of_workflow``.
    """
    caller.must(Right.READ, "read a plan")
    match = _NAME.fullmatch(name)
    with one_moment():
        row = find(workflow_id)
        if match is None:
            raise no_such_plan(row, f"plan {name[:40]!r}")
        kept = _kept(row, *_named(match))
        plan = mappers.load_plan(kept.plan_id)
    return PlanThen(name, kept_entry(kept), KeptPlan(kept.plan_id, plan, kept.title))


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


def _get(model: type[Kept], *, caller: Caller, workflow_id: str, number: int) -> dict[str, Any]:
    caller.must(Right.READ, "read a workflow's history")
    with one_moment():
        row = find(workflow_id)
        kept = _kept(row, model, number)
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
    return _named(match)


def no_such_plan(row: models.Workflow, what: str) -> NotFound:
    """The refusal for a revision or version there is not; it says which there are. One statement."""
    versions = list(
        models.Version.objects.filter(workflow=row).order_by("number").values_list("number", flat=True)
    )
    there = " and ".join(
        _span(letter, numbers) for letter, numbers in (("r", [1, row.revision]), ("v", versions)) if numbers
    )
    return NotFound(
        f"workflow '{row.workflow_id}' has no {what}: it has {there}",
        workflow_id=row.workflow_id,
        revisions=row.revision,
        versions=len(versions),
    )


def no_such_number(row: models.Workflow, model: type[Kept], number: int) -> NotFound:
    """``no_such_plan`` for a number of a kind."""
    return no_such_plan(row, f"{'approved version' if model is models.Version else 'revision'} {number}")


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
        raise no_such_number(row, model, number)
    return kept


def _named(match: re.Match[str]) -> tuple[type[Kept], int]:
    return (models.Version if match[1] == "v" else models.Revision), int(match[2])


def _span(letter: str, numbers: list[int]) -> str:
    """``r1 to r5``; ``v1`` where there is but one."""
    first, last = numbers[0], numbers[-1]
    return f"{letter}{first}" if first == last else f"{letter}{first} to {letter}{last}"


def _one_before(later: Kept) -> Kept:
    """What came before, of the same kind; the first one is compared with itself."""
    former = type(later)._default_manager.filter(workflow_id=later.workflow_id, number__lt=later.number)
    return former.order_by("-number").first() or later
