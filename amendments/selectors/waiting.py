"""Everything that waits for a person, oldest first (contract 2, ``GET /waiting``).

It stands here because amendments are the topmost of what waits.
"""

from collections import Counter
from datetime import datetime
from typing import Any

from django.db.models import Count, Q

from amendments.models import Amendment, Operation
from chief_project.shared.caller import Caller, Right
from chief_project.shared.paging import COUNTED_TO, Page, Paging, read_cursor, write_cursor
from chief_project.shared.reading import one_moment
from runs.selectors.waiting import (
    Mark,
    Waiting,
    after,
    checkpoints_waiting,
    count_by_project,
    count_waiting,
    failed_runs_waiting,
    questions_waiting,
)
from workflows.models import Workflow
from workflows.selectors import drafts_waiting, of_project

Document = dict[str, Any]

_SALT = "chief.paging:waiting"
# What has waited equally long comes in this order.
_KINDS = ("draft", "amendment", "checkpoint", "question", "failed_run")


def list_waiting(*, caller: Caller, paging: Paging) -> Page:
    """Drafts, pending amendments, blocked checkpoints, open questions and failed runs, with what a decision needs.

    Every item has ``kind, since, workflow_id, title, project``. A draft adds its ``revision, version, source,
    generated_by, submitted_by, reason, steps, open_notes``; an amendment its ``run_id, amendment_id,
    amendment_kind, reason, proposed_by, operations``; a checkpoint and a question their ``run_id, path, step_id,
    goal, parameters, fields`` (a question also ``question_id, text``); a failed run its ``run_id, failed_steps``.
    What nobody can decide any more isn't here: of archived workflows, cancelled runs, steps that were removed.

    At most eleven statements whatever waits, beside those of plans that aren't cached and the read's own two.
    """
    caller.must(Right.READ, "read what waits for a person")
    with one_moment():
        return waiting_rows(caller=caller, paging=paging).map(lambda waiting: waiting.document)


def waiting_rows(*, caller: Caller, paging: Paging, project: str | None = None) -> Page:
    """``list_waiting`` as ``Waiting``s, for a selector that reads more of each, in its own moment.

    A ``key`` is the row id of an amendment, a checkpoint's state, a question or a run; for a draft the workflow's id.
    ``project`` as in ``of_project``.
    """
    cursor = None if paging.cursor is None else read_cursor(paging.cursor, _SALT, 3)
    wanted = paging.limit + 1
    drafts = all_drafts_waiting(caller=caller, project=project)
    found = [
        *_past(drafts, cursor)[:wanted],
        *amendments_waiting(mark=_mark("amendment", cursor), limit=wanted, project=project),
        *checkpoints_waiting(mark=_mark("checkpoint", cursor), limit=wanted, project=project),
        *questions_waiting(mark=_mark("question", cursor), limit=wanted, project=project),
        *failed_runs_waiting(mark=_mark("failed_run", cursor), limit=wanted, project=project),
    ]
    more = len(found) > paging.limit
    total: int | None = len(found)
    if cursor is not None or more:
        total = len(drafts) + _pending(project).count() + count_waiting(project)
        total = None if total > COUNTED_TO and not paging.exact else total
    found.sort(key=_place)
    found = found[: paging.limit]
    next_cursor = None
    if more:
        since, rank, key = _place(found[-1])
        next_cursor = write_cursor([since, rank, key], _SALT)
    return Page(found, next_cursor, total)


def count_waiting_by_project(*, caller: Caller) -> dict[str | None, int]:
    """How many decisions wait, by label: three statements, which read no tree. Their sum is the list's total."""
    caller.must(Right.READ, "read what waits for a person")
    drafts = Workflow.objects.filter(status="draft", review_state="waiting")
    counted = Counter(count_by_project())
    for project, waiting in drafts.values_list("project").annotate(Count("pk")):
        counted[project] += waiting
    pending = _pending(None).values_list("run__workflow__project").annotate(Count("pk"))
    for project, waiting in pending:
        counted[project] += waiting
    return dict(counted)


def _place(waiting: Waiting) -> tuple[datetime, int, Any]:
    return waiting.since, _KINDS.index(waiting.document["kind"]), waiting.key


def _mark(kind: str, cursor: list[Any] | None) -> Mark:
    """Where this kind goes on after a page that ended at ``cursor``."""
    if cursor is None:
        return None
    since, rank, key = cursor
    own = _KINDS.index(kind)
    return since, key if own == rank else -1 if own > rank else None


def all_drafts_waiting(*, caller: Caller, project: str | None = None) -> list[Waiting]:
    """Every draft that waits for review: one statement."""
    return [
        Waiting(row["since"], row["workflow_id"], {"kind": "draft"} | row)
        for row in drafts_waiting(caller=caller, project=project)
    ]


def _past(drafts: list[Waiting], cursor: list[Any] | None) -> list[Waiting]:
    drafts = sorted(drafts, key=_place)
    if cursor is None:
        return drafts
    since, rank, key = cursor
    if rank == _KINDS.index("draft"):
        return [draft for draft in drafts if (draft.since, draft.key) > (since, key)]
    return [draft for draft in drafts if draft.since > since]


def _pending(project: str | None) -> Any:
    here = of_project(project, field="run__workflow__project")
    return Amendment.objects.filter(here, status="pending_approval").exclude(run__status="cancelled")


def amendments_waiting(
    *, mark: Mark, limit: int, project: str | None = None, only: Q | None = None
) -> list[Waiting]:
    """Pending amendments, with what their operations are, like the readers of ``runs.selectors.waiting``."""
    rows = list(
        _pending(project)
        .filter(only or Q(), after("created_at", mark))
        .order_by("created_at", "pk")
        .values(
            "pk",
            "created_at",
            "amendment_id",
            "kind",
            "reason",
            "proposed_by",
            "proposed_actor",
            "run__run_id",
            "run__workflow__workflow_id",
            "run__workflow__title",
            "run__workflow__project",
        )[:limit]
    )
    operations: dict[int, list[Document]] = {}
    for pk, op, target, instance_id, path in (
        Operation.objects.filter(amendment__in=[row["pk"] for row in rows])
        .order_by("amendment", "position")
        .values_list("amendment_id", "op", "target_step_id", "instance_id", "instance_path")
    ):
        where = instance_id if path is None else "/".join(path)
        operations.setdefault(pk, []).append({"op": op, "target_step_id": target, "instance": where})
    return [
        Waiting(
            row["created_at"],
            row["pk"],
            {
                "kind": "amendment",
                "since": row["created_at"],
                "workflow_id": row["run__workflow__workflow_id"],
                "title": row["run__workflow__title"],
                "project": row["run__workflow__project"],
                "run_id": row["run__run_id"],
                "amendment_id": row["amendment_id"],
                "amendment_kind": row["kind"],
                "reason": row["reason"],
                "proposed_by": row["proposed_by"],
                "actor": row["proposed_actor"],
                "operations": operations.get(row["pk"], []),
            },
        )
        for row in rows
    ]
