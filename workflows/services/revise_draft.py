"""Give a draft a new text (contract 2)."""

from typing import Any

from django.db import transaction

from chief_project.shared import audit, clock
from chief_project.shared.caller import Caller, Right
from chief_project.shared.errors import PreconditionFailed
from workflows import models, selectors
from workflows.domain.plan import Group, Plan, Step
from workflows.domain.rules import ensure_valid, group_paths
from workflows.mappers import load_plan, save_plan
from workflows.services._new import keep_revision
from workflows.services._seen import note_seen
from workflows.services.head import REVIEW, check_etag, check_revision, lock_workflow, must_be_draft, save
from workflows.services.indexing import index_workflow

_INSTEAD = {
    "approved": "propose an amendment on one of its runs, or reopen it while it has none",
    "archived": "clone it, and revise the copy",
}


def revise_draft(
    *,
    caller: Caller,
    workflow_id: str,
    title: str,
    steps: tuple[Step, ...],
    groups: tuple[Group, ...] | None = None,
    reason: str | None = None,
    based_on: int | None = None,
    if_match: int | None = None,
) -> dict[str, Any]:
    """Replace a draft's title, steps and groups: revision + 1, the version stays, and it waits for review again.

    ``groups`` None keeps the descriptions whose groups are still there. If another principal made the newest
    revision, ``based_on`` (a revision) or ``if_match`` (the ETag's number) must say that it was read. Answers the
    ``Workflow``; raises ``PreconditionFailed`` with the difference, ``InvalidTransition`` unless it is a draft,
    ``ValidationFailed`` for a plan that breaks the rules.
    """
    with transaction.atomic(savepoint=False):
        caller.must(Right.WORK, "revise a draft")
        row = lock_workflow(workflow_id)
        check_etag(row, if_match)
        must_be_draft(row, "revised", _INSTEAD)
        check_revision(row, based_on, "revise")
        if based_on is None and if_match is None:
            _must_have_made_the_newest(row, caller)
        before = load_plan(row.plan_id)
        if groups is None:
            there = group_paths(steps)
            groups = tuple(group for group in before.groups if group.path in there)
        plan = Plan(steps=steps, groups=groups)
        ensure_valid(plan)
        at = clock.now()
        title_was, row.title = row.title, title
        row.plan = save_plan(plan, at=at)
        row.revision += 1
        row.review_state, row.review_revision = "waiting", row.revision
        row.review_by = row.review_actor = caller.actor
        row.review_at, row.review_reason = at, reason
        save(row, "title", "plan", "revision", *REVIEW, at=at)
        keep_revision(row, caller=caller, at=at, reason=reason)
        index_workflow(row, plan)
        note_seen(row, caller=caller, at=at)
        audit.record(
            caller=caller,
            event="workflow.revised",
            at=at,
            head=row,
            workflow_id=workflow_id,
            detail={
                "reason": reason,
                "revision": row.revision,
                "steps_before": len(before.steps),
                "steps_after": len(steps),
                "title": title,
                "title_was": title_was,
            },
        )
        return selectors.document_of(row)


def _must_have_made_the_newest(row: models.Workflow, caller: Caller) -> None:
    newest = models.Revision.objects.get(workflow=row, number=row.revision)
    if newest.principal == caller.principal:
        return
    own = models.Revision.objects.filter(workflow=row, principal=caller.principal).order_by("-number").first()
    since = own.number if own is not None else row.revision - 1 or None
    raise PreconditionFailed(
        f"the newest revision of '{row.workflow_id}' ({row.revision}) is not yours but {newest.by}'s: read what"
        f" changed, then send it again with 'based_on': {row.revision}, or with If-Match",
        **selectors.what_changed(row, since=since),
    )
