"""What a harness may do now (contract 3, ``GET /runs/{id}/next``): a few narrow reads, a bounded answer."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any

from django.db.models import F, Window
from django.db.models.functions import RowNumber

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
from runs.domain.tree import is_open
from runs.domain.waits import OVER
from runs.mappers import Document
from runs.models import Question, Run, StepInstance, StepState
from runs.selectors.paths import locate
from runs.selectors.runs import no_run
from workflows.domain.plan import Plan, Step
from workflows.mappers import field_document, load_plan

PLACES = 5
ANSWERS = 5  # at most, in each place
ROOM = 6_000  # characters of what people wrote, in all; ROOM_BELOW where ``path`` narrows the question
ROOM_BELOW = 100_000
SHORT = 80  # a text of so many characters is never cut
_OVER = ("completed", "skipped")
_DECIDED = ("completed", "failed")


@dataclass(frozen=True, slots=True)
class _Facts:
    """What the domain surveyed, and what is read besides for the few places that are shown."""

    plan: Plan
    states: Mapping[int, StateFact]
    instances: Mapping[int, InstanceFact]
    details: Mapping[int, dict[str, Any]]
    metadata: Mapping[int, dict[str, Any]]
    questions: Mapping[int, list[dict[str, Any]]]
    gates: Mapping[int, list[tuple[str, int]]]
    room: "_Room"


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

    A place that is ready or running also has what people said. ``answers`` are the newest questions that were
    answered or closed, oldest first: one at least, five at most; ``more_answers`` counts the others. ``decisions``
    are those of the checkpoints in its scope that the step depends on. For what was written there are 6,000
    characters in all, 100,000 below ``path``: where they run out, older answers are left out, texts of more than 80
    characters end in "…", and ``shortened`` is true.

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
        over = run["status"] in OVER
        states = {} if over else _read_states(run["pk"])
        instances = {} if over else _read_instances(run["pk"])
        found = survey(plan, states.values(), instances, target=target)
        places = PLACES if path is None else max(limit, PLACES)
        shown = [
            group.states[:places]
            for groups in (found.ready, found.constructs, found.blocked, found.failed)
            for group in groups[:limit]
        ]
        facts = _read_facts(
            plan,
            states,
            instances,
            list(chain.from_iterable(shown)),
            room=_Room(ROOM if path is None else ROOM_BELOW),
        )
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
        answers = _answers(pk, facts)
        return {
            "unanswered": [criterion for criterion in criteria if criterion not in answered],
            "answers": answers,
            "more_answers": max(0, facts.details[pk]["question_count"] - len(answers)),
            "decisions": _decisions(pk, facts),
        }

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
            "decisions": _decisions(pk, facts),
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
        question = next(filter(is_open, facts.questions.get(pk, ())), None)
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


# -- What people said --------------------------------------------------------------------------------


class _Room:
    """How many characters of what people wrote still go into the answer, so that it stays small."""

    def __init__(self, characters: int) -> None:
        self._left = characters

    def is_full(self) -> bool:
        return self._left <= 0

    def fit(self, document: Document, *names: str) -> Document:
        """``document``, its texts under ``names`` (one each, or many by name) cut to the room that is left."""
        shortened = False
        self._left -= SHORT  # the rest of the document
        for name in names:
            given = document[name]
            document[name] = self._cut(given) if isinstance(given, str) else self._cut_all(given)
            shortened |= document[name] != given
        return document | {"shortened": shortened}

    def _cut_all(self, given: Mapping[str, Any] | None) -> Document | None:
        if given is None:
            return None
        return {name: self._cut(value) if isinstance(value, str) else value for name, value in given.items()}

    def _cut(self, text: str) -> str:
        kept = text if len(text) <= SHORT else text[: max(SHORT, self._left)]
        self._left -= len(kept)
        return kept if len(kept) == len(text) else f"{kept}…"


def _answers(pk: int, facts: _Facts) -> list[Document]:
    """The newest, and as many before it as there is room for; oldest first."""
    names = ("question_id", "text", "response", "answered_by", "answered_at", "closed")
    found: list[Document] = []
    for row in facts.questions.get(pk, ()):
        if found and facts.room.is_full():
            break
        if not is_open(row):  # the response before its question: whoever asked may know that
            shown = {name: row[name] for name in names}
            found.append(facts.room.fit(shown, "response", "text", "answered_by", "closed"))
    return found[::-1]


def _decisions(pk: int, facts: _Facts) -> list[Document]:
    """What was decided at the checkpoints that this place's step depends on, in that order."""
    decided = (
        ({"step_id": step_id}, facts.details[gate]["checkpoint"]) for step_id, gate in facts.gates.get(pk, ())
    )
    return [
        facts.room.fit(
            named | {name: said[name] for name in ("decision", "response", "note")}, "response", "note"
        )
        for named, said in decided
        if said is not None
    ]


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
    plan: Plan,
    states: Mapping[int, StateFact],
    instances: Mapping[int, InstanceFact],
    shown: list[int],
    *,
    room: _Room,
) -> _Facts:
    passed = {pk for each in shown for pk in state_path(states[each], states, instances)[1]}
    gates = _gates(plan, states, shown)
    wanted = {*shown, *(gate for each in gates.values() for _, gate in each)}
    details: Any = StepState.objects.filter(pk__in=wanted).values(
        "pk",
        "summary",
        "criteria_met",
        "checkpoint",
        "started_at",
        "question_count",
        "next_index",
        "n_pending",
        "n_running",
        "n_blocked",
        "n_completed",
        "n_failed",
        "n_skipped",
    )
    metadata = StepInstance.objects.filter(pk__in=passed).values_list("pk", "metadata")
    questions: dict[int, list[dict[str, Any]]] = {}
    for row in _read_questions(shown):
        questions.setdefault(row["state_id"], []).append(row)
    return _Facts(
        plan,
        states,
        instances,
        {row["pk"]: row for row in details},
        dict(metadata),
        questions,
        gates,
        room,
    )


def _gates(plan: Plan, states: Mapping[int, StateFact], shown: list[int]) -> dict[int, list[tuple[str, int]]]:
    """For each state the checkpoints it depends on in its own scope: ``(step id, row id)`` of those that are over."""
    needed = {
        (states[pk].instance, before)
        for pk in shown
        for before in plan.by_id[states[pk].step_id].depends_on
        if plan.by_id[before].type == "checkpoint"
    }
    if not needed:
        return {}
    over = {
        (state.instance, state.step_id): state.pk
        for state in states.values()
        if state.status in _DECIDED and (state.instance, state.step_id) in needed
    }
    return {
        pk: [
            (before, over[states[pk].instance, before])
            for before in plan.by_id[states[pk].step_id].depends_on
            if (states[pk].instance, before) in over
        ]
        for pk in shown
    }


def _read_questions(shown: list[int]) -> Any:
    """The newest questions of each state, the newest first: an open one is always the newest."""
    newest = Window(RowNumber(), partition_by=F("state_id"), order_by=F("pk").desc())
    return (
        Question.objects.filter(state__in=shown)
        .annotate(nth=newest)
        .filter(nth__lte=ANSWERS)
        .order_by("state_id", "nth")
        .values(
            "state_id",
            "question_id",
            "text",
            "fields",
            "asked_at",
            "response",
            "answered_at",
            "answered_by",
            "closed",
        )
    )
