"""Plans and their runs as one list: how far each is, who waits for whom, and what happened last."""

import json
from collections.abc import Collection
from datetime import UTC, datetime
from typing import Any, Literal

from django.db.models import (
    Case,
    CharField,
    Count,
    DateTimeField,
    Exists,
    F,
    IntegerField,
    Max,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    Value,
    When,
    Window,
)
from django.db.models.functions import Coalesce, Greatest, Least, Lower, RowNumber

from amendments.models import Amendment
from chief_project.shared import search
from chief_project.shared.caller import Caller, Right
from chief_project.shared.models import AuditEntry
from chief_project.shared.paging import Page, Paging, paginate
from chief_project.shared.reading import one_moment
from runs.domain.status import STATUSES
from runs.models import Run
from runs.selectors.waiting import oldest_in_runs, waiting_in_runs
from workflows.models import ReviewNote, Revision, Workflow
from workflows.selectors import of_project

Document = dict[str, Any]
Sort = Literal["changed", "title", "waiting"]

STATES = (
    "draft",
    "sent_back",
    "waiting",
    "running",
    "failed",
    "approved",
    "completed",
    "cancelled",
    "archived",
)
"""What can be said of a plan and its runs together."""
SORTS: dict[Sort, tuple[str, ...]] = {
    "changed": ("-moved_at", "-pk"),
    "title": ("name", "pk"),
    "waiting": ("waits_since", "pk"),
}

_RUNS_SHOWN = 4
_NEVER = datetime(9999, 1, 1, tzinfo=UTC)
_OVER = 3
_WAITING = ["waiting_on_human", "paused_for_approval"]
_UNSEEN = Q(status="failed", acknowledged__isnull=True)
# Of several runs the one that presses most speaks for the plan: it waits, it failed and nobody has seen it, it runs.
_PRESSING = Case(
    When(status__in=_WAITING, then=0),
    When(_UNSEEN, then=1),
    When(status="running", then=2),
    default=_OVER,
    output_field=IntegerField(),
)
_TALLY = tuple(f"n_{status}" for status in STATUSES)


def list_overview(
    *,
    caller: Caller,
    paging: Paging,
    state: str | None = None,
    project: str | None = None,
    q: str | None = None,
    sort: Sort = "changed",
) -> Page:
    """Every workflow with its runs, in ``sort``: the last changed first, by title, or the longest waiting first.

    Each row: ``workflow_id, title, project, status, revision, steps, state`` (one of ``STATES``); ``runs``, the four
    that press most, the newest of equals first, each ``{run_id, status, state, counts, created_at}`` with the tally of
    its top-level steps, and ``all_runs``, how many; ``waits`` ``{for, kind, since, count, others, who}`` or null, where
    ``for`` is ``person`` (``kind`` as in ``list_waiting``, ``others`` how many of other kinds wait as well) or
    ``harness`` (``start``, or ``revise``, with ``who`` submitted it and ``count`` of open notes); ``changed``
    ``{at, event, actor, by}`` from the newest entry of the audit.

    ``state`` and ``project`` (``of_project``) and ``q``, beginnings of words in titles, goals and ids, runs' too, keep
    those that match. ``extra``: ``states`` ``{state: how many}`` of what the other two leave, ``projects``
    ``[(project, how many)]`` of everything, null last. At most eighteen statements, however many rows.
    """
    caller.must(Right.READ, "list workflows")
    caller.must(Right.OVERSEE, "read what changed last")
    rows = _with_state(Workflow.objects.filter(of_project(project), _found_by(q)))
    with one_moment():
        states = dict(rows.order_by().values_list("state").annotate(Count("pk")))
        listed = _sorted(rows if state is None else rows.filter(state=state), sort)
        page = paginate(listed, order=SORTS[sort], paging=paging)
        documents = _documents(page.rows)
        projects = list(
            Workflow.objects.order_by(F("project").asc(nulls_last=True))
            .values_list("project")
            .annotate(Count("pk"))
        )
    return Page(documents, page.next_cursor, page.total, {"states": states, "projects": projects})


def list_project_states(*, caller: Caller) -> list[Document]:
    """By label, in order, those without one last: ``{project, workflows, states, changed_at}``, where ``states`` is
    ``{state: how many}`` and ``changed_at`` the last change of any. One statement.
    """
    caller.must(Right.READ, "list projects")
    counted = (
        _sorted(_with_state(Workflow.objects.all()), "changed")
        .values_list("project", "state")
        .annotate(count=Count("pk"), at=Max("moved_at"))
    )
    found: dict[str | None, Document] = {}
    for project, state, count, at in counted.order_by():
        row = found.setdefault(project, {"project": project, "workflows": 0, "states": {}, "changed_at": at})
        row["workflows"] += count
        row["states"][state] = count
        row["changed_at"] = max(row["changed_at"], at)
    return [found[project] for project in sorted(found, key=lambda each: (each is None, each))]


def _with_state(rows: QuerySet[Workflow, Any]) -> QuerySet[Any, Any]:
    """``rows`` with ``state``: a draft's own, else that of the run that presses most, else the plan's.

    Runs that are over say nothing of an archived plan. The query for runs stands in it once: Django writes an
    annotation out wherever it is used.
    """
    by_run = Case(
        When(status__in=_WAITING, then=Value("waiting")), default=F("status"), output_field=CharField()
    )
    runs = (
        Run.objects.filter(workflow=OuterRef("pk"))
        .annotate(pressing=_PRESSING, told=by_run)
        .filter(Q(pressing__lt=_OVER) | ~Q(workflow__status="archived"))
        .order_by("pressing", "-created_at", "-pk")
    )
    state = Case(
        When(status="draft", review_state="sent_back", then=Value("sent_back")),
        When(status="draft", then=Value("draft")),
        default=Coalesce(
            Subquery(runs.values("told")[:1]),
            Case(When(status="archived", then=Value("archived")), default=Value("approved")),
        ),
        output_field=CharField(),
    )
    return rows.annotate(state=state)


def _found_by(q: str | None) -> Q:
    if q is None or not q.strip():
        return Q()
    runs = Run.objects.filter(search.matching("run", q))
    return search.matching("workflow", q) | Q(pk__in=runs.values("workflow"))


def _sorted(rows: QuerySet[Any, Any], sort: Sort) -> Any:
    if sort == "title":
        return rows.annotate(name=Lower("title"))
    if sort == "waiting":
        return rows.annotate(waits_since=_waits_since())
    moved = Run.objects.filter(workflow=OuterRef("pk")).order_by("-updated_at").values("updated_at")[:1]
    return rows.annotate(moved_at=Greatest("updated_at", Coalesce(Subquery(moved), "updated_at")))


def _waits_since() -> Case:
    """Since when the oldest of what waits for a person does; the end of time where nothing does.

    What waits is looked for only in workflows with a run in which something does, as its own counts say.
    """
    never = Value(_NEVER, output_field=DateTimeField())
    pending = Amendment.objects.filter(run__workflow=OuterRef("pk"), status="pending_approval")
    oldest = [
        Subquery(pending.order_by("created_at").values("created_at")[:1]),
        *oldest_in_runs(),
    ]
    asking = Run.objects.exclude(status__in=["cancelled", "completed"]).filter(
        _UNSEEN | Q(blocked_on_person__gt=0) | Q(pending_amendment_id__isnull=False),
        workflow=OuterRef("pk"),
    )
    return Case(
        When(status="draft", review_state="waiting", then=F("review_at")),
        When(Exists(asking), then=Least(*(Coalesce(since, never) for since in oldest))),
        default=never,
        output_field=DateTimeField(),
    )


def _documents(rows: list[Any]) -> list[Document]:
    pks = [row.pk for row in rows]
    steps = dict(Workflow.objects.filter(pk__in=pks).values_list("pk", "plan__step_count"))
    runs = _runs(pks)
    changed = _changed(pks)
    waits = _waits(rows)
    return [
        {
            "workflow_id": row.workflow_id,
            "title": row.title,
            "project": row.project,
            "status": row.status,
            "revision": row.revision,
            "steps": steps[row.pk],
            "state": row.state,
            "runs": runs.get(row.pk, ([], 0))[0],
            "all_runs": runs.get(row.pk, ([], 0))[1],
            "waits": waits.get(row.pk),
            "changed": changed.get(row.pk),
        }
        for row in rows
    ]


def _runs(workflow_pks: Collection[int]) -> dict[int, tuple[list[Document], int]]:
    """The runs that are shown of each workflow, and how many it has. One statement."""
    placed = Run.objects.filter(workflow__in=workflow_pks).annotate(
        place=Window(RowNumber(), partition_by="workflow", order_by=[_PRESSING.asc(), "-created_at", "-pk"]),
        of=Window(Count("pk"), partition_by="workflow"),
    )
    found: dict[int, tuple[list[Document], int]] = {}
    shown = placed.filter(place__lte=_RUNS_SHOWN).order_by("workflow", "place")
    for workflow_pk, of, run_id, status, created_at, *counts in shown.values_list(
        "workflow_id", "of", "run_id", "status", "created_at", *_TALLY
    ):
        runs, _ = found.setdefault(workflow_pk, ([], of))
        runs.append(
            {
                "run_id": run_id,
                "status": status,
                "state": "waiting" if status in _WAITING else status,
                "counts": dict(zip(STATUSES, counts, strict=True)),
                "created_at": created_at,
            }
        )
    return found


def _waits(rows: list[Any]) -> dict[int, Document]:
    """Who waits: of what waits for a person the oldest, how many there are of its kind, and how many others. Six
    statements."""
    pks = [row.pk for row in rows]
    found: dict[int, Document] = {}
    oldest: dict[int, list[tuple[datetime, str, int]]] = {}
    for pk, _, kind, since, asked_for in waiting_in_runs(pks):
        oldest.setdefault(pk, []).append((since, kind, asked_for))
    pending = Amendment.objects.filter(run__workflow__in=pks, status="pending_approval")
    for pk, since in pending.values_list("run__workflow_id", "created_at"):
        oldest.setdefault(pk, []).append((since, "amendment", 1))
    for pk, asked in oldest.items():
        since, kind, _ = min(asked)
        count = sum(each for _, other, each in asked if other == kind)
        others = sum(each for _, _, each in asked) - count
        found[pk] = {
            "for": "person",
            "kind": kind,
            "since": since,
            "count": count,
            "others": others,
            "who": None,
        }
    sent_back = {row.pk: row.review_at for row in rows if row.state == "sent_back"}
    authors = dict(
        Revision.objects.filter(workflow__in=sent_back, number=F("workflow__revision")).values_list(
            "workflow_id", "by"
        )
    )
    notes = dict(
        ReviewNote.objects.filter(workflow__in=sent_back, resolved=False)
        .values_list("workflow_id")
        .annotate(Count("pk"))
    )
    for row in rows:
        if row.state == "draft":
            found[row.pk] = {
                "for": "person",
                "kind": "draft",
                "since": row.review_at,
                "count": 1,
                "others": 0,
                "who": None,
            }
        elif row.state == "sent_back":
            found[row.pk] = {
                "for": "harness",
                "kind": "revise",
                "since": row.review_at,
                "count": notes.get(row.pk, 0),
                "others": 0,
                "who": authors.get(row.pk),
            }
        elif row.state == "approved":
            found[row.pk] = {
                "for": "harness",
                "kind": "start",
                "since": row.decided_at,
                "count": 0,
                "others": 0,
                "who": None,
            }
    return found


def _changed(workflow_pks: Collection[int]) -> dict[int, Document]:
    """What the newest entry about each workflow or a run of it says. Two statements."""
    newest = AuditEntry.objects.filter(workflow_id=OuterRef("workflow_id")).order_by("-id").values("id")[:1]
    entries = dict(
        Workflow.objects.filter(pk__in=workflow_pks)
        .annotate(entry=Subquery(newest))
        .values_list("entry", "pk")
    )
    found = {}
    for entry in AuditEntry.objects.filter(pk__in=[pk for pk in entries if pk is not None]):
        detail = json.loads(entry.text)["detail"]
        by = next((detail[name] for name in ("decided_by", "answered_by", "by") if detail.get(name)), None)
        found[entries[entry.pk]] = {
            "at": entry.at,
            "event": entry.event,
            "actor": entry.actor,
            "by": by or entry.actor,
        }
    return found
