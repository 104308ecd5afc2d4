"""What a set of operations does to a run (contract 4): simulated at proposal, and again at approval. Pure.

Operations apply one after the other to a copy of the run's tree, because an earlier one can take away what a later
one was meant for (a replayed construct has no instances any more). When all have been applied, the plan that comes
out is judged once, unfinished instances take the current bodies, and everything that is derived is derived anew.
"""

from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from amendments.domain.operations import INSERTS, Operation, place
from amendments.domain.patch import Draft, moved, same_plan
from chief_project.shared.errors import InvariantViolation, NotFound, ValidationFailed
from runs.domain.status import FINISHED, TERMINAL, move
from runs.domain.tree import (
    PUT_ASIDE,
    InstanceNode,
    RunTree,
    StateNode,
    derive_all,
    new_state,
    put_aside,
    snapshot,
    snapshot_instance,
    walk,
)
from workflows.domain.plan import CONSTRUCTS, Plan, Step

Document = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Stamp:
    """When, by whose decision (``actor`` is the principal behind it) and by which amendment."""

    at: datetime
    by: str
    actor: str
    amendment_id: str


@dataclass(frozen=True, slots=True)
class Simulation:
    """The run as the set leaves it: its plan, its tree, and the ids that are never used again.

    ``blocked`` are the ids of the steps that waited for a person in any copy before the set.
    """

    plan: Plan
    tree: RunTree
    removed: frozenset[str]
    blocked: frozenset[str]


@dataclass(slots=True)
class _Scope:
    """A scope that resolved: ``instance``, and the copy that is meant. ``own`` says the instance is the target's."""

    copy: StateNode
    instance: InstanceNode
    own: bool


def simulate(
    plan: Plan,
    tree: RunTree,
    operations: Sequence[Operation],
    *,
    kind: str,
    never: Iterable[str],
    stamp: Stamp,
) -> Simulation:
    """Apply ``operations`` to copies of ``plan`` and ``tree``; neither argument changes.

    ``never`` are the ids that amendments removed before. The tree that comes back isn't paused. Raises the refusals
    of contract 4, with ``details.operation`` where one operation is to blame and ``details.required_kind`` when
    ``kind`` says too little.
    """
    work = _Work(plan, copy_tree(tree), Draft(plan, never), stamp)
    blocked = frozenset(state.step_id for _, state, _ in walk(tree) if state.status == "blocked")
    failed_before = _failed(tree)
    for index, operation in enumerate(operations):
        work.apply(index, operation, kind)
    changed = work.draft.plan()
    if same_plan(changed, plan):
        changed = plan
    work.refuse_moves(changed, operations)
    work.tree.paused = False
    work.settle(changed)
    if _failed(work.tree) - failed_before:
        work.tree.acknowledged = None
    return Simulation(changed, work.tree, frozenset(work.draft.removed), blocked)


def copy_tree(tree: RunTree) -> RunTree:
    """A tree that can be changed without the first noticing. Values are replaced in nodes, never changed in place."""
    twin = copy(tree)
    twin.states = {step_id: copy(state) for step_id, state in tree.states.items()}
    stack = list(twin.states.values())
    while stack:
        state = stack.pop()
        if not state.instances:
            state.instances = None if state.instances is None else {}
            continue
        state.instances = {key: copy(instance) for key, instance in state.instances.items()}
        for instance in state.instances.values():
            instance.states = {step_id: copy(below) for step_id, below in instance.states.items()}
            stack.extend(instance.states.values())
    return twin


class _Work:
    """A simulation under way."""

    def __init__(self, plan: Plan, tree: RunTree, draft: Draft, stamp: Stamp) -> None:
        self.before = plan
        self.tree = tree
        self.draft = draft
        self.stamp = stamp
        self._gone_with_construct: dict[str, str] = {}

    def apply(self, index: int, operation: Operation, kind: str) -> None:
        """One operation: its refusals, what it does to the tree, and then to the plan."""
        was = self.draft.steps.get(operation.target)
        if was is None or operation.op in INSERTS:
            self._refuse_scoped_insert(index, operation)
            self.draft.apply(index, operation)
            return
        scope = self._resolve(index, operation) if operation.is_scoped else None
        copies = [scope.copy] if scope else self._copies(operation.target)
        finished = [state for state in copies if state.status in FINISHED]
        if operation.op == "replay_step":
            self._refuse_replay(index, operation, scope, copies, finished)
        elif scope and scope.own and scope.instance.status in FINISHED:
            finished = finished or [scope.copy]
        if kind == "forward" and (operation.op == "replay_step" or finished):
            raise _needs_history_edit(index, operation)
        if operation.op == "update_step":
            self._refuse_type_change(index, operation, was)
        self.draft.apply(index, operation)
        if operation.op == "replay_step":
            self._replay(scope, finished)
        elif operation.op == "update_step":
            assert operation.step is not None
            self._update(was, operation.step, scope, copies)
        else:
            for state in copies:
                self._remove(state)
            top = self.tree.states.get(operation.target)
            if top is not None:
                self._remove(top)

    def refuse_moves(self, changed: Plan, operations: Sequence[Operation]) -> None:
        """A step that has something to lose stays in its scope."""
        for step_id in moved(self.before, changed):
            reasons = [_what_it_keeps(state) for state in self._copies(step_id)]
            for kept in (self._gone_with_construct.get(step_id), *reasons):
                if kept:
                    raise InvariantViolation(
                        f"step '{step_id}' can't be moved between the top level and a body, or between bodies: {kept}."
                        " Insert a new step in the other scope instead, and remove this one",
                        step_id=step_id,
                        **self._mover(step_id, operations),
                    )

    def settle(self, plan: Plan) -> None:
        """Top level and unfinished instances take the plan's steps; then everything is derived anew."""
        self._take_top_level(plan)
        derive_all(self.tree, plan, self.stamp.at)
        while self._take_current_bodies(plan):
            derive_all(self.tree, plan, self.stamp.at)

    # -- Which copies ------------------------------------------------------------------------------

    def _copies(self, step_id: str) -> list[StateNode]:
        """Every state of the step in the run, those put aside left out."""
        top = self.tree.states.get(step_id)
        if top is not None and step_id not in self.before.container:
            return [] if top.skip_cause in PUT_ASIDE else [top]
        return [
            state
            for _, state, _ in walk(self.tree)
            if state.step_id == step_id and state.skip_cause not in PUT_ASIDE
        ]

    def _resolve(self, index: int, operation: Operation) -> _Scope:
        target = operation.target
        if target in self.draft.inserted:
            raise ValidationFailed(
                f"step '{target}' is inserted by this very amendment, so it has no instances and can't be scoped to one",
                **place(index, "instance_id" if operation.instance_id else "instance_path"),
            )
        path = operation.instance_path or self._short_path(index, operation)
        where = place(index, "instance_path" if operation.instance_path else "instance_id")
        states = self.tree.states
        construct: StateNode | None = None
        instance: InstanceNode | None = None
        for depth in range(0, len(path), 2):
            construct = states.get(path[depth])
            instance = ((construct.instances if construct else None) or {}).get(path[depth + 1])
            if instance is None:
                shown = "/".join(path[: depth + 2])
                raise NotFound(f"the run has no instance '{shown}' at this point of the amendment", **where)
            states = instance.states
        assert construct is not None
        assert instance is not None
        if construct.step_id == target:
            return _Scope(construct, instance, own=True)
        state = states.get(target)
        if state is None or state.skip_cause in PUT_ASIDE:
            raise NotFound(
                f"instance '{'/'.join(path)}' holds no step '{target}'"
                + ("" if state is None else ": an amendment removed it there"),
                **where,
            )
        return _Scope(state, instance, own=False)

    def _short_path(self, index: int, operation: Operation) -> tuple[str, ...]:
        """``instance_id`` alone: an instance of the construct around the target, else of the target itself."""
        target, instance_id = operation.target, operation.instance_id
        assert instance_id is not None
        holder = self.draft.holder(target)
        if holder is None and self.draft.steps[target].is_construct:
            return (target, instance_id)
        if holder is None:
            raise ValidationFailed(
                f"step '{target}' stands at top level and has no instances: leave instance_id out",
                **place(index, "instance_id"),
            )
        if self.draft.holder(holder) is not None:
            raise ValidationFailed(
                f"'{holder}', the construct around '{target}', stands in a body itself, so instance_id alone doesn't"
                " say which one is meant: use instance_path, from the top level to the instance",
                **place(index, "instance_id"),
            )
        return (holder, instance_id)

    # -- What is refused ---------------------------------------------------------------------------

    def _refuse_scoped_insert(self, index: int, operation: Operation) -> None:
        if operation.op in INSERTS and operation.is_scoped:
            raise ValidationFailed(
                f"{operation.op} can't be scoped to an instance: an insert changes the plan for all of them",
                **place(index, "instance_id" if operation.instance_id else "instance_path"),
            )

    def _refuse_replay(
        self,
        index: int,
        operation: Operation,
        scope: _Scope | None,
        copies: list[StateNode],
        finished: list[StateNode],
    ) -> None:
        if scope and scope.own:
            if scope.instance.status in FINISHED:
                return
            what = (
                f"instance '{scope.instance.instance_id}' of '{operation.target}' is {scope.instance.status}"
            )
        elif finished:
            return
        elif operation.target in self.draft.inserted:
            what = f"step '{operation.target}' is inserted by this very amendment"
        elif copies:
            what = f"step '{operation.target}' is {' or '.join(sorted({state.status for state in copies}))}"
        else:
            what = f"no instance has run step '{operation.target}'"
        raise InvariantViolation(
            f"there is nothing to replay: {what}, and only what is completed or failed can run again",
            **place(index, "target_step_id"),
        )

    def _refuse_type_change(self, index: int, operation: Operation, was: Step) -> None:
        assert operation.step is not None
        if operation.step.type == was.type:
            return
        for state in self._copies(operation.target):
            kept = _what_it_keeps(state)
            if kept:
                raise InvariantViolation(
                    f"the type cannot be changed from {was.type} to {operation.step.type} for step '{was.id}': {kept}."
                    " Insert a new step and remove this one instead",
                    **place(index, "step", "type"),
                )

    def _mover(self, step_id: str, operations: Sequence[Operation]) -> Document:
        """Which operation first takes the step out of its scope."""
        draft = Draft(self.before)
        for index, operation in enumerate(operations):
            draft.apply(index, operation)
            if step_id not in draft.steps or draft.holder(step_id) != self.before.container.get(step_id):
                return place(index)
        return {}

    # -- What happens to the tree ------------------------------------------------------------------

    def _replay(self, scope: _Scope | None, finished: list[StateNode]) -> None:
        if scope and scope.own:
            self._replay_instance(scope.instance, scope.copy.step_id)
            return
        for state in finished:
            self._close_questions([state], "replayed")
            self._keep(state)
            self._reset(state)

    def _replay_instance(self, instance: InstanceNode, construct_id: str) -> None:
        """Start one iteration or branch over. It keeps what tells it apart: its declared parameters."""
        self._close_questions(instance.states.values(), "replayed")
        self._keep_instance(instance)
        declared = {param.name for param in self.draft.steps[construct_id].instance_params}
        instance.metadata = {key: value for key, value in instance.metadata.items() if key in declared}
        instance.summary, instance.artifacts, instance.stale = None, [], None
        instance.started = False
        instance.skip_cause = None
        move(instance, "pending", self.stamp.at)
        for state in instance.states.values():
            if state.skip_cause not in PUT_ASIDE:
                self._reset(state)

    def _reset(self, state: StateNode) -> None:
        state.summary, state.checkpoint, state.stale, state.skip_cause = None, None, None, None
        state.artifacts, state.questions = [], []
        state.metadata, state.criteria_met = {}, {}
        state.instances = None if state.instances is None else {}
        state.instances_closed = state.started = False
        state.next_index = 0
        move(state, "pending", self.stamp.at)

    def _update(self, was: Step, step: Step, scope: _Scope | None, copies: list[StateNode]) -> None:
        if scope and scope.own and scope.instance.status in FINISHED and scope.copy.status not in FINISHED:
            self._keep_instance(scope.instance)
        for state in copies:
            if state.status in FINISHED:
                self._keep(state)
        gone = _unanswered(was, step)
        meant = {id(state) for state in copies}
        for state in self._copies(step.id):
            # A finished copy outside the scope isn't kept in history, so nothing of it is touched.
            if gone & state.criteria_met.keys() and (id(state) in meant or state.status not in FINISHED):
                state.criteria_met = {
                    key: said for key, said in state.criteria_met.items() if key not in gone
                }
            if step.type != state.type:
                state.type = step.type
                state.instances = {} if step.type in CONSTRUCTS else None

    def _remove(self, state: StateNode) -> None:
        """Out of the run, for good; what it was stays in its history."""
        if state.skip_cause in PUT_ASIDE:
            return
        self._close_questions([state], "removed")
        for below in _below(state):
            kept = _what_it_keeps(below)
            if kept:
                self._gone_with_construct.setdefault(below.step_id, kept)
        if state.status != "pending":
            self._keep(state)
        put_aside(state, "removed", self.stamp.at)

    def _keep(self, state: StateNode) -> None:
        state.history = [*state.history, snapshot(state) | self._superseded()]

    def _keep_instance(self, instance: InstanceNode) -> None:
        instance.history = [*instance.history, snapshot_instance(instance) | self._superseded()]

    def _superseded(self) -> Document:
        return {"superseded_at": self.stamp.at, "amendment_id": self.stamp.amendment_id}

    def _close_questions(self, states: Iterable[StateNode], how: str) -> None:
        """Nobody is to answer what no step waits for any more (contract 3, "questions")."""
        reason = f"amendment {self.stamp.amendment_id} {how} the step, or one around it"
        closed = {
            "at": self.stamp.at,
            "by": self.stamp.by,
            "actor": self.stamp.actor,
            "reason": reason,
        }
        for top in states:
            for state in (top, *_below(top)):
                if state.open_question is not None:
                    state.questions = [*state.questions[:-1], state.questions[-1] | {"closed": closed}]

    # -- The plan's steps as states ----------------------------------------------------------------

    def _take_top_level(self, plan: Plan) -> None:
        tree = self.tree
        for step_id in list(tree.states):
            if step_id in plan.container:  # moved into a body; it had nothing to lose
                del tree.states[step_id]
        for step_id in plan.top_level:
            state = tree.states.get(step_id)
            if state is None:
                tree.states[step_id] = new_state(step_id, plan.by_id[step_id].type)

    def _take_current_bodies(self, plan: Plan) -> bool:
        """Give every unfinished instance the body as it is now; say whether one changed."""
        constructs = [state for _, state, _ in walk(self.tree) if state.instances]
        changed = False
        for construct in constructs:
            step = plan.by_id.get(construct.step_id)
            if step is None or step.body is None or construct.skip_cause in PUT_ASIDE:
                continue
            for instance in (construct.instances or {}).values():
                if instance.status not in TERMINAL and not _has_body(instance, step.body):
                    self._take_body(instance, step.body, plan)
                    changed = True
        return changed

    def _take_body(self, instance: InstanceNode, body: tuple[str, ...], plan: Plan) -> None:
        states = {}
        for step_id in body:
            state = instance.states.get(step_id)
            if state is None:
                state = new_state(step_id, plan.by_id[step_id].type)
            elif state.skip_cause == "removed":
                self._reset(state)
            states[step_id] = state
        for step_id, state in instance.states.items():
            if step_id not in states:
                # A scoped removal takes the step from every open instance, but finished work only where it was named.
                if state.status not in FINISHED:
                    self._remove(state)
                states[step_id] = state
        instance.body, instance.states = body, states


def _has_body(instance: InstanceNode, body: tuple[str, ...]) -> bool:
    """Whether an instance goes by ``body``: nothing else in it is open (what finished may stay, and be replayed)."""
    return instance.body == body and all(
        state.status in TERMINAL for step_id, state in instance.states.items() if step_id not in body
    )


def _below(state: StateNode) -> Iterator[StateNode]:
    """Every state inside a construct, at any depth."""
    stack = list((state.instances or {}).values())
    while stack:
        for below in stack.pop().states.values():
            yield below
            stack.extend((below.instances or {}).values())


def _failed(tree: RunTree) -> set[tuple[str, ...]]:
    return {path for path, state, _ in walk(tree) if state.status == "failed"}


def _unanswered(was: Step, step: Step) -> set[str]:
    """The criteria whose answers no longer answer anything: reworded, or gone."""
    now = {criterion.id: criterion.text for criterion in step.criteria}
    return {criterion.id for criterion in was.criteria if now.get(criterion.id) != criterion.text}


def _what_it_keeps(state: StateNode) -> str | None:
    """Why a step can't be restructured, as the end of a sentence; ``None`` when it has nothing to lose."""
    if state.history:
        return "it carries a preserved result of an earlier attempt"
    if state.status == "blocked":
        return "it is blocked on a person"
    if state.status not in {"pending", "skipped"}:
        return f"it has run and is {state.status}"
    reported = (
        state.artifacts,
        state.metadata,
        state.criteria_met,
        state.questions,
        state.checkpoint,
        state.instances,
        state.instances_closed,
        state.started,
        state.status == "pending" and state.summary,
    )
    return "it has been reported on" if any(reported) else None


def _needs_history_edit(index: int, operation: Operation) -> InvariantViolation:
    what = (
        "replay_step always re-runs finished work"
        if operation.op == "replay_step"
        else f"step '{operation.target}' is completed or failed, and {operation.op} alters it"
    )
    return InvariantViolation(
        f"{what}: submit the amendment with kind 'history_edit', which a person decides",
        required_kind="history_edit",
        **place(index),
    )
