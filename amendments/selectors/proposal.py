"""An amendment as whoever decides on it reads it: what it does to the plan and to the run as that stands."""

from dataclasses import dataclass
from typing import Any

from django.db.models import F, OuterRef, Subquery

from amendments import mappers
from amendments.domain.differences import amendment_diff
from amendments.domain.policy import why_a_person_decides
from amendments.domain.words import Standing, Told, describe_operations
from amendments.models import Amendment, Operation
from amendments.selectors.amendments import amendment_answer, no_amendment
from amendments.selectors.standings import standings_of
from chief_project.shared.caller import Caller, Right
from chief_project.shared.reading import one_moment
from runs.models import AppliedAmendment, Run
from workflows.domain.plan import KeptPlan
from workflows.mappers import load_plans
from workflows.models import RemovedStep

Document = dict[str, Any]
_FORMER = ("amendment_id", "kind", "status", "reason", "created_at", "decided_by", "decided_at")
_ENDED = ("completed", "failed", "cancelled")


@dataclass(frozen=True, slots=True)
class Proposal:
    """An amendment and what its decision needs.

    ``amendment`` is the ``Amendment``; ``told`` has one entry per operation, with its target's standing while it is
    pending. ``before`` and ``after`` are the run's plans, ``shared`` the workflow's own that it meets or met,
    ``unchanged`` how many steps stay as they are and don't run again, ``released`` ``[{step_id, construct_id}]`` of body
    steps that come to stand at top level, and ``head`` ``{applies, why, differs}`` as in ``get_amendment_diff``.

    ``place`` is which of the run's applied amendments it is, from 1; None where it wasn't applied.

    ``run`` is ``{run_id, status, created_at, last_report_at}``, ``workflow`` ``{workflow_id, title, project, version,
    status}``; ``standings`` are those of every step of ``before`` as the run stands now, empty once it is decided;
    ``only_people`` says why no policy may approve it, None where one may; ``siblings`` counts other runs of the
    workflow that go on; ``former`` are this run's other amendments, the newest first:
    ``{amendment_id, kind, status, reason, created_at, decided_by, decided_at}``.
    """

    amendment: Document
    told: list[Told]
    before: KeptPlan
    after: KeptPlan
    shared: KeptPlan
    unchanged: int
    released: list[Document]
    head: Document
    run: Document
    workflow: Document
    standings: dict[str, Standing]
    only_people: str | None
    siblings: int
    former: list[Document]
    place: int | None

    @property
    def pending(self) -> bool:
        """Whether somebody has to decide."""
        return bool(self.amendment["status"] == "pending_approval")

    @property
    def running(self) -> list[str]:
        """The steps that are being worked on in any copy, in plan order; constructs left out."""
        return [
            step.id
            for step in self.before.plan.steps
            if not step.is_construct
            and (standing := self.standings.get(step.id))
            and standing.counts.get("running")
        ]


def get_proposal(*, caller: Caller, amendment_id: str) -> Proposal:
    """The amendment for whoever calls; ``NotFound`` without one.

    Ten statements at most, the read's own two among them; six more for plans that aren't cached.
    """
    caller.must(Right.READ, "read an amendment")
    with one_moment():
        applied = AppliedAmendment.objects.filter(
            run=OuterRef("run"), amendment_id=OuterRef("amendment_id")
        ).values("number")
        found = Amendment.objects.select_related("run__workflow").annotate(place=Subquery(applied))
        row = found.filter(amendment_id=amendment_id).first()
        if row is None:
            raise no_amendment(amendment_id)
        run, workflow = row.run, row.run.workflow
        pending = row.status == "pending_approval"
        document = amendment_answer(amendment_id=amendment_id)
        operations = mappers.operation_values(
            Operation.objects.filter(amendment=row)
            .order_by("position")
            .values_list(*mappers.OPERATION_COLUMNS)
        )
        never = RemovedStep.objects.filter(workflow=workflow).values_list("step_id", flat=True)
        keys = (row.plan_before_id, row.plan_after_id, workflow.plan_id if pending else row.head_before_id)
        plans = load_plans(keys)
        before, after, head = (plans[key] for key in keys)
        standings: dict[str, Standing] = {}
        if pending:
            standings = standings_of([run.pk], before.by_id.keys()).get(run.pk, {})
        difference = amendment_diff(
            before=before,
            after=after,
            head=head,
            operations=operations,
            never=frozenset(never) if pending else frozenset(),
        )
        differs = {each["step_id"] for each in difference["plan"]["diff"]["changed"]}
        replayed = {each.target for each in operations if each.op == "replay_step"}
        again = {each for each in replayed - differs if each in after.by_id}
        siblings = Run.objects.filter(workflow=workflow).exclude(pk=run.pk).exclude(status__in=_ENDED).count()
        others = Amendment.objects.filter(run=run).exclude(pk=row.pk).order_by("-created_at", "-id")
        former: list[Document] = [dict(each) for each in others.values(*_FORMER)]
    return Proposal(
        amendment=document,
        told=describe_operations(operations, before, standings),
        before=KeptPlan(keys[0], before, workflow.title),
        after=KeptPlan(keys[1], after, workflow.title),
        shared=KeptPlan(keys[2], head, workflow.title),
        unchanged=difference["plan"]["diff"]["unchanged"] - len(again),
        released=difference["becomes_top_level"],
        head=difference["head"],
        run={
            "run_id": run.run_id,
            "status": run.status,
            "created_at": run.created_at,
            "last_report_at": run.last_report_at,
        },
        workflow={
            "workflow_id": workflow.workflow_id,
            "title": workflow.title,
            "project": workflow.project,
            "version": workflow.version,
            "status": workflow.status,
        },
        standings=standings,
        only_people=why_a_person_decides(
            kind=row.kind,
            before=before,
            after=after,
            operations=operations,
            blocked=[step_id for step_id, standing in standings.items() if standing.counts.get("blocked")],
        ),
        siblings=siblings,
        former=former,
        place=row.place,
    )


def pending_of_workflow(*, caller: Caller, workflow_id: str) -> list[Document]:
    """What waits for a decision in the workflow's runs, the longest first: ``{amendment_id, run_id, proposed_by,
    created_at}``. One statement."""
    caller.must(Right.READ, "read amendments")
    waiting = Amendment.objects.filter(
        status="pending_approval", run__workflow__workflow_id=workflow_id
    ).exclude(run__status="cancelled")
    columns = ("amendment_id", "proposed_by", "created_at")
    rows = waiting.order_by("created_at", "pk").values(*columns, run_id_=F("run__run_id"))
    return [{name: row[name] for name in columns} | {"run_id": row["run_id_"]} for row in rows]
