"""A run's whole tree: rows → nodes, and the nodes that changed → rows.

For amendments, cancellation and the tests' oracle: whole-tree work that reports never do. The run's row must be
locked. ``save_tree`` compares each node with what ``load_tree`` read, so only what changed is written, in bulk.
"""

import json
from collections.abc import Iterable
from datetime import datetime
from typing import Any, TypeVar

from chief_project.shared.clock import iso
from runs import mappers, statements
from runs.domain.status import STATUSES
from runs.domain.tree import InstanceNode, RunTree, StateNode
from runs.models import Artifact, ArtifactComment, Question, Run, Snapshot, StepInstance, StepState
from workflows.domain.plan import CONSTRUCTS, Plan

Row = TypeVar("Row", StepState, StepInstance)
_BATCH = 500
_TALLY = tuple(f"n_{status}" for status in STATUSES)
_SHARED = (
    "status",
    "skip_cause",
    "summary",
    "metadata",
    "stale",
    "started_at",
    "completed_at",
    "started",
    "failures",
)
_STATE = (*_SHARED, "type", "criteria_met", "checkpoint", "instances_closed", "next_index")
_INSTANCE = (*_SHARED, "body")
_JSON = frozenset({"metadata", "stale", "criteria_met", "checkpoint", "body"})


class LoadedTree:
    """A tree, and what its rows held: the measure of what ``save_tree`` writes."""

    def __init__(self, tree: RunTree) -> None:
        self.tree = tree
        self.states: dict[int, dict[str, Any]] = {}
        self.instances: dict[int, dict[str, Any]] = {}
        self.artifacts: set[str] = set()
        self.questions: dict[str, dict[str, Any]] = {}
        self.history: list[dict[str, Any]] = []  # kept alive, so that an entry is known by its identity


def load_tree(run: Run, plan: Plan) -> LoadedTree:
    """Every state and instance of ``run``, in six statements. Top-level states in plan order, instances by index."""
    tree = RunTree(
        status=run.status,
        states={},
        paused=run.status == "paused_for_approval",
        acknowledged=run.acknowledged,
        blocked_on_person=run.blocked_on_person,
        tally={status: getattr(run, column) for status, column in zip(STATUSES, _TALLY, strict=True)},
    )
    loaded = LoadedTree(tree)
    states: dict[int, StateNode] = {}
    scopes: dict[int | None, dict[str, StateNode]] = {None: {}}
    for row in StepState.objects.filter(run=run).order_by("pk"):
        node = StateNode(
            pk=row.pk,
            step_id=row.step_id,
            instances={} if row.type in CONSTRUCTS else None,
            tally=_tally(row),
            **{name: getattr(row, name) for name in _STATE},
        )
        states[row.pk] = node
        scopes.setdefault(row.instance_id, {})[row.step_id] = node
    instances: dict[int, InstanceNode] = {}
    for branch in StepInstance.objects.filter(run=run).order_by("construct_id", "index"):
        inside = InstanceNode(
            pk=branch.pk,
            instance_id=branch.instance_id,
            index=branch.index,
            kind=branch.kind,
            body=tuple(branch.body),
            tally=_tally(branch),
            **{name: getattr(branch, name) for name in _SHARED},
        )
        scope = scopes.get(branch.pk, {})
        order = [step_id for step_id in inside.body if step_id in scope]
        inside.states = {step_id: scope[step_id] for step_id in (*order, *(scope.keys() - set(order)))}
        instances[branch.pk] = inside
        construct = states[branch.construct_id]
        assert construct.instances is not None
        construct.instances[branch.instance_id] = inside
    top = scopes[None]
    planned = [step_id for step_id in plan.top_level if step_id in top]
    tree.states = {step_id: top[step_id] for step_id in (*planned, *(top.keys() - set(planned)))}
    _load_hung(run, loaded, states, instances)
    loaded.states = {pk: _values(node, _STATE) for pk, node in states.items()}
    loaded.instances = {pk: _values(node, _INSTANCE) for pk, node in instances.items()}
    return loaded


def _load_hung(
    run: Run, loaded: LoadedTree, states: dict[int, StateNode], instances: dict[int, InstanceNode]
) -> None:
    comments: dict[int, list[dict[str, Any]]] = {}
    said = ArtifactComment.objects.filter(artifact__run=run).order_by("pk")
    for artifact_pk, *columns in said.values_list("artifact_id", *mappers.COMMENT_COLUMNS):
        comments.setdefault(artifact_pk, []).append(mappers.comment_document(columns))
    artifacts = Artifact.objects.filter(run=run, superseded=False).order_by("pk")
    for pk, state_pk, instance_pk, *columns in artifacts.values_list(
        "pk", "state_id", "instance_id", *mappers.ARTIFACT_COLUMNS
    ):
        owner: StateNode | InstanceNode = states[state_pk] if state_pk is not None else instances[instance_pk]
        owner.artifacts.append(mappers.artifact_document(columns, comments.get(pk, [])))
        loaded.artifacts.add(columns[0])
    questions = Question.objects.filter(run=run).order_by("pk")
    for state_pk, *columns in questions.values_list("state_id", *mappers.QUESTION_COLUMNS):
        document = mappers.question_document(columns)
        states[state_pk].questions.append(document)
        loaded.questions[document["question_id"]] = document
    for row in Snapshot.objects.filter(run=run).order_by("pk"):
        holder: StateNode | InstanceNode = (
            states[row.state_id] if row.state_id is not None else instances[row.instance_id or 0]
        )
        entry = row.document | {"superseded_at": row.superseded_at, "amendment_id": row.amendment_id}
        holder.history.append(entry)
        loaded.history.append(entry)


def save_tree(run: Run, loaded: LoadedTree, now: datetime) -> None:
    """Write what changed since ``load_tree``: rows that are new, moved or gone, and the run's own derived columns.

    ``run`` gets its derived fields set but is not saved here. A new history entry carries ``superseded_at`` and
    ``amendment_id``; entries that were loaded are recognised and left alone. Artifacts that no node holds any more
    are superseded; questions that no node holds any more go, since the snapshot keeps them.
    """
    tree = loaded.tree
    states, instances = _reachable(tree)
    gone_states = loaded.states.keys() - {node.pk for node, _ in states}
    gone_instances = loaded.instances.keys() - {node.pk for node, _ in instances}
    held = {document["artifact_id"] for node in _nodes(states, instances) for document in node.artifacts}
    _in_bulk(
        lambda names: Artifact.objects.filter(run=run, artifact_id__in=names).update(
            superseded=True, state=None, instance=None
        ),
        loaded.artifacts - held,
    )
    _save_questions(loaded, states)
    _in_bulk(lambda pks: Snapshot.objects.filter(instance__in=pks).delete(), gone_instances)
    _in_bulk(lambda pks: Snapshot.objects.filter(state__in=pks).delete(), gone_states)
    # A body's states hang on their instance and an instance on its construct, so the cascade takes what is below.
    _in_bulk(lambda pks: StepInstance.objects.filter(pk__in=pks).delete(), gone_instances)
    _in_bulk(lambda pks: StepState.objects.filter(pk__in=pks).delete(), gone_states)
    _save_nodes(run, loaded, states, instances)
    _save_history(run, loaded, states, instances)
    run.status = tree.status
    run.acknowledged = tree.acknowledged
    run.blocked_on_person = tree.blocked_on_person
    failed = bool(tree.tally["failed"]) and tree.status != "cancelled"
    run.failed_at = (run.failed_at or now) if failed else None
    for status, column in zip(STATUSES, _TALLY, strict=True):
        setattr(run, column, tree.tally[status])


States = list[tuple[StateNode, InstanceNode | None]]
Instances = list[tuple[InstanceNode, StateNode]]


def _reachable(tree: RunTree) -> tuple[States, Instances]:
    states: States = [(state, None) for state in tree.states.values()]
    instances: Instances = []
    position = 0
    while position < len(states):
        state, _ = states[position]
        position += 1
        for instance in (state.instances or {}).values():
            instances.append((instance, state))
            states.extend((below, instance) for below in instance.states.values())
    return states, instances


def _nodes(states: States, instances: Instances) -> list[StateNode | InstanceNode]:
    return [*(state for state, _ in states), *(instance for instance, _ in instances)]


def _save_questions(loaded: LoadedTree, states: States) -> None:
    held = {question["question_id"]: question for state, _ in states for question in state.questions}
    _in_bulk(
        lambda names: Question.objects.filter(question_id__in=names).delete(), loaded.questions.keys() - held
    )
    for name, question in held.items():
        if question.get("closed") != loaded.questions[name].get("closed"):
            Question.objects.filter(question_id=name).update(closed=_plain(question["closed"]))


def _save_nodes(run: Run, loaded: LoadedTree, states: States, instances: Instances) -> None:
    """New rows level by level (a row needs its parent's id), changed rows in bulk."""
    statements.update_many(
        StepState._meta.db_table,
        (
            (node.pk, _changed(_values(node, _STATE), loaded.states[node.pk]))
            for node, _ in states
            if node.pk is not None
        ),
    )
    statements.update_many(
        StepInstance._meta.db_table,
        (
            (node.pk, _changed(_values(node, _INSTANCE), loaded.instances[node.pk]))
            for node, _ in instances
            if node.pk is not None
        ),
    )
    new_states = [(node, inside) for node, inside in states if node.pk is None]
    new_instances = [(node, above) for node, above in instances if node.pk is None]
    while new_states or new_instances:
        ready_states = [pair for pair in new_states if pair[1] is None or pair[1].pk is not None]
        rows = StepState.objects.bulk_create(
            [
                _fill(
                    StepState(run=run, step_id=node.step_id, instance_id=inside.pk if inside else None),
                    node,
                    _STATE,
                )
                for node, inside in ready_states
            ],
            batch_size=_BATCH,
        )
        for (node, _), row in zip(ready_states, rows, strict=True):
            node.pk = row.pk
        ready_instances = [pair for pair in new_instances if pair[1].pk is not None]
        branches = StepInstance.objects.bulk_create(
            [
                _fill(
                    StepInstance(
                        run=run,
                        construct_id=above.row,
                        instance_id=node.instance_id,
                        index=node.index,
                        kind=node.kind,
                    ),
                    node,
                    _INSTANCE,
                )
                for node, above in ready_instances
            ],
            batch_size=_BATCH,
        )
        for (inside, _), branch in zip(ready_instances, branches, strict=True):
            inside.pk = branch.pk
        new_states = [pair for pair in new_states if pair[0].pk is None]
        new_instances = [pair for pair in new_instances if pair[0].pk is None]


def _save_history(run: Run, loaded: LoadedTree, states: States, instances: Instances) -> None:
    rows = []
    saved = {id(entry) for entry in loaded.history}
    for node in _nodes(states, instances):
        for entry in node.history:
            if id(entry) in saved:
                continue
            document = {
                name: value for name, value in entry.items() if name not in {"superseded_at", "amendment_id"}
            }
            rows.append(
                Snapshot(
                    run=run,
                    state_id=node.pk if isinstance(node, StateNode) else None,
                    instance_id=node.pk if isinstance(node, InstanceNode) else None,
                    document=_plain(document),
                    superseded_at=entry["superseded_at"],
                    amendment_id=entry["amendment_id"],
                )
            )
    Snapshot.objects.bulk_create(rows, batch_size=_BATCH)


def _fill(row: Row, node: StateNode | InstanceNode, names: Iterable[str]) -> Row:
    for name, value in _values(node, names).items():
        setattr(row, name, list(value) if name == "body" else value)
    return row


def _values(node: StateNode | InstanceNode, names: Iterable[str]) -> dict[str, Any]:
    """A node as the columns of its row."""
    values = {name: getattr(node, name) for name in names}
    values.update(zip(_TALLY, node.tally.values(), strict=True))
    values["artifact_count"] = len(node.artifacts)
    values["history_count"] = len(node.history)
    if isinstance(node, StateNode):
        values["question_count"] = len(node.questions)
        values["open_question"] = node.open_question
    return values


def _changed(values: dict[str, Any], before: dict[str, Any]) -> dict[str, Any]:
    """The columns that differ, as the database driver takes them."""
    found = {}
    for name, value in values.items():
        if value is before[name] or (value == before[name] and name not in _JSON):
            continue
        if name in _JSON:
            found[name] = statements.sql_json(list(value) if name == "body" else value)
        else:
            found[name] = statements.sql_time(value) if isinstance(value, datetime) else value
    return found


def _tally(row: Any) -> dict[str, int]:
    return {status: getattr(row, column) for status, column in zip(STATUSES, _TALLY, strict=True)}


def _in_bulk(act: Any, keys: Iterable[Any]) -> None:
    """Call ``act`` with slices that stay below the databases' parameter limits."""
    ordered = sorted(keys)
    for start in range(0, len(ordered), _BATCH):
        act(ordered[start : start + _BATCH])


def _plain(document: Any) -> Any:
    """A document with times as text, for a JSON column."""
    return json.loads(json.dumps(document, default=iso))
