"""What a harness may do now (contract 3, ``GET /runs/{id}/next``). Pure.

A step is **ready** when it is pending and every dependency of its scope is satisfied: completed, or taken out by an
amendment. A dependency that failed never is (it skips what waits for it), also where its construct tolerates the
failure. A running step is listed whatever it depends on: order is recorded, not enforced. Inside a construct or an
instance that is finished nothing is ready: under ``fail_fast`` one failure ends its scope until it is replayed.
Equal steps of many instances are one ``Group``.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from runs.domain.skips import Standing
from runs.domain.waits import OVER
from workflows.domain.plan import Plan, Step

_OPEN = frozenset({"pending", "running"})


class StateFact(NamedTuple):
    """A state in a scope that isn't finished, by its row's id. ``instance`` is None at top level."""

    pk: int
    instance: int | None
    step_id: str
    status: str
    skip_cause: str | None
    closed: bool


class InstanceFact(NamedTuple):
    """An instance: its construct's state (by row id), its own id, its status."""

    construct: int
    instance_id: str
    status: str


class Target(NamedTuple):
    """The row that ``?path=`` names."""

    kind: Literal["state", "instance"]
    pk: int


@dataclass(slots=True)
class Group:
    """The same step in the same status, in one place or many. ``path`` has ``*`` for every instance."""

    path: str
    step_id: str
    status: str
    states: list[int] = field(default_factory=list)

    @property
    def count(self) -> int:
        """In how many places."""
        return len(self.states)


@dataclass(frozen=True, slots=True)
class Survey:
    """Everything that can go on or that holds something up, in plan order."""

    ready: list[Group]
    constructs: list[Group]
    blocked: list[Group]
    failed: list[Group]
    waiting: int


def is_satisfied(standing: Standing) -> bool:
    """Whether a step that depends on one that stands like this may begin, as far as this one goes."""
    return standing[0] == "completed" or standing == ("skipped", "removed")


def is_ready(step: Step, standings: Mapping[str, Standing]) -> bool:
    """Whether every dependency of ``step`` is satisfied; ``standings`` are its scope's, by step id.

    A dependency that this scope doesn't have (an instance keeps the body it was spawned with) holds nothing up.
    """
    return all(needed not in standings or is_satisfied(standings[needed]) for needed in step.depends_on)


def survey(
    plan: Plan,
    states: Iterable[StateFact],
    instances: Mapping[int, InstanceFact],
    *,
    target: Target | None = None,
) -> Survey:
    """Sort the states of a run's unfinished scopes into what is ready, blocked, failed and waiting.

    ``states`` are the top level's and those of every instance that is not completed or skipped; ``instances`` are
    the run's. With ``target`` only what lies at or below it counts. Time grows with the states given.
    """
    scopes: dict[int | None, list[StateFact]] = {}
    by_pk: dict[int, StateFact] = {}
    for state in states:
        scopes.setdefault(state.instance, []).append(state)
        by_pk[state.pk] = state
    places = _Places(plan, by_pk, instances, target)
    groups: dict[str, dict[tuple[str, str], Group]] = {
        name: {} for name in ("ready", "constructs", "blocked", "failed")
    }
    waiting = 0
    for instance, scope in scopes.items():
        place = places.of(instance)
        if place is None:
            continue
        standings = {state.step_id: (state.status, state.skip_cause) for state in scope}
        for state in scope:
            if not (place.within or places.is_target(state)):
                continue
            step = plan.by_id.get(state.step_id)
            section = _section(state, step, standings, live=place.live, tolerated=place.tolerant)
            if section == "waiting":
                waiting += 1
            elif section is not None:
                path = f"{place.prefix}{state.step_id}"
                group = groups[section].get((path, state.status))
                if group is None:
                    group = groups[section][path, state.status] = Group(path, state.step_id, state.status)
                group.states.append(state.pk)
    position = {step.id: place for place, step in enumerate(plan.steps)}

    def in_order(name: str) -> list[Group]:
        return sorted(
            groups[name].values(), key=lambda group: (position[group.step_id], group.path, group.status)
        )

    return Survey(in_order("ready"), in_order("constructs"), in_order("blocked"), in_order("failed"), waiting)


def _section(
    state: StateFact, step: Step | None, standings: Mapping[str, Standing], *, live: bool, tolerated: bool
) -> str | None:
    if step is None:
        return None
    if state.status == "blocked":
        return "blocked"
    if state.status == "failed":
        return None if step.is_construct or tolerated else "failed"
    if not live or state.status not in _OPEN:
        return None
    if step.is_construct:
        if state.closed:
            return None
        return "constructs" if state.status == "running" or is_ready(step, standings) else "waiting"
    return "ready" if state.status == "running" or is_ready(step, standings) else "waiting"


class _Place(NamedTuple):
    """A scope: how its states' paths begin, whether work goes on in it, whether it was asked for.

    ``tolerant``: a construct around it goes on when an instance fails.
    """

    prefix: str
    live: bool
    within: bool
    tolerant: bool


class _Places:
    """The scope of each instance, worked out once, from the outside in and without recursion."""

    def __init__(
        self,
        plan: Plan,
        states: Mapping[int, StateFact],
        instances: Mapping[int, InstanceFact],
        target: Target | None,
    ) -> None:
        self._plan = plan
        self._states = states
        self._instances = instances
        self._target = target
        self._known: dict[int | None, _Place | None] = {None: _Place("", True, target is None, False)}

    def is_target(self, state: StateFact) -> bool:
        return self._target == ("state", state.pk)

    def of(self, instance: int | None) -> _Place | None:
        """None for what lies in a scope that is finished (its construct's state isn't among those given)."""
        chain = []
        outer = instance
        while outer not in self._known:
            chain.append(outer)
            construct = self._states.get(self._instances[outer].construct) if outer is not None else None
            if construct is None:
                self._known[outer] = None
                break
            outer = construct.instance
        for inner in reversed(chain):
            if inner in self._known or inner is None:
                continue
            self._known[inner] = self._inside(inner)
        return self._known[instance]

    def _inside(self, instance: int) -> _Place | None:
        fact = self._instances[instance]
        construct = self._states[fact.construct]
        around = self._known[construct.instance]
        if around is None:
            return None
        step = self._plan.by_id.get(construct.step_id)
        return _Place(
            prefix=f"{around.prefix}{construct.step_id}/*/",
            tolerant=around.tolerant or (step is not None and step.on_instance_failure == "continue"),
            live=around.live and construct.status in _OPEN and fact.status in _OPEN,
            within=around.within or self.is_target(construct) or self._target == ("instance", instance),
        )


def state_path(
    state: StateFact, states: Mapping[int, StateFact], instances: Mapping[int, InstanceFact]
) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """A state's path, and the row ids of the instances it goes through, the outermost first."""
    path = [state.step_id]
    through: list[int] = []
    while state.instance is not None:
        fact = instances[state.instance]
        through.append(state.instance)
        state = states[fact.construct]
        path += [fact.instance_id, state.step_id]
    return tuple(reversed(path)), tuple(reversed(through))


def is_done(run_status: str, found: Survey) -> bool:
    """Whether nobody has anything to do here: over, or failed with nothing that goes on or waits for a person."""
    if run_status in OVER:
        return True
    return run_status == "failed" and not (found.ready or found.constructs or found.blocked)


def hint(run_status: str, found: Survey, *, pending_amendment_id: str | None) -> str:
    """One sentence or two on what the situation asks of the harness."""
    return " ".join(_sentences(run_status, found, pending_amendment_id))


def _sentences(run_status: str, found: Survey, pending_amendment_id: str | None) -> Iterator[str]:
    if run_status == "cancelled":
        yield "The run was cancelled: nothing is to be done, and only comments and stale marks are accepted."
        return
    if run_status == "completed":
        yield "The run is completed: every step is completed or skipped. Only an amendment can change it."
        return
    if pending_amendment_id is not None:
        yield (
            f"Amendment '{pending_amendment_id}' waits for a decision; until then the run stays paused, "
            "but reports, instances and questions are accepted."
        )
    if found.failed:
        yield (
            f"'{found.failed[0].path}' failed, and what waits for it is skipped: propose an amendment that replays "
            "it (replay_step) or works around it, or leave the run failed."
        )
    if found.ready:
        yield "Report 'running' on a ready step when you begin it, and its result when you have it."
    if found.constructs:
        yield (
            "Register an instance of a construct when its body is to run again; when no more will come, close it "
            "with instances_closed: true."
        )
    if found.blocked:
        others = " What is ready may go on meanwhile." if found.ready or found.constructs else ""
        yield f"Something waits for a person: see 'blocked'.{others}"
    if not (found.ready or found.constructs or found.blocked or found.failed):
        yield "Nothing can begin here now."
