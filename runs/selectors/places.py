"""One place in a run, a step's state or an instance, with everything that hangs on it: for whoever looks at just that."""

from dataclasses import dataclass, replace
from typing import Any

from django.db.models import Q

from chief_project.shared.caller import Caller, Right
from chief_project.shared.reading import one_moment
from runs import mappers
from runs.domain.board import called
from runs.domain.paths import Path, parameters_of
from runs.domain.skips import skip_root, skip_sentence
from runs.domain.status import STATUSES
from runs.mappers import Document
from runs.models import Report, Run, StepInstance, StepState
from runs.selectors.hung import hung_on_instance, hung_on_state
from runs.selectors.paths import locate, ways_to
from runs.selectors.runs import no_run
from runs.selectors.trees import removing_amendments
from workflows.domain.plan import Plan, Step
from workflows.domain.templates import for_branch
from workflows.mappers import load_plan

MOST_REPORTS = 10
MOST_MEMBERS = 12
_MOST_BLOCKED = 500
_NEAR = ("needs", "then", "members")
_TALLY = tuple(f"n_{status}" for status in STATUSES)


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A step or an instance beside this one: where it is and how it stands. ``failures`` were tolerated in it;
    ``waiting``: a person is waited for in it, however deep.
    """

    path: Path
    name: str
    goal: str
    status: str
    stale: bool
    failures: int = 0
    waiting: bool = False

    @property
    def look(self) -> str:
        """The state that a person is told."""
        if self.stale:
            return "stale"
        return "waiting" if self.waiting and self.status in ("running", "pending") else self.status


@dataclass(frozen=True, slots=True)
class Place:
    """What stands at ``path``.

    ``kind`` is ``step`` or ``instance``; ``step`` is what the plan says of it (of an instance: of its construct), None
    once an amendment took it out. ``name`` and ``goal`` read as they do in this branch; ``brought`` are its parameters.
    ``state`` is the ``StepState`` or ``StepInstance`` of the API without what is nested in it. ``needs`` and ``then``
    are the steps of its scope that it waits for and that wait for it; ``before`` and ``after`` those beside it.
    ``members`` are an instance's steps, or a construct's instances: all of a few, of many those that ask for attention
    and then the first ones. ``waiting``: a person is waited for somewhere inside. ``tally`` counts all of them by status. ``reports`` are the newest of this very path, newest first, ``reported``
    how many there are.
    """

    kind: str
    path: Path
    name: str
    goal: str
    type: str
    step: Step | None
    brought: Document
    state: Document
    needs: list[Neighbour]
    then: list[Neighbour]
    before: Neighbour | None
    after: Neighbour | None
    members: list[Neighbour]
    waiting: bool
    tally: dict[str, int]
    reports: list[Document]
    reported: int


def get_place(*, caller: Caller, run_id: str, path: Path) -> Place:
    """What stands at ``path`` (odd: a step, even: an instance) in a run; ``NotFound`` names the part that isn't there.

    At most eighteen statements, however large the run; six more for a plan that isn't cached.
    """
    caller.must(Right.READ, "read a run")
    with one_moment():
        row = Run.objects.filter(run_id=run_id).values_list("pk", "plan_id").first()
        if row is None:
            raise no_run(run_id)
        run_pk, plan_pk = row
        kind, pk = locate(run_pk=run_pk, run_id=run_id, path=path)
        plan = load_plan(plan_pk)
        way = pk if kind == "state" else StepInstance.objects.values_list("construct", flat=True).get(pk=pk)
        metadata = list(ways_to([way])[way].metadata)
        look = _at_state if kind == "state" else _at_instance
        reports = Report.objects.filter(run=run_pk, path="/".join(path)).order_by("-number")
        columns = ("number", "at", "kind", "path", "payload", "actor", "via")
        newest: list[Document] = [dict(report) for report in reports.values(*columns)[:MOST_REPORTS]]
        seen = look(run_pk, pk, path, plan, metadata)
        near = [each for name in _NEAR for each in seen[name]]
        blocked = _blocked(run_pk) if any(each.status == "running" for each in near) else []
        for name in _NEAR:
            seen[name] = [replace(each, waiting=_is_around(each.path, blocked)) for each in seen[name]]
        # What runs and has a person waited for in it is told as waiting, here as well.
        waiting = len(
            {
                each[: len(path) + 1]
                for each in blocked
                if len(each) > len(path) + 1 and _is_around(path, [each])
            }
        )
        waiting = min(waiting, seen["tally"]["running"])
        seen["tally"]["running"] -= waiting
        seen["tally"]["blocked"] += waiting
        return Place(
            **seen,
            path=path,
            waiting=_is_around(path, blocked),
            reports=newest,
            reported=len(newest) if len(newest) < MOST_REPORTS else reports.count(),
        )


def _blocked(run_pk: int) -> list[Path]:
    """Where a person is waited for. Two statements."""
    blocked = (
        StepState.objects.filter(run=run_pk, status="blocked").order_by("pk").values_list("pk", flat=True)
    )
    return [way.path for way in ways_to(list(blocked[:_MOST_BLOCKED])).values()]


def _is_around(path: Path, blocked: list[Path]) -> bool:
    return any(len(each) > len(path) and each[: len(path)] == path for each in blocked)


def _at_state(run_pk: int, pk: int, path: Path, plan: Plan, metadata: list[Document]) -> dict[str, Any]:
    row = StepState.objects.get(pk=pk)
    brought = parameters_of(plan, path, metadata)
    hung = hung_on_state(pk, _Counts(row.artifact_count, row.question_count, row.history_count))
    scope = {
        state.step_id: state
        for state in StepState.objects.filter(run=run_pk, instance=row.instance_id).only(
            "step_id", "status", "skip_cause", "stale"
        )
    }
    step = plan.by_id.get(row.step_id)
    around = path[:-1]

    def beside(step_id: str) -> Neighbour:
        other, goal = scope[step_id], plan.by_id[step_id].goal if step_id in plan.by_id else ""
        return Neighbour(
            (*around, step_id), step_id, for_branch(goal, brought), other.status, other.stale is not None
        )

    order = _order(plan, path, scope)
    at = order.index(row.step_id)
    members = _instances(row, step, path) if step is not None and step.is_construct else []
    return {
        "kind": "step",
        "name": row.step_id,
        "goal": "" if step is None else for_branch(step.goal, brought),
        "type": row.type,
        "step": step,
        "brought": brought,
        "state": mappers.minimal_state_document(
            row,
            artifacts=hung.artifacts,
            questions=hung.questions,
            history=hung.history,
            skipped=_why_skipped(run_pk, row, plan, scope),
        ),
        "needs": [beside(each) for each in (step.depends_on if step else ()) if each in scope],
        "then": [beside(each) for each in plan.dependents.get(row.step_id, ()) if each in scope],
        "before": beside(order[at - 1]) if at else None,
        "after": beside(order[at + 1]) if at + 1 < len(order) else None,
        "members": members,
        "tally": _tally(row),
    }


def _at_instance(run_pk: int, pk: int, path: Path, plan: Plan, metadata: list[Document]) -> dict[str, Any]:
    row = StepInstance.objects.get(pk=pk)
    brought = parameters_of(plan, path, [*metadata, row.metadata])
    hung = hung_on_instance(pk, _Counts(row.artifact_count, 0, row.history_count))
    construct = plan.by_id.get(path[-2])
    states = {
        state.step_id: state
        for state in StepState.objects.filter(instance=pk).only("step_id", "status", "stale")
    }
    members = [
        Neighbour(
            (*path, step_id),
            step_id,
            for_branch(plan.by_id[step_id].goal, brought) if step_id in plan.by_id else "",
            states[step_id].status,
            states[step_id].stale is not None,
        )
        for step_id in [*row.body, *sorted(states.keys() - set(row.body))]
        if step_id in states
    ]
    others = StepInstance.objects.filter(construct=row.construct_id)
    before = others.filter(index__lt=row.index).order_by("-index").first()
    after = others.filter(index__gt=row.index).order_by("index").first()
    return {
        "kind": "instance",
        "name": called(construct, row.instance_id, row.metadata),
        "goal": "" if construct is None else for_branch(construct.goal, brought),
        "type": row.kind,
        "step": construct,
        "brought": brought,
        "state": mappers.minimal_instance_document(
            row, parent_step_id=path[-2], artifacts=hung.artifacts, history=hung.history
        ),
        "needs": [],
        "then": [],
        "before": None if before is None else _member(before, construct, path[:-1]),
        "after": None if after is None else _member(after, construct, path[:-1]),
        "members": members,
        "tally": _tally(row),
    }


def _instances(state: StepState, step: Step, path: Path) -> list[Neighbour]:
    """The instances of a construct by index; of many, those that failed, run or wait before the first ones. Two
    statements at most.
    """
    rows = StepInstance.objects.filter(construct=state.pk).order_by("index")
    first = list(rows[: MOST_MEMBERS + 1])
    if len(first) <= MOST_MEMBERS:
        return [_member(row, step, path) for row in first]
    wanted = Q(n_failed__gt=0) | Q(failures__gt=0) | Q(n_blocked__gt=0) | Q(status="running")
    asking = list(rows.filter(wanted)[: 2 * MOST_MEMBERS])
    seen = {row.pk for row in asking}
    rest = [row for row in first if row.pk not in seen]
    return [_member(row, step, path) for row in (*asking, *rest[: MOST_MEMBERS // 3])]


def _member(row: StepInstance, construct: Step | None, path: Path) -> Neighbour:
    name = called(construct, row.instance_id, row.metadata)
    return Neighbour(
        (*path, row.instance_id), name, row.summary or "", row.status, row.stale is not None, row.failures
    )


def _order(plan: Plan, path: Path, scope: dict[str, StepState]) -> list[str]:
    """The steps of a scope as they are read: the plan's first, then what an amendment took out."""
    planned = (
        [step_id for step_id in plan.scope(path[-3] if len(path) > 2 else None) if step_id in scope]
        if (len(path) < 3 or path[-3] in plan.by_id)
        else []
    )
    return [*planned, *sorted(scope.keys() - set(planned))]


def _why_skipped(run_pk: int, row: StepState, plan: Plan, scope: dict[str, StepState]) -> str | None:
    if row.skip_cause is None:
        return None
    if row.skip_cause == "removed":
        by = removing_amendments([run_pk], [row.step_id]).get(run_pk, {}).get(row.step_id)
        return skip_sentence("removed", amendment_id=by)
    standings = {step_id: (state.status, state.skip_cause) for step_id, state in scope.items()}
    root = skip_root(plan, standings, row.step_id) if row.skip_cause == "dependency" else None
    return skip_sentence(row.skip_cause, root=root)


def _tally(row: StepState | StepInstance) -> dict[str, int]:
    return {status: getattr(row, name) for status, name in zip(STATUSES, _TALLY, strict=True)}


@dataclass(slots=True)
class _Counts:
    artifacts: int
    questions: int
    history: int
