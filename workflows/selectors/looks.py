"""Drafts as one reader sees them: what they hold, and what changed since that person last looked (contract 7)."""

from collections import Counter
from collections.abc import Collection
from typing import Any

from django.db.models import Count, F, Q

from chief_project.shared.caller import Caller, Right
from workflows import mappers, models
from workflows.domain.brief import brief
from workflows.domain.diff import plan_diff

_BEGINS = 6


def drafts_as_read(
    *, caller: Caller, workflow_ids: Collection[str], shown: int | None = None
) -> dict[str, dict[str, Any]]:
    """By workflow id: ``types`` ``{type: how many steps}``; ``begins``, the first steps of the top level in plan order
    ``[{step_id, type, goal}]``, at most six, and ``top``, how many there are; ``seen`` ``{revision, at}`` of the newest revision that
    this person read, or null; ``changes`` what ``brief`` tells between that one and the plan that stands (null where
    nothing was read, or the newest); ``own_notes`` ``{open, all}``, those the person wrote.

    ``shown`` stands for what the person read: the revision that was on the screen when the plan moved on, and ``at``
    is then when it came.

    Three statements whatever the drafts, and six for plans that aren't cached.
    """
    caller.must(Right.READ, "read a workflow")
    rows = models.Workflow.objects.filter(workflow_id__in=workflow_ids).values_list(
        "pk", "workflow_id", "revision", "plan_id", "title"
    )
    heads: dict[int, tuple[Any, ...]] = {pk: tuple(columns) for pk, *columns in rows}
    read: dict[int, tuple[Any, ...]] = {}
    notes: dict[int, dict[str, int]] = {}
    if caller.person and heads:
        revisions = models.Revision.objects.filter(workflow__in=heads)
        moment = "at"
        if shown is None:
            moment = "workflow__seen_by__at"
            revisions = revisions.filter(
                workflow__seen_by__user=caller.user_id, number=F("workflow__seen_by__revision")
            )
        else:
            revisions = revisions.filter(number=shown)
        for pk, *columns in revisions.values_list("workflow_id", "number", moment, "plan_id", "title"):
            read[pk] = tuple(columns)
        own = models.ReviewNote.objects.filter(workflow__in=heads, author=caller.actor)
        for pk, wrote, unresolved in own.values_list("workflow_id").annotate(
            wrote=Count("pk"), unresolved=Count("pk", filter=Q(resolved=False))
        ):
            notes[pk] = {"open": unresolved, "all": wrote}
    wanted = {plan_pk for _, _, plan_pk, _ in heads.values()} | {
        plan_pk for _, _, plan_pk, _ in read.values()
    }
    plans = mappers.load_plans(wanted)
    found = {}
    for pk, (workflow_id, revision, plan_pk, title) in heads.items():
        plan, changes = plans[plan_pk], None
        if pk in read and read[pk][0] != revision:
            former = read[pk]
            changes = brief(
                plan_diff(plans[former[2]], plan, title_before=former[3], title_after=title),
            )
        found[workflow_id] = {
            "types": dict(Counter(step.type for step in plan.steps)),
            "begins": [
                {"step_id": step.id, "type": step.type, "goal": step.goal}
                for step in (plan.by_id[name] for name in plan.top_level[:_BEGINS])
            ],
            "top": len(plan.top_level),
            "seen": {"revision": read[pk][0], "at": read[pk][1]} if pk in read else None,
            "changes": changes,
            "own_notes": notes.get(pk, {"open": 0, "all": 0}),
        }
    return found
