"""Reads of amendments (contract 4)."""

from collections.abc import Collection
from typing import Any

from amendments import mappers
from amendments.domain.differences import amendment_diff
from amendments.models import Amendment, Operation
from chief_project.shared.caller import Caller, Right
from chief_project.shared.errors import NotFound
from chief_project.shared.paging import Page, Paging, paginate
from chief_project.shared.reading import one_moment
from runs.models import Run
from runs.selectors.runs import no_run
from workflows.domain.plan import KeptPlan
from workflows.mappers import load_plan, load_plans
from workflows.models import RemovedStep

Document = dict[str, Any]


def no_amendment(amendment_id: str) -> NotFound:
    """The refusal for an id that names no amendment."""
    return NotFound(
        f"there is no amendment '{amendment_id[:200]}': list_amendments (GET /v1/amendments) names them",
        amendment_id=amendment_id[:200],
    )


def get_amendment(*, caller: Caller, amendment_id: str) -> Document:
    """The ``Amendment``; ``NotFound`` without one. Two statements beside the read's own begin and end."""
    caller.must(Right.READ, "read an amendment")
    with one_moment():
        return amendment_answer(amendment_id=amendment_id)


def amendment_answer(*, amendment_id: str) -> Document:
    """``get_amendment`` for a service that answers with what it wrote."""
    row = (
        Amendment.objects.filter(amendment_id=amendment_id)
        .values_list("pk", *mappers.AMENDMENT_COLUMNS)
        .first()
    )
    if row is None:
        raise no_amendment(amendment_id)
    pk, *columns = row
    return mappers.amendment_document(columns, _operations([pk]).get(pk, []))


def list_amendments(
    *, caller: Caller, paging: Paging, run_id: str | None = None, status: str | None = None
) -> Page:
    """Amendments that match everything given, newest first; ``NotFound`` for an unknown run.

    Three statements whatever the page holds, one more with ``run_id``.
    """
    caller.must(Right.READ, "read amendments")
    with one_moment():
        found = Amendment.objects.all()
        if run_id is not None:
            run = Run.objects.filter(run_id=run_id).values_list("pk", flat=True).first()
            if run is None:
                raise no_run(run_id)
            found = found.filter(run=run)
        if status is not None:
            found = found.filter(status=status)
        names = ("id", *mappers.AMENDMENT_COLUMNS)
        page = paginate(found.values(*names), order=("-created_at", "-id"), paging=paging)
        operations = _operations([row["id"] for row in page.rows])
        return page.map(
            lambda row: mappers.amendment_document(
                [row[name] for name in mappers.AMENDMENT_COLUMNS], operations.get(row["id"], [])
            )
        )


def get_amendment_diff(*, caller: Caller, amendment_id: str) -> Document:
    """What the amendment does, or did: readable and structured (``amendment_diff``).

    While it is pending it is compared with the workflow's head as that stands now; afterwards with the head that it
    met when it was decided.
    """
    caller.must(Right.READ, "read an amendment")
    with one_moment():
        row = Amendment.objects.select_related("run__workflow").filter(amendment_id=amendment_id).first()
        if row is None:
            raise no_amendment(amendment_id)
        workflow = row.run.workflow
        pending = row.status == "pending_approval"
        never = (
            frozenset(RemovedStep.objects.filter(workflow=workflow).values_list("step_id", flat=True))
            if pending
            else frozenset[str]()
        )
        operations = mappers.operation_values(
            Operation.objects.filter(amendment=row)
            .order_by("position")
            .values_list(*mappers.OPERATION_COLUMNS)
        )
        difference = amendment_diff(
            before=load_plan(row.plan_before_id),
            after=load_plan(row.plan_after_id),
            head=load_plan(workflow.plan_id if pending else row.head_before_id),
            operations=operations,
            never=never,
        )
    return {
        "amendment_id": row.amendment_id,
        "run_id": row.run.run_id,
        "workflow_id": workflow.workflow_id,
        "kind": row.kind,
        "status": row.status,
    } | difference


def plans_of_amendment(*, caller: Caller, amendment_id: str) -> tuple[KeptPlan, KeptPlan, KeptPlan]:
    """The run's plan before and after the amendment, and the workflow's head that it meets or met, as values.

    The head as it stands while the amendment is pending, afterwards as it was at the decision. One statement, six
    more where a plan isn't cached, two for the read's begin and end.
    """
    caller.must(Right.READ, "read an amendment")
    with one_moment():
        row = Amendment.objects.select_related("run__workflow").filter(amendment_id=amendment_id).first()
        if row is None:
            raise no_amendment(amendment_id)
        workflow = row.run.workflow
        head = workflow.plan_id if row.status == "pending_approval" else row.head_before_id
        keys = (row.plan_before_id, row.plan_after_id, head)
        plans = load_plans(keys)
    before, after, head_plan = (KeptPlan(key, plans[key], workflow.title) for key in keys)
    return before, after, head_plan


def _operations(amendment_pks: Collection[int]) -> dict[int, list[Document]]:
    found: dict[int, list[Document]] = {}
    rows = (
        Operation.objects.filter(amendment__in=amendment_pks)
        .order_by("amendment_id", "position")
        .values_list("amendment_id", *mappers.OPERATION_COLUMNS)
    )
    for amendment_pk, *columns in rows:
        found.setdefault(amendment_pk, []).append(mappers.operation_document(columns))
    return found
