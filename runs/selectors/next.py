"""What a harness may do now (contract 3, ``GET /runs/{id}/next``): a few narrow reads, a bounded answer."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any

from chief_project.shared.caller import Caller, Right
from chief_project.shared.reading import one_moment
from runs.domain.next import (
    Group,
    InstanceFact,
    StateFact,
    Survey,
    Target,
    hint,
    is_done,
    state_path,
    survey,
)
from runs.domain.paths import parameters_of
from runs.mappers import Document
from runs.models import Question, Run, StepInstance, StepState
from runs.selectors.paths import locate
from runs.selectors.runs import no_run
from workflows.domain.plan import Plan, Step
from workflows.mappers import field_document, load_plan

PLACES = 5
_OVER = ("completed", "skipped")


@dataclass(frozen=True, slots=True)
class _Facts:
    """What the domain surveyed, and what is read besides for the few places that are shown."""

    plan: Plan
    states: Mapping[int, StateFact]
    instances: Mapping[int, InstanceFact]
    details: Mapping[int, dict[str, Any]]
    metadata: Mapping[int, dict[str, Any]]
    questions: Mapping[int, dict[str, Any]]


def get_next(
    *, caller: Caller, run_id: str, path: tuple[str, ...] | None = None, limit: int = 50
) -> Document:
    """What may be done in a run now, or below ``path`` (a step's or an instance's state path).

    ``{run_id, run_status, revision, done, hint, pending_amendment {amendment_id} | null, counts, ready, constructs,
    blocked, failed, more}``. The four lists hold one entry per step and status, however many instances stand there:
    ``{path, step_id, type, goal, …, count, places}``, with ``*`` for the instances in ``path``. ``places`` are the
    first five (the first ``limit`` when ``path`` narrows the question), each with the path to report to and the
    ``parameters`` that its instances brought. ``limit`` bounds each list; ``more`` says how many entries were left
    out of each. ``NotFound`` for a run or a path that isn't there.

    Six statements (two more for ``path``, six for a plan that isn't cached, two for the read's begin and end).
    """
    caller.must(Right.READ, "read a run")
    with one_moment():
        run = (
            Run.objects.filter(run_id=run_id)
            .values("pk", "plan_id", "status", "revision", "pending_amendment_id")
            .first()
        )
        if run is None:
            raise no_run(run_id)
        target = None
        if path is not None:
            target = Target(*locate(run_pk=run["pk"], run_id=run_id, path=path))
        plan = load_plan(run["plan_id"])
        over = run["status"] in {"completed", "cancelled"}
        states = {} if over else _read_states(run["pk"])
        instances = {} if over else _read_instances(run["pk"])
        found = survey(plan, states.values(), instances, target=target)
        places = PLACES if path is None else max(limit, PLACES)
        shown = [
            group.states[:places]
            for groups in (found.ready, found.constructs, found.blocked, found.failed)
            for group in groups[:limit]
        ]
        facts = _read_facts(plan, states, instances, list(chain.from_iterable(shown)))
    status, pending = run["status"], run["pending_amendment_id"]
    return {
        "run_id": run_id,
        "run_status": status,
        "revision": run["revision"],
        "done": is_done(status, found),
        "hint": hint(status, found, pending_amendment_id=pending),
        "pending_amendment": None if pending is None else {"amendment_id": pending},
        "counts": _counts(found),
        "ready": [_ready(group, facts, places) for group in found.ready[:limit]],
        "constructs": [_construct(group, facts, places) for group in found.constructs[:limit]],
        "blocked": [_blocked(group, facts, places) for group in found.blocked[:limit]],
        "failed": [_failed(group, facts, places) for group in found.failed[:limit]],
        "more": {
            name: max(0, len(getattr(found, name)) - limit)
            for name in ("ready", "constructs", "blocked", "failed")
        },
    }


# -- Entries -----------------------------------------------------------------------------------------


def _entry(group: Group, facts: _Facts) -> tuple[Step, Document]:
    step = facts.plan.by_id[group.step_id]
    return step, {
        "path": group.path,
        "step_id": step.id,
        "type": step.type,
        "goal": step.goal,
        "harness": step.harness,
        "status": group.status,
        "count": group.count,
    }


def _ready(group: Group, facts: _Facts, places: int) -> Document:
    step, entry = _entry(group, facts)
    criteria = [criterion.id for criterion in step.criteria]

    def place(pk: int) -> Document:
        answered = facts.details[pk]["criteria_met"]
        return {"unanswered": [criterion for criterion in criteria if criterion not in answered]}

    return entry | {
        "depends_on": list(step.depends_on),
        "inputs": step.inputs,
        "outputs": step.outputs,
        "criteria": [{"id": criterion.id, "text": criterion.text} for criterion in step.criteria],
        "fields": [field_document(asked) for asked in step.fields],
        "places": [_place(pk, facts) | place(pk) for pk in group.states[:places]],
    }


def _construct(group: Group, facts: _Facts, places: int) -> Document:
    step, entry = _entry(group, facts)

    def place(pk: int) -> Document:
        detail = facts.details[pk]
        unfinished = detail["n_pending"] + detail["n_running"] + detail["n_blocked"]
        registered = unfinished + detail["n_completed"] + detail["n_failed"] + detail["n_skipped"]
        return {
            "next_index": detail["next_index"],
            "registered": registered,
            "open": unfinished,
            "all_done": registered > 0 and not unfinished,
        }

    shown = [_place(pk, facts) | place(pk) for pk in group.states[:places]]
    return entry | {
        "body": list(step.body or ()),
        "exit_when": step.exit_when,
        "inputs": step.inputs,
        "instance_params": [
            {"name": param.name, "description": param.description, "required": param.required}
            for param in step.instance_params
        ],
        "places": shown,
        "hint": "Every instance is done: close it with instances_closed: true, or add more."
        if any(one["all_done"] for one in shown)
        else "Register an instance for each run of its body, then close it.",
    }


def _blocked(group: Group, facts: _Facts, places: int) -> Document:
    step, entry = _entry(group, facts)
    checkpoint = step.type == "checkpoint"

    def place(pk: int) -> Document:
        question = facts.questions.get(pk)
        if question is None:
            return {"since": facts.details[pk]["started_at"], "question": None}
        return {
            "since": question["asked_at"],
            "question": {name: question[name] for name in ("question_id", "text", "fields")},
        }

    return entry | {
        "kind": "checkpoint" if checkpoint else "question",
        "waits_for": "person",
        "fields": [field_document(asked) for asked in step.fields],
        "places": [_place(pk, facts) | place(pk) for pk in group.states[:places]],
    }


def _failed(group: Group, facts: _Facts, places: int) -> Document:
    _, entry = _entry(group, facts)
    return entry | {
        "places": [
            _place(pk, facts) | {"summary": facts.details[pk]["summary"]} for pk in group.states[:places]
        ]
    }


def _place(pk: int, facts: _Facts) -> Document:
    path, through = state_path(facts.states[pk], facts.states, facts.instances)
    metadata = [facts.metadata.get(instance_pk, {}) for instance_pk in through]
    return {"path": "/".join(path), "parameters": parameters_of(facts.plan, path, metadata)}


def _counts(found: Survey) -> Document:
    def total(groups: Collection[Group], *statuses: str) -> int:
        return sum(group.count for group in groups if not statuses or group.status in statuses)

    return {
        "ready": total(found.ready, "pending"),
        "running": total(found.ready, "running"),
        "constructs": total(found.constructs),
        "blocked": total(found.blocked),
        "failed": total(found.failed),
        "waiting": found.waiting,
    }


# -- Rows --------------------------------------------------------------------------------------------


def _read_states(run_pk: int) -> dict[int, StateFact]:
    """The states of the scopes that aren't over: the top level's, and every unfinished or failed instance's."""
    columns = ("pk", "instance_id", "step_id", "status", "skip_cause", "instances_closed")
    rows = StepState.objects.filter(run=run_pk).exclude(instance__status__in=_OVER).order_by("pk")
    return {row[0]: StateFact(*row) for row in rows.values_list(*columns)}


def _read_instances(run_pk: int) -> dict[int, InstanceFact]:
    rows = StepInstance.objects.filter(run=run_pk).exclude(status__in=_OVER)
    columns = ("pk", "construct_id", "instance_id", "status")
    return {row[0]: InstanceFact(*row[1:]) for row in rows.values_list(*columns)}


def _read_facts(
    plan: Plan, states: Mapping[int, StateFact], instances: Mapping[int, InstanceFact], shown: list[int]
) -> _Facts:
    passed = {pk for each in shown for pk in state_path(states[each], states, instances)[1]}
    details: Any = StepState.objects.filter(pk__in=shown).values(
        "pk",
        "summary",
        "criteria_met",
        "started_at",
        "next_index",
        "n_pending",
        "n_running",
        "n_blocked",
        "n_completed",
        "n_failed",
        "n_skipped",
    )
    metadata = StepInstance.objects.filter(pk__in=passed).values_list("pk", "metadata")
    questions: Any = Question.objects.filter(
        state__in=shown, answered_at__isnull=True, closed__isnull=True
    ).values("state_id", "question_id", "text", "fields", "asked_at")
    return _Facts(
        plan,
        states,
        instances,
        {row["pk"]: row for row in details},
        dict(metadata),
        {row["state_id"]: row for row in questions},
    )
