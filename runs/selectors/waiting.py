"""What waits for a person in runs: blocked checkpoints, open questions, failed runs that nobody has seen.

Each reader gives the oldest first, at most ``limit`` of those ``after`` a moment, as ``(since, row id, document)``;
with ``project`` only those of a label (``of_project``), with ``only`` only rows that it finds.
A run that is over asks for nothing; what an amendment took out isn't blocked any more.
"""

from collections.abc import Collection, Iterable
from datetime import datetime
from typing import Any, NamedTuple

from django.db.models import Count, Min, OuterRef, Q, Subquery, Sum
from django.db.models.functions import Coalesce

from runs.domain.paths import parameters_of
from runs.mappers import Document
from runs.models import Question, Run, StepState
from runs.selectors.paths import Way, ways_to
from workflows.domain.plan import Plan
from workflows.mappers import field_document, load_plans
from workflows.selectors import of_project


class Waiting(NamedTuple):
    """Something to decide, and its place among the others of its kind."""

    since: datetime
    key: Any
    document: Document


Mark = tuple[datetime, int | None] | None


def after(since: str, mark: Mark) -> Q:
    """Rows past ``mark``: a moment and the last row id seen of it (None: everything of that moment was seen).

    ``since`` names the column. A row id of -1 means that nothing of that moment was seen.
    """
    if mark is None:
        return Q()
    moment, pk = mark
    later = Q(**{f"{since}__gt": moment})
    return later if pk is None else later | Q(**{since: moment, "pk__gt": pk})


def checkpoints_waiting(
    *, mark: Mark, limit: int, project: str | None = None, only: Q | None = None
) -> list[Waiting]:
    """Blocked checkpoints, with their goal, their fields and what their instances brought.

    Two statements, and one per plan table for plans that aren't cached.
    """
    rows = list(
        _checkpoints(project)
        .filter(only or Q(), after("since", mark))
        .order_by("since", "pk")
        .values("pk", "since", "step_id", *_RUN)[:limit]
    )
    plans, ways = _surroundings(rows, [row["pk"] for row in rows])
    found = []
    for row in rows:
        step = plans[row["run__plan_id"]].by_id.get(row["step_id"])
        if step is not None:
            about = _about("checkpoint", row, plans, ways[row["pk"]])
            about["fields"] = [field_document(asked) for asked in step.fields]
            found.append(Waiting(row["since"], row["pk"], about))
    return found


def questions_waiting(
    *, mark: Mark, limit: int, project: str | None = None, only: Q | None = None
) -> list[Waiting]:
    """Open questions, with their text and fields, and the goal of the step that asks. Two statements, as above."""
    rows = list(
        _questions(project)
        .filter(only or Q(), after("asked_at", mark))
        .order_by("asked_at", "pk")
        .values(
            "pk",
            "asked_at",
            "asked_actor",
            "question_id",
            "text",
            "fields",
            "state_id",
            "state__step_id",
            *_RUN,
        )[:limit]
    )
    plans, ways = _surroundings(rows, [row["state_id"] for row in rows])
    found = []
    for row in rows:
        shown = row | {"since": row["asked_at"], "step_id": row["state__step_id"]}
        document = _about("question", shown, plans, ways[row["state_id"]]) | {
            "question_id": row["question_id"],
            "text": row["text"],
            "fields": row["fields"],
            "asked_actor": row["asked_actor"],
        }
        found.append(Waiting(row["asked_at"], row["pk"], document))
    return found


def failed_runs_waiting(
    *, mark: Mark, limit: int, project: str | None = None, only: Q | None = None
) -> list[Waiting]:
    """Failed runs that nobody acknowledged, with the top-level steps that failed. Two statements, as above."""
    rows = list(
        _failed_runs(project)
        .filter(only or Q(), after("since", mark))
        .order_by("since", "pk")
        .values(
            "pk",
            "since",
            "run_id",
            "plan_id",
            "workflow__workflow_id",
            "workflow__title",
            "workflow__project",
        )[:limit]
    )
    failed: dict[int, list[tuple[str, str | None]]] = {}
    states = StepState.objects.filter(run__in=[row["pk"] for row in rows], instance=None, status="failed")
    for run_pk, step_id, summary in states.order_by("pk").values_list("run_id", "step_id", "summary"):
        failed.setdefault(run_pk, []).append((step_id, summary))
    plans = load_plans({row["plan_id"] for row in rows})
    found = []
    for row in rows:
        steps = plans[row["plan_id"]].by_id
        document = {
            "kind": "failed_run",
            "since": row["since"],
            "workflow_id": row["workflow__workflow_id"],
            "title": row["workflow__title"],
            "project": row["workflow__project"],
            "run_id": row["run_id"],
            "failed_steps": [
                {
                    "path": step_id,
                    "goal": steps[step_id].goal if step_id in steps else None,
                    "summary": summary,
                }
                for step_id, summary in failed.get(row["pk"], ())[:_FAILED_STEPS]
            ],
            "failed": len(failed.get(row["pk"], ())),
        }
        found.append(Waiting(row["since"], row["pk"], document))
    return found


def count_waiting(project: str | None = None) -> int:
    """How many of all three there are; three statements."""
    return int(_checkpoints(project).count() + _questions(project).count() + _failed_runs(project).count())


def count_by_project() -> dict[str | None, int]:
    """How many of all three wait, by their workflow's label, told from the runs' own counts: one statement."""
    unseen = Q(status="failed", acknowledged__isnull=True)
    waiting = Run.objects.exclude(status__in=["cancelled", "completed"]).filter(
        unseen | Q(blocked_on_person__gt=0)
    )
    counted = waiting.values_list("workflow__project").annotate(
        blocked=Sum("blocked_on_person"), failed=Count("pk", filter=unseen)
    )
    return {project: blocked + failed for project, blocked, failed in counted}


def waiting_in_runs(workflow_pks: Collection[int]) -> list[tuple[int, int, str, datetime, int]]:
    """``(workflow's row id, run's, kind, since when, how many)`` of what waits in the runs of these workflows; three
    statements.
    """
    found = []
    for kind, rows, run, since in (
        ("checkpoint", _checkpoints(None), "run", "since"),
        ("question", _questions(None), "run", "asked_at"),
        ("failed_run", _failed_runs(None), "pk", "since"),
    ):
        workflow = "workflow" if run == "pk" else "run__workflow"
        counted = rows.filter(**{f"{workflow}__in": workflow_pks}).values_list(workflow, run)
        for workflow_pk, run_pk, oldest, count in counted.annotate(oldest=Min(since), count=Count("pk")):
            found.append((workflow_pk, run_pk, kind, oldest, count))
    return found


def oldest_in_runs() -> list[Subquery]:
    """For a query of workflows: since when the oldest of each of the three waits; null where nothing does."""
    return [
        Subquery(rows.filter(**{workflow: OuterRef("pk")}).order_by(since).values(since)[:1])
        for rows, workflow, since in (
            (_checkpoints(None), "run__workflow", "since"),
            (_questions(None), "run__workflow", "asked_at"),
            (_failed_runs(None), "workflow", "since"),
        )
    ]


_FAILED_STEPS = 20
_RUN = (
    "run__run_id",
    "run__plan_id",
    "run__workflow__workflow_id",
    "run__workflow__title",
    "run__workflow__project",
)
# A run's own count narrows the search to runs in which something waits; states have no index by status,
# because every report would have to keep it.
_SOMETHING_BLOCKED = Q(run__blocked_on_person__gt=0) & ~Q(run__status__in=["cancelled", "completed"])


def _checkpoints(project: str | None) -> Any:
    here = of_project(project, field="run__workflow__project")
    blocked = StepState.objects.filter(_SOMETHING_BLOCKED, here, status="blocked", type="checkpoint")
    return blocked.annotate(since=Coalesce("started_at", "run__created_at"))


def _questions(project: str | None) -> Any:
    here = of_project(project, field="run__workflow__project")
    return Question.objects.filter(
        _SOMETHING_BLOCKED, here, answered_at__isnull=True, closed__isnull=True, state__status="blocked"
    )


def _failed_runs(project: str | None) -> Any:
    here = of_project(project, field="workflow__project")
    failed = Run.objects.filter(here, status="failed", acknowledged__isnull=True)
    return failed.annotate(since=Coalesce("failed_at", "updated_at"))


def _surroundings(
    rows: Iterable[dict[str, Any]], state_pks: list[int]
) -> tuple[dict[int, Plan], dict[int, Way]]:
    return load_plans({row["run__plan_id"] for row in rows}), ways_to(state_pks)


def _about(kind: str, row: dict[str, Any], plans: dict[int, Plan], way: Way) -> Document:
    plan = plans[row["run__plan_id"]]
    step = plan.by_id.get(row["step_id"])
    return {
        "kind": kind,
        "since": row["since"],
        "workflow_id": row["run__workflow__workflow_id"],
        "title": row["run__workflow__title"],
        "project": row["run__workflow__project"],
        "run_id": row["run__run_id"],
        "path": "/".join(way.path),
        "step_id": row["step_id"],
        "goal": None if step is None else step.goal,
        "parameters": parameters_of(plan, way.path, way.metadata),
    }
