"""Which amendments need no person: the approval policy, and what none may approve (contract 5). Pure."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from amendments.domain.operations import OPS, Operation
from chief_project.shared.expressions import Scalar, Set, Vocabulary
from chief_project.shared.expressions.rules import PolicyKind, first_match
from workflows.domain.plan import Plan, Step

DOCUMENT_NAME = "approval-policy"

AMENDMENT_POLICY = PolicyKind(
    vocabulary=Vocabulary(
        "amendment",
        (
            Scalar("kind", domain=("forward", "history_edit")),
            Scalar("proposed_by"),
            Scalar("actor"),
            Scalar("run_id"),
            Scalar("workflow_id"),
            Set("ops", domain=OPS),
        ),
    ),
    never={"kind": "history_edit"},
    protected="a history_edit",
    guard="amendment.kind == 'forward'",
)


@dataclass(frozen=True, slots=True)
class AmendmentFacts:
    """What a rule may read of an amendment. ``proposed_by`` is a claim, ``actor`` the authenticated principal."""

    kind: str
    proposed_by: str
    actor: str
    run_id: str
    workflow_id: str
    ops: frozenset[str]


def decide_amendment(rules: Sequence[Mapping[str, Any]], facts: AmendmentFacts) -> str | None:
    """The id of the rule that approves an amendment; ``None``: it waits for a person.

    ``rules`` as they are kept. Ask ``why_a_person_decides`` first: it holds whatever the rules say.
    """
    return first_match(
        rules,
        {
            "kind": facts.kind,
            "proposed_by": facts.proposed_by,
            "actor": facts.actor,
            "run_id": facts.run_id,
            "workflow_id": facts.workflow_id,
            "ops": facts.ops,
        },
        AMENDMENT_POLICY,
    )


def why_a_person_decides(
    *,
    kind: str,
    before: Plan,
    after: Plan,
    operations: Sequence[Operation],
    blocked: Collection[str],
) -> str | None:
    """Why no policy may approve this amendment, in a sentence; ``None`` when one may.

    ``before`` and ``after`` keep the plan's rules; ``blocked`` holds the ids of the steps that are blocked in any
    copy. Beyond the letter of contract 5 this refuses what would come to the same as taking a checkpoint out: a
    construct around one that changes how it ends, and a step that no longer waits, even indirectly, for every
    checkpoint it waited for. Inserting a step changes nothing that exists, so it is never held back here.
    """
    if kind != "forward" or any(operation.op == "replay_step" for operation in operations):
        return "a history edit is a human decision"
    return (
        _checkpoint_addressed(before, operations)
        or _checkpoint_changed(before, after)
        or _checkpoint_surroundings_changed(before, after)
        or _dependency_on_checkpoint_dropped(before, after)
        or _gate_lost(before, after)
        or _blocked_removed(before, after, operations, blocked)
    )


def _checkpoint_addressed(before: Plan, operations: Sequence[Operation]) -> str | None:
    """An operation on a checkpoint, even one whose effect another takes back."""
    for operation in operations:
        step = before.by_id.get(operation.target)
        if step is None or step.type != "checkpoint":
            continue
        if operation.op == "remove_step":
            return f"it removes checkpoint '{step.id}'"
        if operation.op == "update_step":
            return f"it changes checkpoint '{step.id}'"
    return None


def _checkpoint_changed(before: Plan, after: Plan) -> str | None:
    for step in _checkpoints(before):
        now = after.by_id.get(step.id)
        if now is None:
            return f"it removes checkpoint '{step.id}'"
        if now != step:
            return f"it changes checkpoint '{step.id}'"
    for step in _checkpoints(after):
        was = before.by_id.get(step.id)
        if was is not None and was.type != "checkpoint":
            return f"it changes '{step.id}' into a checkpoint"
    return None


def _checkpoint_surroundings_changed(before: Plan, after: Plan) -> str | None:
    """Moved to another scope, or inside a construct that changed by more than new members and dependencies."""
    for step in _checkpoints(before):
        around = _containers(before, step.id)
        if around != _containers(after, step.id):
            return f"it moves checkpoint '{step.id}' to another scope"
        for construct_id in around:
            if _bare(before.by_id[construct_id]) != _bare(after.by_id[construct_id]):
                return f"it changes '{construct_id}', which contains checkpoint '{step.id}'"
    return None


def _dependency_on_checkpoint_dropped(before: Plan, after: Plan) -> str | None:
    """Also that of a step which goes altogether: the ``depends_on`` goes with it."""
    checkpoints = {step.id for step in _checkpoints(before)}
    for step in before.steps:
        now = after.by_id.get(step.id)
        for needed in step.depends_on:
            if needed not in checkpoints:
                continue
            if now is None:
                return f"it removes '{step.id}', which waits for checkpoint '{needed}'"
            if needed not in now.depends_on:
                return f"it takes checkpoint '{needed}' out of the depends_on of '{step.id}'"
    return None


def _gate_lost(before: Plan, after: Plan) -> str | None:
    """A step that could now start before a checkpoint it waited for, through others or through its construct."""
    checkpoints = [step.id for step in _checkpoints(before)]
    if not checkpoints:
        return None
    bits = {checkpoint: 1 << number for number, checkpoint in enumerate(checkpoints)}
    gates_before, gates_after = _gates(before, bits), _gates(after, bits)
    for step in before.steps:
        lost = gates_before[step.id] & ~gates_after.get(step.id, gates_before[step.id])
        if lost:
            checkpoint = checkpoints[lost.bit_length() - 1]
            return f"'{step.id}' would no longer wait for checkpoint '{checkpoint}'"
    return None


def _blocked_removed(
    before: Plan, after: Plan, operations: Sequence[Operation], blocked: Collection[str]
) -> str | None:
    """Gone, or out of the construct it was in, which removes it from instances that are open."""
    removed = {operation.target for operation in operations if operation.op == "remove_step"}
    for step_id in sorted(blocked):
        if step_id in removed or step_id not in after.by_id:
            return f"it removes '{step_id}', which is blocked on a person"
        if _containers(before, step_id) != _containers(after, step_id):
            return f"it moves '{step_id}', which is blocked on a person, to another scope"
    return None


def _checkpoints(plan: Plan) -> list[Step]:
    return [step for step in plan.steps if step.type == "checkpoint"]


def _bare(construct: Step) -> Step:
    """A construct without what may change around a checkpoint: dropped members and dependencies are judged apart."""
    return replace(construct, body=None, depends_on=())


def _containers(plan: Plan, step_id: str) -> list[str]:
    """The constructs around a step, the innermost first."""
    found: list[str] = []
    while (container := plan.container.get(step_id)) is not None:
        found.append(container)
        step_id = container
    return found


def _gates(plan: Plan, bits: Mapping[str, int]) -> dict[str, int]:
    """For each step, the checkpoints (as a sum of ``bits``) that must be passed before it can start.

    Those are the checkpoints it depends on, all those inside constructs it depends on (a construct ends after its
    body), what the steps it depends on wait for, and what the construct around it waits for.
    """
    inside: dict[str, int] = {}
    for checkpoint, bit in bits.items():
        if checkpoint in plan.by_id:
            for step_id in (checkpoint, *_containers(plan, checkpoint)):
                inside[step_id] = inside.get(step_id, 0) | bit
    depths = {step.id: len(_containers(plan, step.id)) for step in plan.steps}
    gates: dict[str, int] = {}
    # Outer scopes first, and within a scope dependencies first: whatever is read below is there.
    for step_id in sorted(plan.by_id, key=lambda one: (depths[one], plan.rank[one])):
        container = plan.container.get(step_id)
        gate = 0 if container is None else gates[container]
        for needed in plan.by_id[step_id].depends_on:
            gate |= gates[needed] | inside.get(needed, 0)
        gates[step_id] = gate
    return gates
