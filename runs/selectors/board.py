"""A run as people look at it: its head, and its tree as timelines and tables show it."""

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db.models import Count, F, Max, Q, TextField
from django.db.models.functions import Cast

from chief_project.shared.caller import Caller, Right
from chief_project.shared.reading import one_moment
from chief_project.shared.selectors import registered_by
from runs import mappers
from runs.domain.board import (
    Cause,
    InstanceRow,
    Node,
    Row,
    Span,
    StateRow,
    board,
    only_steps,
    timeline,
    within,
)
from runs.mappers import Document
from runs.models import Artifact, Question, Run, StepInstance, StepState
from runs.selectors.rows import plain_rows
from runs.selectors.runs import no_run
from runs.selectors.trees import applied_amendments
from workflows.domain.plan import CONSTRUCTS
from workflows.mappers import load_plan

PAGE = 200
# What the table can be narrowed to, in the order of the buttons.
LOOKS = ("waiting", "running", "failed", "completed", "pending", "skipped")


@dataclass(frozen=True, slots=True)
class Head:
    """A run without its tree. ``done`` of ``total`` steps are completed, constructs and removed ones not counted.

    ``counts`` are these steps by state (``waiting`` for blocked ones), ``rows`` how many the table has; ``spans`` when
    its steps waited for a person. ``run`` is the ``RunState`` without ``step_states``; ``by`` who registered it;
    ``ended_at`` when the last thing in it ended, None while it goes on.
    """

    run: Document
    project: str | None
    workflow_status: str
    by: str | None
    ended_at: datetime | None
    counts: dict[str, int]
    stale: int
    rows: int
    reports: int
    artifacts: int
    questions: int
    entries: int
    spans: list[Span]

    @property
    def total(self) -> int:
        """How many steps count."""
        return sum(self.counts.values())

    @property
    def done(self) -> int:
        """How many of them are completed."""
        return self.counts.get("completed", 0)

    @property
    def unfinished(self) -> int:
        """How many of them may still come to something."""
        return sum(self.counts.get(status, 0) for status in ("pending", "running", "waiting"))


@dataclass(frozen=True, slots=True)
class TableRow:
    """A node of the table, with what is read for those that are shown. ``facts`` is the metadata, whole.

    ``depth`` counts the rows that it is inside of.
    """

    node: Node
    depth: int
    summary: str | None
    facts: Document
    stale: Document | None
    met: int
    criteria: int
    files: int


@dataclass(frozen=True, slots=True)
class Table:
    """A page of the table. ``counts`` are of all rows by state, ``stale`` beside them; ``found`` of those wanted."""

    rows: list[TableRow]
    counts: dict[str, int]
    stale: int
    total: int
    found: int
    page: int
    pages: int = field(default=1)


def get_run_head(*, caller: Caller, run_id: str) -> Head:
    """A run without its tree, with what is counted in it; ``NotFound`` without such a run. Nine statements."""
    caller.must(Right.READ, "read a run")
    with one_moment():
        row = (
            Run.objects.filter(run_id=run_id)
            .values_list(
                "pk",
                "workflow__project",
                "workflow__status",
                "reports",
                "audit_length",
                *mappers.RUN_COLUMNS,
            )
            .first()
        )
        if row is None:
            raise no_run(run_id)
        pk, project, workflow_status, reports, entries, *columns = row
        counts: Counter[str] = Counter()
        states = stale = 0
        tallied = (
            StepState.objects.filter(run=pk)
            .values_list("type", "status", "skip_cause")
            .annotate(
                Count("pk"), stale_ones=Count("pk", filter=Q(stale__isnull=False)), last=Max("completed_at")
            )
        )
        ends = []
        for type_, status, cause, count, stale_ones, end in tallied:
            states += count
            ends.append(end)
            stale += stale_ones
            if type_ not in CONSTRUCTS and cause != "removed":
                counts["waiting" if status == "blocked" else status] += count
        instances = StepInstance.objects.filter(run=pk)
        inside = sum((F(f"n_{status}") for status in ("running", *_OTHERS)), F("n_pending"))
        branches = instances.annotate(inside=inside).aggregate(
            shown=Count("pk", filter=~Q(inside=1)), stale=Count("pk", filter=Q(stale__isnull=False))
        )
        run = mappers.run_document(columns, applied_amendments([pk]).get(pk, []), None)
        return Head(
            run=run,
            project=project,
            workflow_status=workflow_status,
            by=registered_by(run_id=run_id),
            ended_at=_ended_at(run, ends),
            counts=dict(counts),
            stale=stale + branches["stale"],
            rows=states + branches["shown"],
            reports=reports,
            artifacts=Artifact.objects.filter(run=pk, superseded=False).count(),
            questions=Question.objects.filter(run=pk).count(),
            entries=entries,
            spans=[span for spans in _spans(pk).values() for span in spans],
        )


def _ended_at(run: Document, ends: list[datetime | None]) -> datetime | None:
    if run["cancelled"] is not None:
        return datetime.fromisoformat(run["cancelled"]["at"])
    if run["status"] not in ("completed", "failed"):
        return None
    return max((end for end in ends if end is not None), default=run["updated_at"])


_OTHERS = ("blocked", "completed", "failed", "skipped")


def get_board(*, caller: Caller, run_id: str) -> list[Node]:
    """Every step's state and instance of a run, in reading order; five statements, six more for a plan not cached."""
    caller.must(Right.READ, "read a run")
    with one_moment():
        return _board(*_run_and_plan(run_id))


@dataclass(frozen=True, slots=True)
class Course:
    """The rows of a run's timeline. ``others`` counts what is outside the part of it that was asked for.

    ``last`` is when the last thing in the whole run ended, ``going`` whether anything in it goes on.
    """

    rows: list[Row]
    others: int
    last: datetime | None
    going: bool


def get_timeline(
    *,
    caller: Caller,
    run_id: str,
    waits_only: bool = False,
    since: datetime | None = None,
    until: datetime | None = None,
) -> Course:
    """``runs.domain.board.timeline`` of a run, of what waited in it, or of what is ``within`` two moments.

    As many statements as ``get_board``.
    """
    nodes = get_board(caller=caller, run_id=run_id)
    last = max((node.completed_at for node in nodes if node.completed_at is not None), default=None)
    going = any(node.status in ("running", "blocked") for node in nodes)
    if waits_only:
        asked = {
            node.path[:length] for node in nodes if node.spans for length in range(1, len(node.path) + 1)
        }
        nodes = [node for node in nodes if node.path in asked]
    inside = within(nodes, since, until)
    others = len(only_steps(nodes)) - len(only_steps(inside))
    return Course(timeline(inside), others, last, going)


def get_table(
    *,
    caller: Caller,
    run_id: str,
    state: str | None = None,
    stale: bool = False,
    q: str | None = None,
    page: int = 1,
) -> Table:
    """A page of ``PAGE`` steps and instances, flat and in reading order.

    ``state`` is one of ``LOOKS``; ``q`` finds, whatever the case, part of a path, a goal, a parameter, a summary or
    the metadata. A branch with a single step is that step's row. Seven statements, two more with ``q``.
    """
    caller.must(Right.READ, "read a run")
    with one_moment():
        run_pk, plan_pk = _run_and_plan(run_id)
        nodes = _board(run_pk, plan_pk)
        around = {node.path: node for node in nodes if node.kind == "instance"}
        rows = only_steps(nodes)
        counts = Counter(_state(node) for node in rows)
        marked = sum(_is_stale(node, around) for node in rows)
        wanted = [node for node in rows if state is None or _state(node) == state]
        if stale:
            wanted = [node for node in wanted if _is_stale(node, around)]
        if q is not None:
            said = _saying(run_pk, q)
            wanted = [node for node in wanted if _matches(node, q.casefold(), said, around)]
        pages = max(1, -(-len(wanted) // PAGE))
        page = min(max(1, page), pages)
        shown = _details(wanted[(page - 1) * PAGE : page * PAGE], around)
    return Table(shown, dict(counts), marked, len(rows), len(wanted), page, pages)


def _run_and_plan(run_id: str) -> tuple[int, int]:
    row = Run.objects.filter(run_id=run_id).values_list("pk", "plan_id").first()
    if row is None:
        raise no_run(run_id)
    return row


def _board(run_pk: int, plan_pk: int) -> list[Node]:
    states = plain_rows(
        StepState.objects.filter(run=run_pk).annotate(is_stale=Q(stale__isnull=False)),
        (
            "pk",
            "instance_id",
            "step_id",
            "type",
            "status",
            "skip_cause",
            "is_stale",
            "failures",
            "started_at",
            "completed_at",
        ),
    )
    instances = plain_rows(
        StepInstance.objects.filter(run=run_pk).annotate(is_stale=Q(stale__isnull=False)),
        (
            "pk",
            "construct_id",
            "instance_id",
            "index",
            "kind",
            "status",
            "skip_cause",
            "is_stale",
            "failures",
            "started_at",
            "completed_at",
            "metadata",
            "body",
        ),
    )
    return board(
        load_plan(plan_pk),
        [StateRow(*row) for row in states],
        [InstanceRow(*row) for row in instances],
        _spans(run_pk),
    )


def _spans(run_pk: int) -> dict[int, list[Span]]:
    """When each state of a run waited for a person, by row id: two statements."""
    found: dict[int, list[Span]] = {}

    def add(pk: int, since: datetime, until: datetime | None, cause: Cause) -> None:
        found.setdefault(pk, []).append(Span(since, until, cause))

    asked = Question.objects.filter(run=run_pk).order_by("pk")
    for pk, since, answered_at, closed in asked.values_list("state", "asked_at", "answered_at", "closed"):
        over = datetime.fromisoformat(closed["at"]) if closed is not None else None
        add(pk, since, answered_at or over, "question")
    decided = StepState.objects.filter(run=run_pk, type="checkpoint", started_at__isnull=False)
    for pk, began, ended in decided.values_list("pk", "started_at", "completed_at"):
        if began is not None:
            add(pk, began, ended, "checkpoint")
    return found


def _state(node: Node) -> str:
    return "waiting" if node.status == "blocked" else node.status


def _is_stale(node: Node, around: dict[Any, Node]) -> bool:
    outer = around.get(node.path[:-1])
    return node.stale or (outer is not None and outer.inside == 1 and outer.stale)


def _saying(run_pk: int, q: str) -> tuple[set[int], set[int]]:
    """The states and the instances whose summary or metadata say ``q``."""

    def found(model: Any) -> set[int]:
        rows = model.objects.filter(run=run_pk).annotate(facts=Cast("metadata", TextField()))
        return set(rows.filter(Q(summary__icontains=q) | Q(facts__icontains=q)).values_list("pk", flat=True))

    return found(StepState), found(StepInstance)


def _matches(node: Node, q: str, said: tuple[set[int], set[int]], around: dict[Any, Node]) -> bool:
    states, instances = said
    outer = around.get(node.path[:-1])
    if node.pk in (states if node.kind == "step" else instances):
        return True
    if outer is not None and outer.inside == 1 and outer.pk in instances:
        return True
    words = [
        "/".join(node.path),
        node.name,
        node.goal,
        *(f"{key}={value}" for key, value in node.brought.items()),
    ]
    return any(q in word.casefold() for word in words)


_DETAILS = ("summary", "metadata", "stale", "artifact_count")


def _details(nodes: list[Node], around: dict[Any, Node]) -> list[TableRow]:
    """What the table shows of these; two statements."""
    inner = {
        node.path: outer for node in nodes if (outer := around.get(node.path[:-1])) and outer.inside == 1
    }
    states = _read(StepState, {node.pk for node in nodes if node.kind == "step"}, "criteria_met")
    instances = _read(
        StepInstance,
        {node.pk for node in nodes if node.kind == "instance"} | {outer.pk for outer in inner.values()},
    )
    rows = []
    for node in nodes:
        own = (states if node.kind == "step" else instances)[node.pk]
        branch = instances[inner[node.path].pk] if node.path in inner else {}
        criteria = node.step.criteria if node.kind == "step" and node.step is not None else ()
        rows.append(
            TableRow(
                node=node,
                depth=node.depth - bool(branch),
                summary=own["summary"] or branch.get("summary"),
                facts=branch.get("metadata", {}) | own["metadata"],
                stale=own["stale"] or branch.get("stale"),
                met=sum(criterion.id in own["criteria_met"] for criterion in criteria),
                criteria=len(criteria),
                files=own["artifact_count"] + branch.get("artifact_count", 0),
            )
        )
    return rows


def _read(model: Any, pks: Collection[int], *more: str) -> dict[int, dict[str, Any]]:
    return {row["pk"]: row for row in model.objects.filter(pk__in=pks).values("pk", *_DETAILS, *more)}
