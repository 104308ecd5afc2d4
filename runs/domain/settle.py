"""What one report changes, decided in the scope it touches (design: "derivation is local"). Pure.

A ``Chain`` is the addressed state and its ancestors, nothing else of the tree. Where a step fails, the steps that
wait for it are handed in as ``near``; where nothing fails nothing else is read. ``tree.derive_all`` derives the same
from the whole tree, and a property test compares the two after every step of random histories.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from runs.domain.status import Tally, construct_status, instance_status, move, run_status
from runs.domain.tree import InstanceNode, StateNode, policy_of
from workflows.domain.plan import Plan

Path = tuple[str, ...]


@dataclass(slots=True, eq=False)
class RunHead:
    """The run's own row: what every write to it reads and moves."""

    pk: int
    run_id: str
    workflow_id: str
    workflow_pk: int
    plan_pk: int
    status: str
    revision: int
    reports: int
    blocked_on_person: int
    audit_length: int
    audit_hash: str
    pending_amendment_id: str | None
    acknowledged: dict[str, Any] | None
    tally: Tally
    failed_at: datetime | None


@dataclass(slots=True, eq=False)
class Chain:
    """``levels`` are the (construct, instance) pairs around the target, outermost first."""

    run: RunHead
    levels: list[tuple[StateNode, InstanceNode]]
    target: StateNode | None = None

    @property
    def depth(self) -> int:
        """How many constructs stand around the target."""
        return len(self.levels)


@dataclass(slots=True, eq=False)
class Neighbour:
    """A state of the same scope as one in the chain, as far as skips and readiness need it."""

    pk: int
    step_id: str
    status: str
    skip_cause: str | None


@dataclass(slots=True)
class Wanted:
    """Which neighbours to read: ``depth`` names the scope (0: top level), ``steps`` the ids."""

    depth: int
    steps: set[str] = field(default_factory=set)


Near = Mapping[int, Mapping[str, Neighbour]]


def wanted(chain: Chain, plan: Plan, status: str) -> list[Wanted]:
    """The neighbours to read before the target moves to ``status``; empty for most reports.

    A failure asks for everything behind it, in each scope that it reaches; a completion for the steps it may make
    ready; a step taken back to pending for the steps it waits for, and for those behind it: if it is cut off by a
    failure, it is skipped with them.
    """
    target = chain.target
    if target is None or status == target.status:
        return []
    if status == "failed":
        return [
            Wanted(depth, _with_needs(plan, plan.downstream(step_id)))
            for depth, step_id in _failing(chain, plan, target.step_id)
            if plan.dependents.get(step_id)
        ]
    if status == "completed" and plan.dependents.get(target.step_id):
        return [Wanted(chain.depth, _with_needs(plan, set(plan.dependents[target.step_id])))]
    if status == "pending":
        needs = _needs(plan, target.step_id)
        behind = _with_needs(plan, plan.downstream(target.step_id))
        return [Wanted(chain.depth, needs | behind)] if needs else []
    return []


def _needs(plan: Plan, step_id: str) -> set[str]:
    step = plan.by_id.get(step_id)  # none: an amendment removed it, and this instance keeps its body
    return set(step.depends_on) if step else set()


def _with_needs(plan: Plan, steps: set[str]) -> set[str]:
    return steps.union(*(plan.by_id[step].depends_on for step in steps)) if steps else steps


def _failing(chain: Chain, plan: Plan, step_id: str) -> list[tuple[int, str]]:
    """The states that fail with the target: itself, and each construct around it up to one that tolerates it."""
    failing = [(chain.depth, step_id)]
    for depth in range(chain.depth - 1, -1, -1):
        construct = chain.levels[depth][0]
        if policy_of(plan, construct) == "continue" or construct.status == "failed":
            break
        failing.append((depth, construct.step_id))
    return failing


def settle(chain: Chain, plan: Plan, status: str, now: datetime, near: Near) -> list[Neighbour]:
    """Move the target to ``status`` and everything that follows; return the neighbours that are skipped by it.

    ``near`` holds what ``wanted`` asked for. Mutates the chain's nodes, tallies and run head.
    """
    target = chain.target
    assert target is not None
    if status == "pending" and _cut_off(target.step_id, plan, near.get(chain.depth, {})):
        status, target.skip_cause = "skipped", "dependency"
    was = target.status
    chain.run.blocked_on_person += (status == "blocked") - (was == "blocked")
    skipped = _raise(chain, plan, target, chain.depth, status, now, near)
    if status == "skipped":  # it was taken back to pending first, which clears both times
        target.started_at = target.completed_at = None
    settle_run(chain.run, now, new_failure=status == "failed" != was)
    return skipped


def settle_instance(chain: Chain, plan: Plan, now: datetime) -> None:
    """Re-derive the innermost instance after its own ``started`` or body changed, and what stands above it."""
    construct, instance = chain.levels[-1]
    policy = policy_of(plan, construct)
    was = instance.status
    if move(instance, instance_status(instance.tally, policy=policy, started=instance.started), now):
        construct.tally[was] -= 1
        construct.tally[instance.status] += 1
    settle_construct(chain, plan, construct, chain.depth - 1, now)


def settle_construct(chain: Chain, plan: Plan, construct: StateNode, depth: int, now: datetime) -> None:
    """Re-derive a construct that didn't fail by this write (registered, closed, started), and what stands above."""
    status = construct_status(
        construct.tally,
        policy=policy_of(plan, construct),
        closed=construct.instances_closed,
        started=construct.started,
    )
    if status != construct.status:
        _raise(chain, plan, construct, depth, status, now, {})
    settle_run(chain.run, now, new_failure=False)


def settle_run(run: RunHead, now: datetime, *, new_failure: bool) -> None:
    """The run's status; a pending amendment pins it. A new failure, or none left, clears the acknowledgement."""
    natural = run_status(run.tally, blocked_on_person=run.blocked_on_person)
    if natural != "failed":
        run.acknowledged = run.failed_at = None
    else:
        run.failed_at = run.failed_at or now
        if new_failure:
            run.acknowledged = None
    if run.status != "paused_for_approval":
        run.status = natural


def _raise(
    chain: Chain, plan: Plan, node: StateNode, depth: int, status: str, now: datetime, near: Near
) -> list[Neighbour]:
    """Carry a status change from one state up to the run."""
    skipped: list[Neighbour] = []
    failures = 0
    while True:
        was = node.status
        move(node, status, now)
        owner = chain.levels[depth - 1][1].tally if depth else chain.run.tally
        owner[was] -= 1
        owner[status] += 1
        if status != was and status in {"failed", "skipped"}:
            cut = _cut_behind(node.step_id, plan, near.get(depth, {}))
            owner["pending"] -= len(cut)
            owner["skipped"] += len(cut)
            skipped += cut
        if not depth:
            return skipped
        construct, instance = chain.levels[depth - 1]
        policy = policy_of(plan, construct)
        if policy == "continue":
            failures += (status == "failed") - (was == "failed")
        instance.failures += failures
        construct.failures += failures
        was = instance.status
        if move(instance, instance_status(instance.tally, policy=policy, started=instance.started), now):
            construct.tally[was] -= 1
            construct.tally[instance.status] += 1
        upward = construct_status(
            construct.tally, policy=policy, closed=construct.instances_closed, started=construct.started
        )
        depth -= 1
        if upward == construct.status:
            if failures:
                for above, inside in chain.levels[:depth]:
                    above.failures += failures
                    inside.failures += failures
            return skipped
        node, status = construct, upward


def _cut_behind(step_id: str, plan: Plan, scope: Mapping[str, Neighbour]) -> list[Neighbour]:
    """Skip the pending steps behind a failed one; a step that began keeps its state and ends the chain."""
    down = {step_id}
    cut = []
    for behind in sorted(plan.downstream(step_id) & scope.keys(), key=plan.rank.__getitem__):
        state = scope[behind]
        needs = plan.by_id[behind].depends_on
        if state.status == "pending" and any(
            needed in down or (needed in scope and scope[needed].status in {"failed", "skipped"})
            for needed in needs
        ):
            state.status, state.skip_cause = "skipped", "dependency"
            down.add(behind)
            cut.append(state)
    return cut


def _cut_off(step_id: str, plan: Plan, scope: Mapping[str, Neighbour]) -> bool:
    return any(
        needed in scope and scope[needed].status in {"failed", "skipped"} for needed in _needs(plan, step_id)
    )


def is_satisfied(state: Neighbour) -> bool:
    """A dependency that no longer holds anything up: done, or taken out of the plan."""
    return state.status == "completed" or (state.status == "skipped" and state.skip_cause == "removed")


def made_ready(step_id: str, plan: Plan, scope: Mapping[str, Neighbour]) -> list[str]:
    """The pending steps that wait for ``step_id`` (now completed) and for nothing else any more, in plan order."""
    return [
        behind
        for behind in plan.dependents.get(step_id, ())
        if behind in scope
        and scope[behind].status == "pending"
        and all(
            needed == step_id or needed not in scope or is_satisfied(scope[needed])
            for needed in plan.by_id[behind].depends_on
        )
    ]
