"""A run's tree as a flat list in reading order, with when each thing ran and waited for a person. Pure.

What timelines, tables and outlines show. Texts that people read aren't in here; they are read for what is shown.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Literal, NamedTuple

from runs.domain.paths import Path, parameters_of
from workflows.domain.plan import CONSTRUCTS, Plan, Step
from workflows.domain.templates import for_branch

Cause = Literal["question", "checkpoint", "amendment"]
MOST_IN_FULL = 12  # so many instances of one construct a timeline shows; of more only the first few, and …
FIRST_FEW = 4
MOST_NAMED = 50  # … of those that ask for attention so many
MOST_STEPS = 150  # of one scope, likewise
_ASK = frozenset({"failed", "running"})


class Span(NamedTuple):
    """When a person was waited for; ``until`` is None while that goes on."""

    since: datetime
    until: datetime | None
    cause: Cause


@dataclass(slots=True)
class Node:
    """A step's state or an instance.

    ``name`` is the step's id, or what an instance is called: ``paper=2203.15556`` by its parameters, else its id;
    ``names`` are those of the path. ``number`` counts instances from 0, and is None for a step.
    ``step`` is what the plan says of it (of an instance: of its construct), None for what an amendment took out.
    ``brought`` is what the instances on its path brought, by parameter. ``waiting`` says that a person is waited for
    here or anywhere below. ``inside`` counts an instance's steps and a construct's instances.
    """

    kind: Literal["step", "instance"]
    pk: int
    path: Path
    names: tuple[str, ...]
    number: int | None
    type: str
    step: Step | None
    status: str
    skip_cause: str | None
    stale: bool
    failures: int
    started_at: datetime | None
    completed_at: datetime | None
    brought: Mapping[str, Any]
    spans: list[Span] = field(default_factory=list)
    waiting: bool = False
    inside: int = 0

    @property
    def name(self) -> str:
        """What it is called, without where it is."""
        return self.names[-1]

    @property
    def depth(self) -> int:
        """0 at top level."""
        return len(self.path) - 1

    @property
    def goal(self) -> str:
        """The step's goal as it reads here; empty for what an amendment took out."""
        return "" if self.step is None else for_branch(self.step.goal, self.brought)

    @property
    def look(self) -> str:
        """The state that a person is told: ``stale`` and ``waiting`` before what is stored."""
        if self.stale:
            return "stale"
        return "waiting" if self.waiting and self.status in ("running", "blocked", "pending") else self.status


class StateRow(NamedTuple):
    """A step's state as it is read; ``instance`` is None at top level."""

    pk: int
    instance: int | None
    step_id: str
    type: str
    status: str
    skip_cause: str | None
    stale: bool
    failures: int
    started_at: datetime | None
    completed_at: datetime | None


class InstanceRow(NamedTuple):
    """An instance as it is read; ``construct`` is its state's row id, ``number`` its index."""

    pk: int
    construct: int
    instance_id: str
    number: int
    kind: str
    status: str
    skip_cause: str | None
    stale: bool
    failures: int
    started_at: datetime | None
    completed_at: datetime | None
    metadata: Mapping[str, Any]
    body: Sequence[str]


def board(
    plan: Plan,
    states: Iterable[StateRow],
    instances: Iterable[InstanceRow],
    spans: Mapping[int, Sequence[Span]],
) -> list[Node]:
    """Every state and instance, each before what is inside it, in the plan's order; ``spans`` by state.

    Time grows with the rows; nothing recurses.
    """
    scopes: dict[int | None, dict[str, StateRow]] = {}
    for state in states:
        scopes.setdefault(state.instance, {})[state.step_id] = state
    members: dict[int, list[InstanceRow]] = {}
    for instance in instances:
        members.setdefault(instance.construct, []).append(instance)
    place = {step_id: number for number, step_id in enumerate(plan.by_id)}
    top = scopes.get(None, {})
    order = sorted(top, key=lambda step_id: (place.get(step_id, len(place)), step_id))
    nodes: list[Node] = []
    above: dict[Path, Node] = {}
    todo: list[tuple[StateRow | InstanceRow, Path, Mapping[str, Any]]]
    todo = [(top[step_id], (), {}) for step_id in reversed(order)]
    while todo:
        row, around, brought = todo.pop()
        if isinstance(row, InstanceRow):
            brought = {**brought, **parameters_of(plan, (around[-1], row.instance_id), [row.metadata])}
        node = _node(row, above.get(around), around, brought, plan, spans)
        nodes.append(node)
        above[node.path] = node
        if isinstance(row, StateRow):
            inside = sorted(members.get(row.pk, ()), key=lambda each: each.number)
            node.inside = len(inside)
            todo.extend((each, node.path, brought) for each in reversed(inside))
        else:
            scope = scopes.get(row.pk, {})
            body = [*row.body, *sorted(scope.keys() - set(row.body))]
            below = [scope[step_id] for step_id in body if step_id in scope]
            node.inside = len(below)
            todo.extend((each, node.path, brought) for each in reversed(below))
    for node in reversed(nodes):
        node.waiting = node.waiting or node.status == "blocked"
        if node.waiting and node.path[:-1]:
            above[node.path[:-1]].waiting = True
    return nodes


def _node(
    row: StateRow | InstanceRow,
    outer: Node | None,
    around: Path,
    brought: Mapping[str, Any],
    plan: Plan,
    spans: Mapping[int, Sequence[Span]],
) -> Node:
    names = () if outer is None else outer.names
    if isinstance(row, StateRow):
        return Node(
            kind="step",
            pk=row.pk,
            path=(*around, row.step_id),
            names=(*names, row.step_id),
            number=None,
            type=row.type,
            step=plan.by_id.get(row.step_id),
            status=row.status,
            skip_cause=row.skip_cause,
            stale=row.stale,
            failures=row.failures,
            started_at=row.started_at,
            completed_at=row.completed_at,
            brought=brought,
            spans=list(spans.get(row.pk, ())),
        )
    construct = plan.by_id.get(around[-1])
    return Node(
        kind="instance",
        pk=row.pk,
        path=(*around, row.instance_id),
        names=(*names, called(construct, row.instance_id, row.metadata)),
        number=row.number,
        type=row.kind,
        step=construct,
        status=row.status,
        skip_cause=row.skip_cause,
        stale=row.stale,
        failures=row.failures,
        started_at=row.started_at,
        completed_at=row.completed_at,
        brought=brought,
    )


def called(construct: Step | None, instance_id: str, metadata: Mapping[str, Any]) -> str:
    """What an instance is called: its declared parameters as ``name=value``, else its id."""
    names = () if construct is None else [param.name for param in construct.instance_params]
    said = [f"{name}={metadata[name]}" for name in names if metadata.get(name) not in (None, "")]
    return ", ".join(said)[:200] or instance_id


def only_steps(nodes: Iterable[Node]) -> list[Node]:
    """Without the instances that hold a single step: they tell nothing that their step doesn't."""
    return [node for node in nodes if node.kind == "step" or node.inside != 1]


# -- Timelines -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Row:
    """A line of a timeline: a node, or (without one) how many others were ``left_out`` below ``around``, and when any
    of them ``ran``.
    """

    node: Node | None
    around: Path = ()
    left_out: int = 0
    ran: tuple[tuple[datetime, datetime | None], ...] = ()


def within(nodes: Sequence[Node], since: datetime | None, until: datetime | None) -> list[Node]:
    """What went on between two moments, with what that is inside of; without an end, also what is still to come."""
    if since is None and until is None:
        return list(nodes)
    found = [node for node in nodes if _is_within(node, since, until)]
    paths = {node.path[:length] for node in found for length in range(1, len(node.path) + 1)}
    return [node for node in nodes if node.path in paths]


def _is_within(node: Node, since: datetime | None, until: datetime | None) -> bool:
    began, ended = node.started_at, node.completed_at
    if began is None:
        return until is None and node.status == "pending"
    if until is not None and began >= until:
        return False
    return since is None or ended is None or ended > since or began >= since


def timeline(nodes: Sequence[Node]) -> list[Row]:
    """One row a node; of many instances of a construct, or many steps, the first ones and those that failed, run or wait.

    An instance with one step is one row, at that step's times. How many were left out is said after them.
    """
    rows: list[Row] = []
    shown: dict[Path, int] = {}  # shown whatever their state, by what is around them
    named: dict[Path, int] = {}
    left_out: dict[Path, list[Node]] = {}
    members = Counter(node.path[:-1] for node in nodes if node.kind == "instance")
    many = {path for path, count in members.items() if count > MOST_IN_FULL}
    dropped: Path | None = None
    for number, node in enumerate(nodes):
        if dropped is not None and node.path[: len(dropped)] == dropped:
            continue
        dropped = None
        around = node.path[:-1]
        most = MOST_STEPS if node.kind == "step" else FIRST_FEW if around in many else MOST_IN_FULL
        if shown.get(around, 0) < most:
            shown[around] = shown.get(around, 0) + 1
        elif (node.status in _ASK or node.waiting or node.failures) and named.get(around, 0) < MOST_NAMED:
            named[around] = named.get(around, 0) + 1
        else:
            left_out.setdefault(around, []).append(node)
            dropped = node.path
            continue
        if node.kind == "instance" and node.inside == 1 and len(nodes) > number + 1:
            below = nodes[number + 1]
            if below.path[:-1] == node.path and below.type not in CONSTRUCTS:
                node.spans = below.spans
                node.stale = node.stale or below.stale
                dropped = node.path
        rows.append(Row(node))
    if not left_out:
        return rows
    return _with_remainders(rows, left_out)


def _with_remainders(rows: list[Row], left_out: Mapping[Path, list[Node]]) -> list[Row]:
    """``rows``, what is inside of one thing followed by how much of it isn't among them."""
    found: list[Row] = []
    open_: list[Path] = [()] if () in left_out else []

    def close(path: Path) -> None:
        while open_ and (not path or path[: len(open_[-1])] != open_[-1]):
            around = open_.pop()
            found.append(Row(None, around, len(left_out[around]), _ran(left_out[around])))

    for row in rows:
        assert row.node is not None
        close(row.node.path)
        found.append(row)
        if row.node.path in left_out:
            open_.append(row.node.path)
    close(())
    return found


def _ran(nodes: Iterable[Node]) -> tuple[tuple[datetime, datetime | None], ...]:
    """When any of them ran: spans that don't overlap, in order; the last may be open."""
    found: list[tuple[datetime, datetime | None]] = []
    begun = [(node.started_at, node.completed_at) for node in nodes if node.started_at is not None]
    for since, until in sorted(begun, key=lambda each: each[0]):
        if found and (found[-1][1] is None or since <= found[-1][1]):
            last = found[-1][1]
            found[-1] = found[-1][0], None if last is None or until is None else max(last, until)
        else:
            found.append((since, until))
    return tuple(found)


def waited(spans: Iterable[Span], *, now: datetime) -> timedelta:
    """How long a person was waited for, times that overlap counted once."""
    return sum((until - since for since, until in merged(spans, now=now)), timedelta())


def merged(
    spans: Iterable[Span], *, now: datetime, gap: timedelta = timedelta()
) -> list[tuple[datetime, datetime]]:
    """When a person was waited for, in order; times that overlap, or are no more than ``gap`` apart, are one."""
    found: list[tuple[datetime, datetime]] = []
    for since, until in sorted((span.since, max(span.since, span.until or now)) for span in spans):
        if found and since <= found[-1][1] + gap:
            found[-1] = found[-1][0], max(found[-1][1], until)
        else:
            found.append((since, until))
    return found
