"""What a run kept beside its states: every question with its answer, and everything it produced."""

from datetime import datetime
from typing import Any

from django.db.models import Count, Q

from chief_project.shared.caller import Caller, Right
from chief_project.shared.errors import NotFound
from chief_project.shared.paging import Page, Paging, paginate
from chief_project.shared.reading import one_moment
from runs import mappers
from runs.domain.paths import parameters_of
from runs.mappers import Document
from runs.models import Artifact, Question, Report, Run, StepInstance
from runs.selectors.hung import artifacts_of
from runs.selectors.paths import Way, ways_to
from runs.selectors.runs import no_run
from workflows.domain.plan import Plan
from workflows.domain.templates import for_branch
from workflows.mappers import load_plan

# What an artifact hangs on: a step's state, or an instance as a whole.
_OWNER = ("id", "state_id", "instance_id", "instance__construct_id")


def list_questions(*, caller: Caller, run_id: str, paging: Paging) -> Page:
    """Every question of a run, the newest first, open ones too: the ``StepQuestion`` with ``path, step_id, goal``.

    Four statements beside the read's own two, six more for a plan that isn't cached.
    """
    caller.must(Right.READ, "read a run's questions")
    with one_moment():
        run_pk, plan = _run_and_plan(run_id)
        asked = Question.objects.filter(run=run_pk).values("id", "state_id", *mappers.QUESTION_COLUMNS)
        page = paginate(asked, order=("-id",), paging=paging)
        ways = ways_to([row["state_id"] for row in page.rows])
    return page.map(
        lambda row: (
            mappers.question_document([row[name] for name in mappers.QUESTION_COLUMNS])
            | _where(ways[row["state_id"]], plan)
        )
    )


def list_artifacts(*, caller: Caller, run_id: str, paging: Paging, q: str | None = None) -> Page:
    """Everything a run produced that no replay superseded, the newest first: the ``ArtifactRef`` with ``path, step_id,
    goal, created_at`` and ``remarks``, how many comments it has, in place of these.

    ``q`` finds part of a type, a description or a reference, whatever the case. At most six statements beside the
    read's own two, six more for a plan that isn't cached.
    """
    caller.must(Right.READ, "read a run's artifacts")
    with one_moment():
        run_pk, plan = _run_and_plan(run_id)
        made = Artifact.objects.filter(run=run_pk, superseded=False)
        if q is not None:
            made = made.filter(Q(type__icontains=q) | Q(description__icontains=q) | Q(ref__icontains=q))
        rows = made.annotate(remarks=Count("comments")).values(
            *_OWNER, "created_at", "remarks", *mappers.ARTIFACT_COLUMNS
        )
        page = paginate(rows, order=("-id",), paging=paging)
        ways = _ways_to_owners(page.rows)

    def document(row: Document) -> Document:
        made = mappers.artifact_document([row[name] for name in mappers.ARTIFACT_COLUMNS], [])
        del made["comments"]
        return (
            made
            | _where(ways[row["id"]], plan)
            | {"created_at": row["created_at"], "remarks": row["remarks"]}
        )

    return page.map(document)


def get_artifact(*, caller: Caller, run_id: str, artifact_id: str) -> Document:
    """One ``ArtifactRef`` of a run, with its comments, and where it comes from.

    ``path, step_id, goal`` as in the list (``goal`` is blank for a step that the plan no longer has); ``superseded``:
    a replay took its step's result back, and only the history counts it; ``reported`` ``{at, by, via, number}`` (the
    last three null where the report isn't found); ``previous`` and ``next``: the ids of the one before and the one
    after it among those that count, or null. ``NotFound`` without such a run or artifact.

    At most eight statements beside the read's own two, six more for a plan that isn't cached.
    """
    caller.must(Right.READ, "read an artifact")
    with one_moment():
        run_pk, plan = _run_and_plan(run_id)
        row: Any = (
            Artifact.objects.filter(run=run_pk, artifact_id=artifact_id)
            .values(*_OWNER, "superseded", "created_at")
            .first()
        )
        if row is None:
            raise NotFound(
                f"run '{run_id[:200]}' has no artifact '{artifact_id[:200]}'", artifact_id=artifact_id[:200]
            )
        (document,) = artifacts_of(pk=row["id"])
        counted = Artifact.objects.filter(run=run_pk, superseded=False)
        before = (
            counted.filter(pk__lt=row["id"]).order_by("-pk").values_list("artifact_id", flat=True).first()
        )
        after = counted.filter(pk__gt=row["id"]).order_by("pk").values_list("artifact_id", flat=True).first()
        way = _ways_to_owners([row]).get(row["id"])
        report = _report_of(
            run_pk, row["created_at"], artifact_id, None if way is None else "/".join(way.path)
        )
    if way is None:  # superseded: nothing holds it any more, but the report knows where it was said
        path = tuple(report["path"].split("/")) if report else ()
        where = _where(Way(path, ()), plan) if path else {"path": "", "step_id": "", "goal": ""}
    else:
        where = _where(way, plan)
    return (
        document
        | where
        | {
            "superseded": row["superseded"],
            "reported": {
                "at": row["created_at"],
                "by": report["actor"] if report else None,
                "via": report["via"] if report else None,
                "number": report["number"] if report else None,
            },
            "previous": before,
            "next": after,
        }
    )


def _ways_to_owners(rows: list[Any]) -> dict[int, Way]:
    """The way to what each artifact hangs on, by the artifact's row id; none for a superseded one. Two statements."""
    outer = {
        row["id"]: row["instance__construct_id"] if row["state_id"] is None else row["state_id"]
        for row in rows
    }
    ways = ways_to([pk for pk in outer.values() if pk is not None])
    branches = {
        instance.pk: instance
        for instance in StepInstance.objects.filter(
            pk__in=[
                row["instance_id"]
                for row in rows
                if row["state_id"] is None and row["instance_id"] is not None
            ]
        ).only("instance_id", "metadata")
    }
    found: dict[int, Way] = {}
    for row in rows:
        if row["state_id"] is not None:
            found[row["id"]] = ways[row["state_id"]]
        elif row["instance_id"] is not None:
            around, branch = ways[row["instance__construct_id"]], branches[row["instance_id"]]
            found[row["id"]] = Way((*around.path, branch.instance_id), (*around.metadata, branch.metadata))
    return found


def _report_of(run_pk: int, at: datetime, artifact_id: str, path: str | None) -> Document | None:
    """The report that brought an artifact: of the same moment, and of its place where that is known."""
    reports: list[Any] = list(
        Report.objects.filter(run=run_pk, at=at)
        .order_by("number")
        .values("number", "path", "payload", "actor", "via")
    )
    bringing = [each for each in reports if each["payload"].get("artifacts")]
    named = [
        each
        for each in bringing
        if any(a.get("artifact_id") == artifact_id for a in each["payload"]["artifacts"])
    ]
    there = [each for each in bringing if path is None or each["path"] == path]
    return next(iter([*named, *there]), None)


def _run_and_plan(run_id: str) -> tuple[int, Plan]:
    row = Run.objects.filter(run_id=run_id).values_list("pk", "plan_id").first()
    if row is None:
        raise no_run(run_id)
    return row[0], load_plan(row[1])


def _where(way: Way, plan: Plan) -> dict[str, Any]:
    """``path, step_id, goal``: of an instance, its construct's."""
    step_id = way.path[-1] if len(way.path) % 2 else way.path[-2]
    step = plan.by_id.get(step_id)
    brought = parameters_of(plan, way.path, way.metadata)
    return {
        "path": "/".join(way.path),
        "step_id": step_id,
        "goal": "" if step is None else for_branch(step.goal, brought),
    }
