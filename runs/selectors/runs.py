"""Reads of one run and of many. Every answer is a plain document of contract 3."""

from django.db.models import Q
from django.db.models.functions import Coalesce, Left

from chief_project.shared import search
from chief_project.shared.caller import Caller, Right
from chief_project.shared.errors import NotFound, ValidationFailed
from chief_project.shared.paging import Page, Paging, paginate
from chief_project.shared.reading import one_moment
from runs import mappers
from runs.mappers import Document
from runs.models import AppliedAmendment, Report, Run
from runs.selectors.paths import locate
from runs.selectors.trees import applied_amendments, step_states_of
from workflows.domain.plan import KeptPlan
from workflows.mappers import group_document, load_plan, step_document


def no_run(run_id: str) -> NotFound:
    """The refusal for an id that names no run."""
    return NotFound(
        f"there is no run '{run_id[:200]}': list_runs (GET /v1/runs) names them", run_id=run_id[:200]
    )


def run_revision(*, caller: Caller, run_id: str) -> int:
    """The revision of a run, for its ETag, in one statement. ``NotFound`` otherwise."""
    caller.must(Right.READ, "read a run")
    revision = Run.objects.filter(run_id=run_id).values_list("revision", flat=True).first()
    if revision is None:
        raise no_run(run_id)
    return int(revision)


def get_run(*, caller: Caller, run_id: str, include_plan: bool = False) -> Document:
    """The whole ``RunState`` (contract 3), as of one moment; with ``plan {steps, groups}`` if asked.

    Eight statements whatever the tree (ten with the read's own begin and end); one more for a plan that isn't
    cached, one more where an amendment removed steps.
    """
    caller.must(Right.READ, "read a run")
    with one_moment():
        return whole_run(run_id=run_id, include_plan=include_plan)


def whole_run(*, run_id: str, include_plan: bool = False) -> Document:
    """``get_run`` for a service that answers with the run it wrote: no question of rights, no moment of its own."""
    row = Run.objects.filter(run_id=run_id).values_list("pk", "plan_id", *mappers.RUN_COLUMNS).first()
    if row is None:
        raise no_run(run_id)
    pk, plan_pk, *columns = row
    plan = load_plan(plan_pk) if include_plan else None
    applied = applied_amendments([pk])
    states = step_states_of({pk: plan_pk}, applied=applied, plan=plan)[pk]
    document = mappers.run_document(columns, applied.get(pk, []), states)
    if plan is not None:
        document["plan"] = {
            "steps": [step_document(step) for step in plan.steps],
            "groups": [group_document(group) for group in plan.groups],
        }
    return document


def get_run_definition(*, caller: Caller, run_id: str, applied: int | None = None) -> Document:
    """The plan this run goes by, or the one after its first ``applied`` amendments (0: as it was registered).

    ``{run_id, workflow_id, title, base_version, applied_amendment_ids, steps, groups}``. ``ValidationFailed`` when
    the run has fewer amendments than that.
    """
    caller.must(Right.READ, "read a run's plan")
    row, amendment_ids, plan_pk = _plan_after(run_id, applied)
    plan = load_plan(plan_pk)
    return {
        "run_id": run_id,
        "workflow_id": row["workflow__workflow_id"],
        "title": row["workflow__title"],
        "base_version": row["base_version"],
        "applied_amendment_ids": amendment_ids,
        "steps": [step_document(step) for step in plan.steps],
        "groups": [group_document(group) for group in plan.groups],
    }


def plan_of_run(*, caller: Caller, run_id: str, applied: int | None = None) -> KeptPlan:
    """The plan this run goes by now, or went by after its first ``applied`` amendments, as a value; its title is the
    workflow's. Refuses what ``get_run_definition`` refuses.

    For what draws it in this process. One statement, one more with ``applied``, six more where the plan isn't cached.
    """
    caller.must(Right.READ, "read a run's plan")
    if applied is None:
        found = Run.objects.filter(run_id=run_id).values_list("plan_id", "workflow__title").first()
        if found is None:
            raise no_run(run_id)
        key, title = found
    else:
        row, _, key = _plan_after(run_id, applied)
        title = row["workflow__title"]
    return KeptPlan(key, load_plan(key), title)


def _plan_after(run_id: str, applied: int | None) -> tuple[Document, list[str], int]:
    """The run's row, the amendments that made the plan that is asked for, and that plan's key. Two statements."""
    columns = ("pk", "workflow__workflow_id", "workflow__title", "base_version", "base_plan_id", "plan_id")
    row = Run.objects.filter(run_id=run_id).values(*columns).first()
    if row is None:
        raise no_run(run_id)
    made = list(
        AppliedAmendment.objects.filter(run=row["pk"])
        .order_by("number")
        .values_list("amendment_id", "plan_id")
    )
    if applied is None:
        return row, [amendment_id for amendment_id, _ in made], row["plan_id"]
    if not 0 <= applied <= len(made):
        raise ValidationFailed(
            f"applied={applied} is out of range: {len(made)} amendment(s) were applied to run '{run_id}', "
            f"so use 0 (as registered) to {len(made)}",
            parameter="applied",
            most=len(made),
        )
    plan_pk = made[applied - 1][1] if applied else row["base_plan_id"]
    return row, [amendment_id for amendment_id, _ in made[:applied]], plan_pk


def list_runs(
    *,
    caller: Caller,
    paging: Paging,
    status: str | None = None,
    workflow_id: str | None = None,
    q: str | None = None,
    sort: str = "created_at",
    expand_step_states: bool = False,
) -> Page:
    """Runs without their trees, or with them if ``expand_step_states``.

    ``sort`` is ``created_at`` (the newest first) or ``last_report_at`` (the longest silent first; a run that never
    reported is silent since it was registered). ``q`` finds runs by the beginnings of words in their id, or in their
    workflow's title, goals and id. Four statements; with trees at most nine more, however many runs.
    """
    caller.must(Right.READ, "list runs")
    runs = Run.objects.all()
    if status is not None:
        runs = runs.filter(status=status)
    if workflow_id is not None:
        runs = runs.filter(workflow__workflow_id=workflow_id)
    if q is not None:
        runs = runs.filter(search.matching("run", q) | search.matching("workflow", q, field="workflow_id"))
    order: tuple[str, ...] = ("-created_at", "-id")
    columns = ["id", "plan_id", *mappers.RUN_COLUMNS]
    if sort == "last_report_at":
        runs = runs.annotate(heard_at=Coalesce("last_report_at", "created_at"))
        order = ("heard_at", "id")
        columns.append("heard_at")
    with one_moment():
        page = paginate(runs.values(*columns), order=order, paging=paging)
        pks = [row["id"] for row in page.rows]
        applied = applied_amendments(pks)
        plans = {row["id"]: row["plan_id"] for row in page.rows} if expand_step_states else {}
        trees = step_states_of(plans, applied=applied)
    return page.map(
        lambda row: mappers.run_document(
            [row[column] for column in mappers.RUN_COLUMNS], applied.get(row["id"], []), trees.get(row["id"])
        )
    )


def list_updates(
    *,
    caller: Caller,
    run_id: str,
    paging: Paging,
    path: tuple[str, ...] | None = None,
    newest_first: bool = False,
) -> Page:
    """Every report ever made in a run, its payload as it was sent, oldest first unless told otherwise; what an
    amendment superseded too.

    ``{number, at, kind, path, payload, actor, via}``. ``path`` keeps those of one step or instance and of all that
    lies below it; ``NotFound`` when the run has nothing there and never had a report for it. Three statements.
    """
    caller.must(Right.READ, "read a run's reports")
    run_pk = Run.objects.filter(run_id=run_id).values_list("pk", flat=True).first()
    if run_pk is None:
        raise no_run(run_id)
    reports = Report.objects.filter(run=run_pk)
    if path is not None:
        text = "/".join(path)
        # Not LIKE: on SQLite it takes 'A' for 'a', and ids differ by case.
        reports = reports.annotate(head=Left("path", len(text) + 1)).filter(Q(path=text) | Q(head=f"{text}/"))
    page = paginate(
        reports.values("number", "at", "kind", "path", "payload", "actor", "via"),
        order=("-number" if newest_first else "number",),
        paging=paging,
    )
    if path is not None and not page.rows and paging.cursor is None:
        locate(run_pk=run_pk, run_id=run_id, path=path)
    return page
