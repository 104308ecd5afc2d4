"""Reads of one run and of many. Every answer is a plain document of contract 3."""

from typing import Any

from chief_project.shared.caller import Caller, Right
from chief_project.shared.errors import NotFound, ValidationFailed
from chief_project.shared.reading import one_moment
from runs import mappers
from runs.mappers import Document
from runs.models import AppliedAmendment, Run
from runs.selectors.trees import step_states_of
from workflows.mappers import group_document, load_plan, step_document


def no_run(run_id: str) -> NotFound:
    """The refusal for an id that names no run."""
    return NotFound(f"no run is called '{run_id[:200]}': GET /v1/runs lists them")


def run_revision(*, run_id: str) -> int:
    """The revision of a run, for its ETag, in one statement. ``NotFound`` otherwise."""
    revision = Run.objects.filter(run_id=run_id).values_list("revision", flat=True).first()
    if revision is None:
        raise no_run(run_id)
    return int(revision)


def get_run(*, caller: Caller, run_id: str, include_plan: bool = False) -> Document:
    """The whole ``RunState`` (contract 3), as of one moment; with ``plan {steps, groups}`` if asked.

    Eight statements whatever the tree (ten with the read's own begin and end); one more for a plan that isn't
    cached, two more where an amendment removed steps.
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
    document = mappers.run_document(
        columns, _applied_ids([pk]).get(pk, []), step_states_of({pk: plan_pk}, plan=plan)[pk]
    )
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
    row = (
        Run.objects.filter(run_id=run_id)
        .values_list(
            "pk", "workflow__workflow_id", "workflow__title", "base_version", "base_plan_id", "plan_id"
        )
        .first()
    )
    if row is None:
        raise no_run(run_id)
    pk, workflow_id, title, base_version, base_plan_pk, plan_pk = row
    amendments = list(
        AppliedAmendment.objects.filter(run=pk).order_by("number").values_list("amendment_id", "plan_id")
    )
    if applied is not None:
        if not 0 <= applied <= len(amendments):
            raise ValidationFailed(
                f"applied={applied} is out of range: {len(amendments)} amendment(s) were applied to run '{run_id}', "
                f"so use 0 (as registered) to {len(amendments)}",
                parameter="applied",
                most=len(amendments),
            )
        amendments = amendments[:applied]
        plan_pk = amendments[-1][1] if amendments else base_plan_pk
    plan = load_plan(plan_pk)
    return {
        "run_id": run_id,
        "workflow_id": workflow_id,
        "title": title,
        "base_version": base_version,
        "applied_amendment_ids": [amendment_id for amendment_id, _ in amendments],
        "steps": [step_document(step) for step in plan.steps],
        "groups": [group_document(group) for group in plan.groups],
    }


def _applied_ids(run_pks: list[int]) -> dict[int, list[str]]:
    found: dict[int, list[str]] = {}
    rows: Any = AppliedAmendment.objects.filter(run__in=run_pks).order_by("run_id", "number")
    for run_pk, amendment_id in rows.values_list("run_id", "amendment_id"):
        found.setdefault(run_pk, []).append(amendment_id)
    return found
