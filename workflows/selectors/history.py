"""Every plan a workflow ever had, and what differs between them (contract 2)."""

from typing import Any

from workflows import mappers, models
from workflows.domain.diff import plan_diff


def revision_of_etag(row: models.Workflow, etag: int) -> int | None:
    """The revision that stood when the head's ETag was ``etag``."""
    found = models.Revision.objects.filter(workflow=row, etag__lte=etag).order_by("-number")
    return found.values_list("number", flat=True).first()


def what_changed(row: models.Workflow, *, since: int | None) -> dict[str, Any]:
    """Details of a 412: the newest revision, who made it, and its difference from revision ``since``.

    ``difference`` is null where there is nothing to compare: an unknown revision.
    """
    kept = {
        each.number: each
        for each in models.Revision.objects.filter(
            workflow=row, number__in=[row.revision, since or row.revision]
        )
    }
    newest, former = kept[row.revision], kept.get(since) if since is not None else None
    return {
        "revision": row.revision,
        "since": since,
        "by": newest.by,
        "at": newest.at,
        "reason": newest.reason,
        "difference": None
        if former is None
        else plan_diff(
            mappers.load_plan(former.plan_id),
            mappers.load_plan(newest.plan_id),
            title_before=former.title,
            title_after=row.title,
        ),
    }
