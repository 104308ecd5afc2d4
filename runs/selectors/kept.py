"""What a run kept beside its states: every question with its answer, and everything it produced."""

from typing import Any

from django.db.models import Count, Q

from chief_project.shared.caller import Caller, Right
from chief_project.shared.paging import Page, Paging, paginate
from chief_project.shared.reading import one_moment
from runs import mappers
from runs.domain.paths import parameters_of
from runs.mappers import Document
from runs.models import Artifact, Question, Run, StepInstance
from runs.selectors.paths import Way, ways_to
from runs.selectors.runs import no_run
from workflows.domain.plan import Plan
from workflows.domain.templates import for_branch
from workflows.mappers import load_plan


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
        columns = ("id", "state_id", "instance_id", "instance__construct_id", "created_at")
        rows = made.annotate(remarks=Count("comments")).values(*columns, "remarks", *mappers.ARTIFACT_COLUMNS)
        page = paginate(rows, order=("-id",), paging=paging)
        ways = ways_to(
            [
                row["instance__construct_id"] if row["state_id"] is None else row["state_id"]
                for row in page.rows
            ]
        )
        branches = {
            instance.pk: instance
            for instance in StepInstance.objects.filter(
                pk__in=[row["instance_id"] for row in page.rows if row["state_id"] is None]
            ).only("instance_id", "metadata")
        }

    def document(row: Document) -> Document:
        made = mappers.artifact_document([row[name] for name in mappers.ARTIFACT_COLUMNS], [])
        del made["comments"]
        if row["state_id"] is not None:
            way = ways[row["state_id"]]
        else:
            outer, branch = ways[row["instance__construct_id"]], branches[row["instance_id"]]
            way = Way((*outer.path, branch.instance_id), (*outer.metadata, branch.metadata))
        return made | _where(way, plan) | {"created_at": row["created_at"], "remarks": row["remarks"]}

    return page.map(document)


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
