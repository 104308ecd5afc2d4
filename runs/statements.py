"""The statements of the hot path: written once, run with plain values (design: "what a report costs").

A report is one joined SELECT that locks every row whose value it reads, an UPDATE for each row that changes, two
INSERTs, BEGIN and COMMIT. The ORM would compile each of them anew on every call; everything off this path uses it.
Both databases take the same text; times and JSON are adapted here.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from django.db import connection

from chief_project.shared.audit import Entry
from runs.domain.settle import Chain, Neighbour, Path, RunHead, Wanted
from runs.domain.status import STATUSES
from runs.domain.tree import InstanceNode, StateNode

_TALLY = tuple(f"n_{status}" for status in STATUSES)
_RUN = (
    "id",
    "run_id",
    "workflow_id",
    "plan_id",
    "status",
    "revision",
    "reports",
    "blocked_on_person",
    "audit_length",
    "audit_hash",
    "pending_amendment_id",
    "acknowledged",
    "failed_at",
    *_TALLY,
)
# What an ancestor is derived from; the target's own columns come on top.
_STATE_CORE = (
    "id",
    "step_id",
    "type",
    "status",
    "skip_cause",
    "started_at",
    "completed_at",
    "instances_closed",
    "started",
    "failures",
    "next_index",
    *_TALLY,
)
_STATE_REST = (
    "summary",
    "metadata",
    "criteria_met",
    "checkpoint",
    "stale",
    "open_question",
    "artifact_count",
    "question_count",
    "history_count",
)
_INSTANCE_CORE = (
    "id",
    "instance_id",
    '"index"',
    "kind",
    "body",
    "status",
    "skip_cause",
    "started_at",
    "completed_at",
    "started",
    "failures",
    *_TALLY,
)
_INSTANCE_REST = ("summary", "metadata", "stale", "artifact_count", "history_count")


class Counts:
    """How many artifacts, questions and snapshots a row has: what is zero is not read."""

    __slots__ = ("artifacts", "history", "open_question", "questions")

    def __init__(self, artifacts: int, questions: int, history: int, open_question: str | None) -> None:
        self.artifacts = artifacts
        self.questions = questions
        self.history = history
        self.open_question = open_question

    def any(self) -> bool:
        """Whether anything hangs on the row."""
        return bool(self.artifacts or self.questions or self.history)


def sql_time(moment: datetime | None) -> Any:
    """A time as the database driver takes it."""
    if moment is None or connection.vendor == "postgresql":
        return moment
    return str(moment.astimezone(UTC).replace(tzinfo=None))


def sql_json(value: Any) -> str | None:
    """A JSON value as text; Python's ``None`` is SQL's NULL."""
    if value is None:
        return None
    return "{}" if value == {} else json.dumps(value, ensure_ascii=False)


def _time(value: Any) -> datetime | None:
    if value is None or value.tzinfo is not None:
        return value
    return value.replace(tzinfo=UTC)


def _json(text: Any) -> Any:
    if text == "{}":
        return {}
    return json.loads(text) if isinstance(text, str) else text


def _columns(alias: str, names: Iterable[str]) -> str:
    return ", ".join(f"{alias}.{name}" for name in names)


# SQLite joins at most 64 tables and PostgreSQL answers at most 1,664 columns: deeper paths are read in parts.
_LEVELS_AT_ONCE = 24


@lru_cache(maxsize=400)
def _chain_sql(steps: int, instances: int, vendor: str, *, inner: bool = False, ends: bool = True) -> str:
    """The SELECT for a path of ``steps`` step ids and ``instances`` instance ids; the last is the target.

    A part that is ``inner`` begins within an instance and not at the run; one that doesn't ``ends`` leads to another.
    """
    select = [] if inner else [_columns("r", _RUN), "w.workflow_id"]
    joins = ["FROM runs_stepstate s0"] if inner else ["FROM runs_run r"]
    locked = [] if inner else ["r"]
    for level in range(steps):
        state = f"s{level}"
        scope = (
            f"{state}.instance_id = i{level - 1}.id"
            if level
            else f"{state}.run_id = r.id AND {state}.instance_id IS NULL"
        )
        if level or not inner:
            joins.append(f"JOIN runs_stepstate {state} ON {scope} AND {state}.step_id = %s")
        select.append(_columns(state, _STATE_CORE))
        locked.append(state)
        if level < instances:
            joins.append(
                f"JOIN runs_stepinstance i{level} ON i{level}.construct_id = {state}.id AND i{level}.instance_id = %s"
            )
            select.append(_columns(f"i{level}", _INSTANCE_CORE))
            locked.append(f"i{level}")
    if ends:
        if steps > instances:
            select.append(_columns(f"s{steps - 1}", _STATE_REST))
        else:
            select.append(_columns(f"i{instances - 1}", _INSTANCE_REST))
    if not inner:  # the workflow is joined for its id alone, which never changes, so it needs no lock
        joins.append("JOIN workflows_workflow w ON w.id = r.workflow_id")
    where = "s0.step_id = %s AND s0.instance_id = %s" if inner else "r.run_id = %s"
    lock = f" FOR UPDATE OF {', '.join(locked)}" if vendor == "postgresql" else ""
    return f"SELECT {', '.join(select)} {' '.join(joins)} WHERE {where}{lock}"


def _lock_row(run_id: str, path: Path) -> Sequence[Any] | None:
    """The chain's columns from left to right; in one statement, and one more for every 24 further constructs."""
    found: Sequence[Any] = ()
    width = 2 * _LEVELS_AT_ONCE
    with connection.cursor() as cursor:
        for start in range(0, len(path), width):
            part = path[start : start + width]
            sql = _chain_sql(
                (len(part) + 1) // 2,
                len(part) // 2,
                connection.vendor,
                inner=start > 0,
                ends=start + width >= len(path),
            )
            values = (*part, run_id) if start == 0 else (*part[1:], part[0], found[-len(_INSTANCE_CORE)])
            cursor.execute(sql, values)
            row = cursor.fetchone()
            if row is None:
                return None
            found = (*found, *row) if start else row
    return found


def lock_chain(run_id: str, path: Path) -> tuple[Chain, Counts] | None:
    """Lock the run, the addressed state or instance and its ancestors (``_lock_row``); ``None``: no such path.

    For a path that ends on an instance, that instance is the last of ``levels`` and ``target`` is ``None``.
    """
    steps, instances = (len(path) + 1) // 2, len(path) // 2
    row = _lock_row(run_id, path)
    if row is None:
        return None
    reader = _Row(row)
    run = _read_run(reader)
    levels: list[tuple[StateNode, InstanceNode]] = []
    target: StateNode | None = None
    for level in range(steps):
        state = _read_state(reader)
        if level < instances:
            levels.append((state, _read_instance(reader)))
        else:
            target = state
    if target is not None:
        target.summary, metadata, criteria, checkpoint, stale, question, artifacts, questions, history = (
            reader.take(len(_STATE_REST))
        )
        target.metadata, target.criteria_met = _json(metadata), _json(criteria)
        target.checkpoint, target.stale = _json(checkpoint), _json(stale)
        counts = Counts(artifacts, questions, history, question)
    else:
        instance = levels[-1][1]
        instance.summary, metadata, stale, artifacts, history = reader.take(len(_INSTANCE_REST))
        instance.metadata, instance.stale = _json(metadata), _json(stale)
        counts = Counts(artifacts, 0, history, None)
    return Chain(run, levels, target), counts


class _Row:
    """Takes a row apart from left to right."""

    __slots__ = ("_at", "_row")

    def __init__(self, row: Sequence[Any]) -> None:
        self._row = row
        self._at = 0

    def take(self, width: int) -> Sequence[Any]:
        self._at += width
        return self._row[self._at - width : self._at]


def _read_run(reader: _Row) -> RunHead:
    values = reader.take(len(_RUN) + 1)
    return RunHead(
        pk=values[0],
        run_id=values[1],
        workflow_pk=values[2],
        plan_pk=values[3],
        status=values[4],
        revision=values[5],
        reports=values[6],
        blocked_on_person=values[7],
        audit_length=values[8],
        audit_hash=values[9],
        pending_amendment_id=values[10],
        acknowledged=_json(values[11]),
        failed_at=_time(values[12]),
        tally=dict(zip(STATUSES, values[13:19], strict=True)),
        workflow_id=values[19],
    )


def _read_state(reader: _Row) -> StateNode:
    values = reader.take(len(_STATE_CORE))
    construct = values[2] in {"loop", "parallel"}
    return StateNode(
        pk=values[0],
        step_id=values[1],
        type=values[2],
        status=values[3],
        skip_cause=values[4],
        started_at=_time(values[5]),
        completed_at=_time(values[6]),
        instances_closed=values[7],
        started=values[8],
        failures=values[9],
        next_index=values[10],
        tally=dict(zip(STATUSES, values[11:17], strict=True)),
        instances={} if construct else None,
    )


def _read_instance(reader: _Row) -> InstanceNode:
    values = reader.take(len(_INSTANCE_CORE))
    return InstanceNode(
        pk=values[0],
        instance_id=values[1],
        index=values[2],
        kind=values[3],
        body=tuple(_json(values[4])),
        status=values[5],
        skip_cause=values[6],
        started_at=_time(values[7]),
        completed_at=_time(values[8]),
        started=values[9],
        failures=values[10],
        tally=dict(zip(STATUSES, values[11:17], strict=True)),
    )


def read_neighbours(chain: Chain, asked: Sequence[Wanted]) -> dict[int, dict[str, Neighbour]]:
    """The states that ``settle.wanted`` asked for, all scopes in one statement. The run's lock covers them."""
    clauses: list[str] = []
    values: list[Any] = []
    for want in asked:
        if want.depth:
            clauses.append(f"(instance_id = %s AND {_among('step_id')})")
            values.append(chain.levels[want.depth - 1][1].pk)
        else:
            clauses.append(f"(run_id = %s AND instance_id IS NULL AND {_among('step_id')})")
            values.append(chain.run.pk)
        values.append(_list(want.steps))
    depth_of = {None: 0} | {instance.pk: depth for depth, (_, instance) in enumerate(chain.levels, 1)}
    found: dict[int, dict[str, Neighbour]] = {}
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT id, instance_id, step_id, status, skip_cause FROM runs_stepstate"  # noqa: S608
            f" WHERE {' OR '.join(clauses)}",
            values,
        )
        for pk, instance, step_id, status, skip_cause in cursor.fetchall():
            found.setdefault(depth_of[instance], {})[step_id] = Neighbour(pk, step_id, status, skip_cause)
    return found


def skip_states(pks: Sequence[int]) -> None:
    """Put down pending states behind a failure, in one statement."""
    with connection.cursor() as cursor:
        cursor.execute(
            f"UPDATE runs_stepstate SET status = 'skipped', skip_cause = 'dependency' WHERE {_among('id')}",  # noqa: S608
            [_list(pks)],
        )


def _among(column: str) -> str:
    """A condition on one parameter, however long the list: no statement grows with the plan."""
    if connection.vendor == "postgresql":
        return f"{column} = ANY(%s)"
    return f"{column} IN (SELECT value FROM json_each(%s))"  # noqa: S608


def _list(values: Iterable[Any]) -> Any:
    return list(values) if connection.vendor == "postgresql" else json.dumps(list(values))


@lru_cache(maxsize=1000)
def _update_sql(table: str, columns: tuple[str, ...]) -> str:
    return f"UPDATE {table} SET {', '.join(f'{column} = %s' for column in columns)} WHERE id = %s"  # noqa: S608


def update(table: str, pk: int, changes: Mapping[str, Any]) -> None:
    """Write the named columns of one locked row; nothing to write is no statement."""
    if changes:
        with connection.cursor() as cursor:
            cursor.execute(_update_sql(table, tuple(changes)), (*changes.values(), pk))


def update_many(table: str, changes: Iterable[tuple[int, Mapping[str, Any]]]) -> None:
    """``update`` for many rows: one prepared statement for each set of columns, run once a row.

    ``bulk_update`` compiles an expression for every value: twenty times slower at a thousand rows.
    """
    batches: dict[tuple[str, ...], list[tuple[Any, ...]]] = {}
    for pk, columns in changes:
        if columns:
            batches.setdefault(tuple(columns), []).append((*columns.values(), pk))
    with connection.cursor() as cursor:
        for names, rows in batches.items():
            cursor.executemany(_update_sql(table, names), rows)


_STATE_DERIVED = ("status", "skip_cause", "started", "failures", "instances_closed", "next_index")
_INSTANCE_DERIVED = ("status", "skip_cause", "started", "failures")


class Baseline:
    """What a chain's rows held when they were read, so that only what changed is written."""

    def __init__(self, chain: Chain) -> None:
        self._states = [(node, _derived(node, _STATE_DERIVED)) for node, _ in chain.levels]
        self._instances = [(node, _derived(node, _INSTANCE_DERIVED)) for _, node in chain.levels]
        if chain.target is not None:
            self._states.append((chain.target, _derived(chain.target, _STATE_DERIVED)))

    def write(self, extra: Mapping[int, Mapping[str, Any]]) -> None:
        """One UPDATE per changed row. ``extra`` holds, by ``id(node)``, ready values of further columns."""
        for node, before in self._states:
            changes = _changes(before, _derived(node, _STATE_DERIVED))
            changes.update(extra.get(id(node), {}))
            assert node.pk is not None
            update("runs_stepstate", node.pk, changes)
        for inside, before in self._instances:
            changes = _changes(before, _derived(inside, _INSTANCE_DERIVED))
            changes.update(extra.get(id(inside), {}))
            assert inside.pk is not None
            update("runs_stepinstance", inside.pk, changes)


def _derived(node: StateNode | InstanceNode, names: Sequence[str]) -> dict[str, Any]:
    values = {name: getattr(node, name) for name in names}
    values["started_at"], values["completed_at"] = node.started_at, node.completed_at
    values.update(zip(_TALLY, node.tally.values(), strict=True))
    return values


def _changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    changes = {name: value for name, value in after.items() if before[name] != value}
    for name in ("started_at", "completed_at"):
        if name in changes:
            changes[name] = sql_time(changes[name])
    return changes


_RUN_UPDATE = (
    "status",
    "revision",
    "reports",
    "blocked_on_person",
    "audit_length",
    "audit_hash",
    "acknowledged",
    "failed_at",
    "updated_at",
    *_TALLY,
)


def update_run(run: RunHead, now: datetime, *, reported: bool) -> None:
    """Write the run's row; ``reported`` moves ``last_report_at`` too."""
    at = sql_time(now)
    changes = dict(
        zip(
            _RUN_UPDATE,
            (
                run.status,
                run.revision,
                run.reports,
                run.blocked_on_person,
                run.audit_length,
                run.audit_hash,
                sql_json(run.acknowledged),
                sql_time(run.failed_at),
                at,
                *run.tally.values(),
            ),
            strict=True,
        )
    )
    if reported:
        changes["last_report_at"] = at
    update("runs_run", run.pk, changes)


_REPORT_SQL = (
    "INSERT INTO runs_report (run_id, number, at, kind, path, payload, actor, via)"
    " VALUES (%s, %s, %s, %s, %s, %s, %s, %s)"
)


def insert_report(
    run: RunHead, *, at: datetime, kind: str, path: str, payload: str, actor: str, via: str
) -> None:
    """Keep a report whole; ``payload`` is its JSON text."""
    with connection.cursor() as cursor:
        cursor.execute(_REPORT_SQL, (run.pk, run.reports, sql_time(at), kind, path, payload, actor, via))


_AUDIT_SQL = (
    "INSERT INTO shared_auditentry (stream, position, at, event, workflow_id, run_id, amendment_id, actor, via, text,"
    " prev_hash, hash) VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)"
)


def insert_audit(entry: Entry) -> None:
    """Append an entry whose stream's head is a run that is written in the same operation."""
    with connection.cursor() as cursor:
        cursor.execute(
            _AUDIT_SQL,
            (
                entry.stream,
                entry.position,
                sql_time(entry.at),
                entry.event,
                entry.workflow_id,
                entry.run_id,
                entry.amendment_id,
                entry.actor,
                entry.via,
                entry.text,
                entry.prev_hash,
                entry.hash,
            ),
        )


def insert_artifacts(
    run: RunHead, rows: Sequence[Mapping[str, Any]], *, at: datetime, owner: str, pk: int
) -> int:
    """Add artifacts of one state (``owner="state_id"``) or instance; return how many went in: an id in use does not."""
    values: list[Any] = []
    for row in rows:
        values += [
            run.pk,
            row["artifact_id"],
            pk if owner == "state_id" else None,
            pk if owner == "instance_id" else None,
            row["type"],
            row["description"],
            row["ref"],
            sql_json(row["data"]),
            False,
            sql_time(at),
        ]
    marks = ", ".join(["(%s, %s, %s, %s, %s, %s, %s, %s, %s, %s)"] * len(rows))
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO runs_artifact (run_id, artifact_id, state_id, instance_id, type, description, ref, data,"  # noqa: S608
            f" superseded, created_at) VALUES {marks} ON CONFLICT DO NOTHING",
            values,
        )
        return int(cursor.rowcount)
