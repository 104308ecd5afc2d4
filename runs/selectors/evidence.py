"""What a person needs to know of a run to decide on one thing in it: what led there, and what hangs on it."""

from collections.abc import Collection, Iterable
from typing import Any

from django.db.models import Count, F, Q, Window
from django.db.models.functions import RowNumber

from runs.domain.paths import parameters_of
from runs.domain.status import STATUSES
from runs.mappers import Document
from runs.models import Artifact, Report, Run, StepState
from runs.selectors.paths import ways_to
from workflows.domain.plan import CONSTRUCTS, Plan
from workflows.mappers import load_plans

_ARTIFACTS = 6
_FAILURES = 3
_TALLY = tuple(f"n_{status}" for status in STATUSES)


def surroundings(state_pks: Collection[int]) -> dict[int, Document]:
    """Around each blocked state, by row id.

    ``evidence``: the steps it depends on, in order, each ``{path, step_id, type, goal, status, summary, at, criteria,
    criteria_met, failures, counts, artifacts}``; ``artifacts``: its own; ``holds``: how many steps of its scope can't
    begin before it; ``running``: how many other tasks of the run go on; ``heard`` as in ``last_heard``.
    Six statements, whatever the states.
    """
    if not state_pks:
        return {}
    rows: list[Any] = list(
        StepState.objects.filter(pk__in=state_pks).values(
            "pk", "run_id", "instance_id", "step_id", "run__plan_id"
        )
    )
    plans = load_plans({row["run__plan_id"] for row in rows})
    ways = ways_to([row["pk"] for row in rows])
    needed: dict[int, tuple[str, ...]] = {}
    for row in rows:
        step = plans[row["run__plan_id"]].by_id.get(row["step_id"])
        needed[row["pk"]] = () if step is None else step.depends_on
    found = _states_of_scopes(rows, {step_id for each in needed.values() for step_id in each})
    artifacts = artifacts_of([*state_pks, *(state["pk"] for state in found.values())])
    running = _running_tasks({row["run_id"] for row in rows})
    heard = last_heard({row["run_id"] for row in rows})
    around = {}
    for row in rows:
        plan = plans[row["run__plan_id"]]
        scope = ways[row["pk"]].path[:-1]
        states = [found.get((*_scope(row), step_id)) for step_id in needed[row["pk"]]]
        around[row["pk"]] = {
            "evidence": [_evidence(state, plan, scope, artifacts) for state in states if state is not None],
            "artifacts": artifacts.get(row["pk"], []),
            "holds": len(_behind(plan, row["step_id"])),
            "running": running.get(row["run_id"], 0),
            "heard": heard.get(row["run_id"]),
        }
    return around


def failures(run_pks: Collection[int]) -> dict[int, Document]:
    """What made each failed run fail, by row id.

    ``failures``: the first three steps that failed, not those that failed because of them, each ``{path, step_id,
    goal, parameters, summary, at, artifacts, around}``, where ``around`` ``{done, failed, of}`` counts the instances
    of the construct it stands in (null at top level); ``counts`` ``{status: how many}`` of the top-level steps;
    ``will_not_run``: how many steps are skipped behind a failure; ``heard``. Six statements, whatever the runs.
    """
    if not run_pks:
        return {}
    tallies = {
        pk: (plan_pk, dict(zip(STATUSES, counts, strict=True)))
        for pk, plan_pk, *counts in Run.objects.filter(pk__in=run_pks).values_list("pk", "plan_id", *_TALLY)
    }
    stopped = _stopped_at(run_pks)
    plans = load_plans({plan_pk for plan_pk, _ in tallies.values()})
    ways = ways_to([row["pk"] for row in stopped])
    artifacts = artifacts_of([row["pk"] for row in stopped])
    skipped = StepState.objects.filter(run__in=run_pks, status="skipped", skip_cause="dependency")
    will_not_run = dict(skipped.values_list("run_id").annotate(Count("pk")))
    heard = last_heard(run_pks)
    found: dict[int, Document] = {
        pk: {
            "failures": [],
            "counts": counts,
            "will_not_run": will_not_run.get(pk, 0),
            "heard": heard.get(pk),
        }
        for pk, (_, counts) in tallies.items()
    }
    for row in stopped:
        plan, way = plans[tallies[row["run_id"]][0]], ways[row["pk"]]
        step = plan.by_id.get(row["step_id"])
        around = {name: row[f"instance__construct__n_{name}"] for name in STATUSES}
        found[row["run_id"]]["failures"].append(
            {
                "path": "/".join(way.path),
                "step_id": row["step_id"],
                "goal": None if step is None else step.goal,
                "parameters": parameters_of(plan, way.path, way.metadata),
                "summary": row["summary"],
                "at": row["completed_at"],
                "artifacts": artifacts.get(row["pk"], []),
                "around": None
                if row["instance_id"] is None
                else {
                    "done": around["completed"],
                    "failed": around["failed"],
                    "of": sum(around.values()),
                },
            }
        )
    return found


def last_heard(run_pks: Collection[int]) -> dict[int, Document]:
    """The newest report of each run: ``{actor, at}``. One statement."""
    newest = Report.objects.filter(run__in=run_pks, number=F("run__reports"))
    return {
        run_pk: {"actor": actor, "at": at}
        for run_pk, actor, at in newest.values_list("run_id", "actor", "at")
    }


def artifacts_of(state_pks: Collection[int]) -> dict[int, list[Document]]:
    """What each state brought that still counts: the newest six, ``{artifact_id, type, description, ref}``."""
    rows = Artifact.objects.filter(state__in=state_pks, superseded=False).annotate(
        place=Window(RowNumber(), partition_by="state", order_by=F("pk").desc())
    )
    found: dict[int, list[Document]] = {}
    for state_pk, artifact_id, kind, description, ref in (
        rows.filter(place__lte=_ARTIFACTS)
        .order_by("pk")
        .values_list("state_id", "artifact_id", "type", "description", "ref")
    ):
        found.setdefault(state_pk, []).append(
            {"artifact_id": artifact_id, "type": kind, "description": description, "ref": ref}
        )
    return found


def _scope(row: Document) -> tuple[int, int | None]:
    """States of one scope share their run and their instance."""
    return row["run_id"], row["instance_id"]


def _states_of_scopes(
    rows: Iterable[Document], step_ids: set[str]
) -> dict[tuple[int, int | None, str], Document]:
    """The states of these steps that stand in a scope of one of ``rows``."""
    scopes = {_scope(row) for row in rows}
    instances = [instance for _, instance in scopes if instance is not None]
    runs = [run for run, instance in scopes if instance is None]
    states = StepState.objects.filter(
        Q(instance__in=instances) | Q(run__in=runs, instance=None), step_id__in=step_ids
    )
    columns = ("summary", "completed_at", "criteria_met", "failures", *_TALLY)
    return {
        (*_scope(state), state["step_id"]): state
        for state in states.values("pk", "run_id", "instance_id", "step_id", "type", "status", *columns)
    }


def _evidence(
    state: Document, plan: Plan, scope: tuple[str, ...], artifacts: dict[int, list[Document]]
) -> Document:
    step = plan.by_id.get(state["step_id"])
    return {
        "path": "/".join((*scope, state["step_id"])),
        "step_id": state["step_id"],
        "type": state["type"],
        "goal": None if step is None else step.goal,
        "status": state["status"],
        "summary": state["summary"],
        "at": state["completed_at"],
        "criteria": 0 if step is None else len(step.criteria),
        "criteria_met": len(state["criteria_met"]),
        "failures": state["failures"],
        "counts": {status: state[f"n_{status}"] for status in STATUSES}
        if state["type"] in CONSTRUCTS
        else None,
        "artifacts": artifacts.get(state["pk"], []),
    }


def _behind(plan: Plan, step_id: str) -> set[str]:
    """Everything in the step's scope that waits for it, directly or not."""
    found: set[str] = set()
    ahead = [step_id]
    while ahead:
        for dependent in plan.dependents.get(ahead.pop(), ()):
            if dependent not in found:
                found.add(dependent)
                ahead.append(dependent)
    return found


def _running_tasks(run_pks: Collection[int]) -> dict[int, int]:
    tasks = StepState.objects.filter(run__in=run_pks, status="running").exclude(type__in=CONSTRUCTS)
    return dict(tasks.values_list("run_id").annotate(Count("pk")))


def _stopped_at(run_pks: Collection[int]) -> list[Any]:
    """The first failed tasks and checkpoints of each run, those left out that a construct tolerated."""
    told = Q(instance=None) | Q(instance__status="failed", instance__construct__status="failed")
    failed = StepState.objects.filter(told, run__in=run_pks, status="failed").exclude(type__in=CONSTRUCTS)
    numbered = failed.annotate(
        place=Window(RowNumber(), partition_by="run", order_by=["completed_at", "pk"])
    ).filter(place__lte=_FAILURES)
    around = (f"instance__construct__{name}" for name in _TALLY)
    return list(
        numbered.order_by("run", "place").values(
            "pk", "run_id", "instance_id", "step_id", "summary", "completed_at", *around
        )
    )
