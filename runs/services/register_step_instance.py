"""Register an iteration of a loop or a branch of a parallel (contract 3, ``InstanceCreate``)."""

from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from chief_project.shared import ids, rows
from chief_project.shared.caller import Caller, Right
from chief_project.shared.errors import Conflict, InvariantViolation, ValidationFailed
from runs.domain.report import missing_parameters, refuse_closed, refuse_no_construct, refuse_terminal
from runs.domain.settle import Path
from runs.domain.status import empty_tally
from runs.domain.tree import InstanceNode, StateNode
from runs.mappers import minimal_instance_document
from runs.models import StepInstance, StepState
from runs.selectors.instances import read_instance
from runs.services.outcome import RunWrite
from runs.services.writing import Writing
from workflows.domain.plan import Step

_NAMES_AT_ONCE = 1_000
_KINDS = {"loop": "iteration", "parallel": "branch"}


def register_step_instance(
    *, caller: Caller, run_id: str, path: Path, instance: dict[str, Any], if_match: int | None = None
) -> RunWrite:
    """Add an instance to the construct at ``path``, with a pending state for each step of its body.

    ``instance`` is an InstanceCreate as it was sent. The whole answer is the StepInstance. Refusals: 422 not a
    construct, a wrong kind, required parameters missing; 409 closed or finished, an index or id in use.
    """
    caller.must(Right.WORK, "register an instance")
    with transaction.atomic(savepoint=False):
        writing = Writing(caller, run_id, path, if_match)
        writing.refuse_cancelled()
        construct = writing.state
        step = _judge(writing, instance)
        index, name = _place(construct, instance)
        node = InstanceNode(
            instance_id=name,
            index=index,
            kind=_KINDS[step.type],
            body=step.body or (),
            summary=instance.get("summary"),
            metadata=instance.get("metadata") or {},
        )
        node.tally = empty_tally() | {"pending": len(node.body)}
        _insert(writing, construct, node)
        construct.tally["pending"] += 1
        construct.next_index = max(construct.next_index, index + 1)
        writing.settle_construct()
        ready = [member for member in node.body if not writing.plan.by_id[member].depends_on]
        writing.path = (*path, name)
        writing.offer(writing.path, ready)
        write = writing.finish(
            "instance.registered",
            {"instance_id": name, "index": index, "kind": node.kind},
            report=("instance_registered", instance),
            full=lambda: read_instance(instance_pk=node.row, parent_step_id=construct.step_id),
        )
        write.minimal["state"] = minimal_instance_document(node, parent_step_id=construct.step_id)
        return write


def _judge(writing: Writing, instance: dict[str, Any]) -> Step:
    construct = writing.state
    refuse_no_construct(construct)
    kind = instance.get("kind")
    if kind is not None and kind != _KINDS[construct.type]:
        raise ValidationFailed(
            f"the instances of {construct.type} '{construct.step_id}' are of kind '{_KINDS[construct.type]}', not"
            f" '{kind}': leave 'kind' out",
            pointer="/kind",
        )
    writing.refuse_skipped()
    refuse_terminal(construct)
    writing.refuse_completed()
    refuse_closed(construct)
    step = writing.plan.by_id.get(construct.step_id)
    if step is None:
        raise InvariantViolation(
            f"an amendment took {construct.type} '{construct.step_id}' out of the plan, so it takes no more instances:"
            " report on those it has"
        )
    missing = missing_parameters(step, instance.get("metadata") or {})
    if missing:
        raise ValidationFailed(
            f"an instance of '{construct.step_id}' brings {', '.join(missing)} in its metadata, so that its branch can"
            " be told from the others",
            pointer="/metadata",
            missing=missing,
        )
    return step


def _place(construct: StateNode, instance: dict[str, Any]) -> tuple[int, str]:
    """The index and the id: as given, else the next free ones.

    ``next_index`` is past every index in use, so the default costs no look-up; only a given index or id, or a
    default id that somebody took by hand, needs one.
    """
    siblings = StepInstance.objects.filter(construct=construct.pk)
    index = instance.get("index")
    if index is None:
        index = construct.next_index
    elif index < construct.next_index and siblings.filter(index=index).exists():
        raise Conflict(
            f"index {index} of '{construct.step_id}' is in use: leave it out for the next free one, which is"
            f" {construct.next_index}",
            index=index,
        )
    name = instance.get("instance_id")
    if name is None:
        return index, _free_name(siblings, index)
    ids.check(name, field="instance_id")
    if siblings.filter(instance_id=name).exists():
        raise Conflict(
            f"'{construct.step_id}' already has an instance '{name}': choose another id, or leave it out",
            instance_id=name,
        )
    return index, name


def _free_name(siblings: QuerySet[StepInstance], index: int) -> str:
    """The id of ``index``, or the next that nobody took by hand: a look at one, then at twice as many each time."""
    first, width = index, 1
    while True:
        names = [f"inst_{number:02d}" for number in range(first, first + width)]
        taken = set(siblings.filter(instance_id__in=names).values_list("instance_id", flat=True))
        for name in names:
            if name not in taken:
                return name
        first, width = first + width, min(2 * width, _NAMES_AT_ONCE)


def _insert(writing: Writing, construct: StateNode, node: InstanceNode) -> None:
    row = rows.insert(
        StepInstance(
            run_id=writing.run.pk,
            construct_id=construct.row,
            instance_id=node.instance_id,
            index=node.index,
            kind=node.kind,
            summary=node.summary,
            metadata=node.metadata,
            body=list(node.body),
            n_pending=len(node.body),
        )
    )
    node.pk = row.pk
    StepState.objects.bulk_create(
        [
            StepState(
                run_id=writing.run.pk, instance=row, step_id=member, type=writing.plan.by_id[member].type
            )
            for member in node.body
        ],
        batch_size=2_000,
    )
