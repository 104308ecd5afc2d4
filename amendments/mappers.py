"""Amendments: rows ⇄ values ⇄ documents (contract 4). No SQL here."""

from collections.abc import Iterable, Sequence
from typing import Any

from amendments.domain.operations import Operation
from amendments.models import Amendment
from amendments.models import Operation as OperationRow
from workflows.documents import StepDocument
from workflows.mappers import step_document

Document = dict[str, Any]

AMENDMENT_COLUMNS = (
    "amendment_id",
    "run__run_id",
    "run__workflow__workflow_id",
    "proposed_by",
    "proposed_actor",
    "proposed_via",
    "kind",
    "reason",
    "status",
    "created_at",
    "decided_at",
    "decided_by",
    "decided_actor",
    "decided_via",
    "decision_reason",
    "resulting_workflow_version",
)
OPERATION_COLUMNS = ("op", "target_step_id", "instance_id", "instance_path", "step")


def amendment_document(columns: Sequence[Any], operations: list[Document]) -> Document:
    """An ``Amendment`` from its columns, in the order of ``AMENDMENT_COLUMNS``."""
    (
        amendment_id,
        run_id,
        workflow_id,
        proposed_by,
        actor,
        via,
        kind,
        reason,
        status,
        created_at,
        decided_at,
        decided_by,
        decided_actor,
        decided_via,
        decision_reason,
        version,
    ) = columns
    return {
        "amendment_id": amendment_id,
        "run_id": run_id,
        "workflow_id": workflow_id,
        "proposed_by": proposed_by,
        "actor": actor,
        "via": via,
        "kind": kind,
        "reason": reason,
        "operations": operations,
        "status": status,
        "created_at": created_at,
        "decided_at": decided_at,
        "decided_by": decided_by,
        "decided_actor": decided_actor,
        "decided_via": decided_via,
        "decision_reason": decision_reason,
        "resulting_workflow_version": version,
    }


def operation_document(columns: Sequence[Any]) -> Document:
    """A ``PatchOperation`` from its columns, in the order of ``OPERATION_COLUMNS``: every key, null where unset."""
    op, target, instance_id, instance_path, step = columns
    return {
        "op": op,
        "target_step_id": target,
        "instance_id": instance_id,
        "instance_path": None if instance_path is None else "/".join(instance_path),
        "step": step,
    }


def audited_operation(operation: Operation) -> Document:
    """An operation for the audit log, which outlives the amendment: ``{op, target_step_id, instance?, step?}``."""
    document: Document = {"op": operation.op, "target_step_id": operation.target}
    if operation.is_scoped:
        document["instance"] = operation.instance_id or "/".join(operation.instance_path or ())
    if operation.step is not None:
        document["step"] = step_document(operation.step)
    return document


def operation_rows(amendment: Amendment, operations: Iterable[Operation]) -> list[OperationRow]:
    """Unsaved rows, in order."""
    return [
        OperationRow(
            amendment=amendment,
            position=position,
            op=operation.op,
            target_step_id=operation.target,
            instance_id=operation.instance_id,
            instance_path=None if operation.instance_path is None else list(operation.instance_path),
            step=None if operation.step is None else step_document(operation.step),
        )
        for position, operation in enumerate(operations)
    ]


def operation_values(rows: Iterable[Sequence[Any]]) -> list[Operation]:
    """Operations as values, from tuples of ``OPERATION_COLUMNS`` in order."""
    return [
        Operation(
            op=op,
            target=target,
            instance_id=instance_id,
            instance_path=None if instance_path is None else tuple(instance_path),
            step=None if step is None else StepDocument.model_validate(step).value(),
        )
        for op, target, instance_id, instance_path, step in rows
    ]
