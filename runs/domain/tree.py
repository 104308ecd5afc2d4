"""A run as a tree of values, and the full derivation over it: the oracle for the local one (contract 3, "cost").

Values in a node are replaced, never changed in place: what was loaded is compared with what is there at the end.
No function recurses by plan size; nesting is at most 64 constructs deep.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from runs.domain.status import (
    FINISHED,
    TERMINAL,
    Tally,
    construct_status,
    empty_tally,
    instance_status,
    move,
    run_status,
)
from workflows.domain.plan import CONSTRUCTS, Plan

Document = dict[str, Any]
# A skip of these causes is not derived and not taken back: the step is out of the run.
PUT_ASIDE = frozenset({"removed", "cancelled"})


def is_open(question: Mapping[str, Any]) -> bool:
    """Whether a question waits for its answer: it was neither answered nor closed."""
    return question.get("answered_at") is None and question.get("closed") is None


@dataclass(slots=True, eq=False)
class StateNode:
    """One step's state in one scope. ``instances`` is a dict in order of index for constructs, else ``None``.

    ``artifacts``, ``questions`` and ``history`` hold documents, oldest first. ``pk`` is the row, ``None`` if new.
    """

    step_id: str
    type: str
    status: str = "pending"
    skip_cause: str | None = None
    summary: str | None = None
    metadata: Document = field(default_factory=dict)
    criteria_met: dict[str, str] = field(default_factory=dict)
    checkpoint: Document | None = None
    stale: Document | None = None
    started_at: datetime | None = None
    completed_at: datetime | None = None
    instances_closed: bool = False
    started: bool = False
    failures: int = 0
    next_index: int = 0
    artifacts: list[Document] = field(default_factory=list)
    questions: list[Document] = field(default_factory=list)
    history: list[Document] = field(default_factory=list)
    instances: "dict[str, InstanceNode] | None" = None
    tally: Tally = field(default_factory=empty_tally)
    pk: int | None = None

    @property
    def row(self) -> int:
        """The id of the row that this node was read from."""
        assert self.pk is not None
        return self.pk

    @property
    def open_question(self) -> str | None:
        """The id of the question that waits for its answer."""
        last = self.questions[-1] if self.questions else None
        return None if last is None or not is_open(last) else str(last["question_id"])


@dataclass(slots=True, eq=False)
class InstanceNode:
    """One iteration or branch, with the ``body`` it was spawned with and a state per step of it."""

    instance_id: str
    index: int
    kind: str
    body: tuple[str, ...]
    status: str = "pending"
    skip_cause: str | None = None
    summary: str | None = None
    metadata: Document = field(default_factory=dict)
    stale: Document | None = None
    started_at: datetime | None = None
    completed_at: datetime | None = None
    started: bool = False
    failures: int = 0
    artifacts: list[Document] = field(default_factory=list)
    history: list[Document] = field(default_factory=list)
    states: dict[str, StateNode] = field(default_factory=dict)
    tally: Tally = field(default_factory=empty_tally)
    pk: int | None = None

    @property
    def row(self) -> int:
        """The id of the row that this node was read from."""
        assert self.pk is not None
        return self.pk


@dataclass(slots=True, eq=False)
class RunTree:
    """A whole run. ``paused`` pins ``paused_for_approval``; a cancelled run is never derived again."""

    status: str
    states: dict[str, StateNode]
    paused: bool = False
    acknowledged: Document | None = None
    blocked_on_person: int = 0
    tally: Tally = field(default_factory=empty_tally)


def new_state(step_id: str, type_: str) -> StateNode:
    """A step that nothing happened to yet."""
    return StateNode(step_id, type_, instances={} if type_ in CONSTRUCTS else None)


def walk(tree: RunTree) -> Iterator[tuple[tuple[str, ...], StateNode, InstanceNode | None]]:
    """Every state with its path and the instance it stands in, parents before children."""
    stack: list[tuple[tuple[str, ...], StateNode, InstanceNode | None]] = [
        ((state.step_id,), state, None) for state in reversed(tree.states.values())
    ]
    while stack:
        path, state, inside = stack.pop()
        yield path, state, inside
        for instance in reversed((state.instances or {}).values()):
            inner = (*path, instance.instance_id)
            stack.extend(
                ((*inner, below.step_id), below, instance) for below in reversed(instance.states.values())
            )


def put_aside(state: StateNode, cause: str, now: datetime) -> None:
    """Skip a step for good, with whatever below it is unfinished. Finished work below keeps its status."""
    _aside(state, cause, now)
    stack = list((state.instances or {}).values())
    while stack:
        instance = stack.pop()
        if instance.status not in TERMINAL:
            move(instance, "skipped", now)
            instance.skip_cause = cause
        for below in instance.states.values():
            if below.status not in TERMINAL or below.skip_cause == "dependency":
                _aside(below, cause, now)
            stack.extend((below.instances or {}).values())


def _aside(state: StateNode, cause: str, now: datetime) -> None:
    move(state, "skipped", now)
    state.skip_cause = cause


def derive_all(tree: RunTree, plan: Plan, now: datetime) -> None:
    """Recompute everything that is derived, from the leaves up: statuses, times, skips, tallies, failures."""
    if tree.status == "cancelled":
        recount(tree)
        return
    pending: list[tuple[StateNode, InstanceNode]] = []
    stack = [state for state in tree.states.values() if state.instances]
    while stack:
        construct = stack.pop()
        for instance in (construct.instances or {}).values():
            pending.append((construct, instance))
            stack.extend(below for below in instance.states.values() if below.instances)
    for construct, instance in reversed(pending):  # children before parents
        policy = policy_of(plan, construct)
        aside = construct.skip_cause in PUT_ASIDE or instance.skip_cause in PUT_ASIDE
        _derive_scope(instance.states, plan, now, frozen=aside)
        instance.tally = _count(instance.states.values())
        instance.failures = sum(
            below.failures + (below.status == "failed" and policy == "continue")
            for below in instance.states.values()
        )
        if not aside:
            move(instance, instance_status(instance.tally, policy=policy, started=instance.started), now)
    _derive_scope(tree.states, plan, now, frozen=False)
    tree.tally = _count(tree.states.values())
    tree.blocked_on_person = _blocked(tree)
    natural = run_status(tree.tally, blocked_on_person=tree.blocked_on_person)
    if natural != "failed":
        tree.acknowledged = None
    tree.status = "paused_for_approval" if tree.paused else natural


def recount(tree: RunTree) -> None:
    """Only the tallies, for a run in which nothing is derived any more."""
    for _, state, _ in walk(tree):
        for instance in (state.instances or {}).values():
            instance.tally = _count(instance.states.values())
        if state.instances is not None:
            state.tally = _count(state.instances.values())
    tree.tally = _count(tree.states.values())
    tree.blocked_on_person = _blocked(tree)


def _derive_scope(states: dict[str, StateNode], plan: Plan, now: datetime, *, frozen: bool) -> None:
    unranked = len(plan.steps)
    for state in sorted(states.values(), key=lambda state: plan.rank.get(state.step_id, unranked)):
        if state.instances is not None:
            state.tally = _count(state.instances.values())
            state.failures = sum(instance.failures for instance in state.instances.values())
        if frozen or state.skip_cause in PUT_ASIDE:
            continue
        status = state.status
        if state.instances is not None:
            status = construct_status(
                state.tally,
                policy=policy_of(plan, state),
                closed=state.instances_closed,
                started=state.started,
            )
        if status in {"pending", "skipped"}:
            if state.step_id in plan.by_id:
                status = "skipped" if _is_cut_off(state.step_id, states, plan) else "pending"
            elif state.status == "skipped":
                status = "skipped"  # its step left the plan, so nothing says any more what it waits for
        move(state, status, now)
        state.skip_cause = "dependency" if status == "skipped" else None


def _is_cut_off(step_id: str, states: dict[str, StateNode], plan: Plan) -> bool:
    step = plan.by_id.get(step_id)
    return step is not None and any(
        needed in states and states[needed].status in {"failed", "skipped"} for needed in step.depends_on
    )


def policy_of(plan: Plan, construct: StateNode) -> str:
    """What a construct does about a failed instance.

    A copy that stays when its step leaves the plan goes on by what it shows: where failures were tolerated and it
    has not failed, it tolerates them.
    """
    step = plan.by_id.get(construct.step_id)
    if step is None:
        return "continue" if construct.failures and construct.status != "failed" else "fail_fast"
    return step.on_instance_failure or "fail_fast"


def _count(children: Any) -> Tally:
    tally = empty_tally()
    for child in children:
        tally[child.status] += 1
    return tally


def _blocked(tree: RunTree) -> int:
    return sum(state.status == "blocked" for _, state, _ in walk(tree))


def snapshot(state: StateNode) -> Document:
    """A step's state as a document for ``history``: everything but its own history."""
    return {
        "step_id": state.step_id,
        "status": state.status,
        "summary": state.summary,
        "artifacts": state.artifacts,
        "metadata": state.metadata,
        "started_at": state.started_at,
        "completed_at": state.completed_at,
        "instances": None
        if state.instances is None
        else [snapshot_instance(i) | {"history": i.history} for i in state.instances.values()],
        "instances_closed": state.instances_closed,
        "checkpoint": state.checkpoint,
        "criteria_met": state.criteria_met,
        "questions": state.questions,
        "stale": state.stale,
        "skip_cause": state.skip_cause,
        "failures": state.failures,
    }


def snapshot_instance(instance: InstanceNode) -> Document:
    """An instance as a document for ``history``; what lies below keeps its own history in it."""
    return {
        "instance_id": instance.instance_id,
        "index": instance.index,
        "kind": instance.kind,
        "status": instance.status,
        "summary": instance.summary,
        "artifacts": instance.artifacts,
        "metadata": instance.metadata,
        "step_states": {
            state.step_id: snapshot(state) | {"history": state.history} for state in instance.states.values()
        },
        "started_at": instance.started_at,
        "completed_at": instance.completed_at,
        "body": list(instance.body),
        "stale": instance.stale,
        "failures": instance.failures,
    }


__all__ = [
    "FINISHED",
    "PUT_ASIDE",
    "InstanceNode",
    "RunTree",
    "StateNode",
    "derive_all",
    "new_state",
    "policy_of",
    "put_aside",
    "recount",
    "snapshot",
    "snapshot_instance",
    "walk",
]
