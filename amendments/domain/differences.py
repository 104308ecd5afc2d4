"""An amendment as people and programs read it: what each operation does, and what becomes of the plan. Pure."""

from collections.abc import Iterator, Sequence
from typing import Any

from amendments.domain.operations import INSERTS, Operation
from amendments.domain.patch import Draft, patch_head, released
from workflows.domain.diff import plan_diff, step_document
from workflows.domain.plan import Plan, Step

Document = dict[str, Any]


def amendment_diff(
    *, before: Plan, after: Plan, head: Plan, operations: Sequence[Operation], never: frozenset[str]
) -> Document:
    """The difference an amendment makes (contract 4).

    ``before`` and ``after`` are the run's plans, ``head`` the workflow's plan that the amendment meets (or met), and
    ``never`` the ids that no insert may use in it. Answers ``text`` (readable lines), ``operations`` (each with
    ``text``, ``before`` and ``after``), ``plan {before, after, diff}``, ``becomes_top_level`` and
    ``head {applies, why, differs}``.
    """
    changes = _operation_changes(before, operations)
    freed = released(before, after)
    _, why = patch_head(head, operations, never=never)
    differs = list(_head_differences(before, head, operations))
    diff = plan_diff(before, after)
    lines = [
        *(change["text"] for change in changes),
        *(_released_text(step_id, construct, after) for step_id, construct in freed),
        *(each["text"] for each in differs),
    ]
    if why is not None:
        lines.append(f"It does not apply to the workflow's head: {why}")
    return {
        "text": "\n".join(lines),
        "operations": changes,
        "plan": {
            "before": [step_document(step) for step in before.steps],
            "after": [step_document(step) for step in after.steps],
            "diff": diff,
        },
        "becomes_top_level": [
            {"step_id": step_id, "construct_id": construct} for step_id, construct in freed
        ],
        "head": {"applies": why is None, "why": why, "differs": differs},
    }


def _operation_changes(before: Plan, operations: Sequence[Operation]) -> list[Document]:
    draft = Draft(before)
    changes = []
    for index, operation in enumerate(operations):
        step_id = operation.step.id if operation.op in INSERTS and operation.step else operation.target
        was = draft.steps.get(step_id)
        holder = draft.holder(operation.target)
        path = scope_path(operation, holder)
        draft.apply(index, operation)
        now = draft.steps.get(step_id)
        changes.append(
            {
                "operation": index,
                "op": operation.op,
                "target_step_id": operation.target,
                "step_id": step_id,
                "instance_path": path,
                "text": _operation_text(operation, was, now, draft.holder(step_id), path),
                "before": None if was is None else step_document(was),
                "after": None if now is None else step_document(now),
            }
        )
    return changes


def scope_path(operation: Operation, holder: str | None) -> str | None:
    """The instance that an operation names, as a path; ``holder`` is the construct around its target."""
    if operation.instance_path is not None:
        return "/".join(operation.instance_path)
    if operation.instance_id is not None:
        return f"{holder or operation.target}/{operation.instance_id}"
    return None


def _operation_text(
    operation: Operation, was: Step | None, now: Step | None, holder: str | None, path: str | None
) -> str:
    target = operation.target
    if operation.op == "replay_step":
        if path is None:
            return f"re-runs step '{target}' and keeps its old result"
        construct = path.split("/")[-2]
        if construct == target:
            return f"re-runs instance '{path}' and keeps its old result"
        return f"re-runs step '{target}' in '{path}' and keeps its old result"
    scoped = "" if path is None else f" (a finished copy in '{path}' is kept in its history first)"
    if operation.op == "remove_step":
        what = f"{was.type} '{target}'" if was else f"step '{target}'"
        if path is not None and path.split("/")[-2] != target:
            return (
                f"takes {what} out of the plan; what it did in '{path}' stays in its history, and finished copies"
                " elsewhere stay as they are"
            )
        return f"takes {what} out of the plan; what it did stays in its history"
    if operation.op == "update_step":
        assert was is not None
        assert now is not None
        said = plan_diff(Plan((was,)), Plan((now,)))
        if said["same"]:
            return f"leaves step '{target}' as it is{scoped}"
        return f"changes step '{target}'{scoped}:\n" + "\n".join(
            f"  {line}" for line in said["text"].split("\n")
        )
    assert now is not None
    side = "after" if operation.op == "insert_after" else "before"
    inside = "" if holder is None else f", in the body of '{holder}'"
    waits = f"; it waits for {', '.join(now.depends_on)}" if now.depends_on else "; it waits for no step"
    return f"inserts {now.type} '{now.id}' {side} '{target}'{inside}: {now.goal}{waits}"


def _released_text(step_id: str, construct: str, after: Plan) -> str:
    why = "is no longer listed by" if construct in after.by_id else "loses its construct"
    return f"step '{step_id}' {why} '{construct}' and becomes top-level: it runs once, not per instance"


def _head_differences(run: Plan, head: Plan, operations: Sequence[Operation]) -> Iterator[Document]:
    """The steps that the set is about and that the head tells differently."""
    seen: set[str] = set()
    for operation in operations:
        step_ids = [operation.target]
        if operation.op in INSERTS and operation.step is not None:
            step_ids.append(operation.step.id)
        for step_id in step_ids:
            own, shared = run.by_id.get(step_id), head.by_id.get(step_id)
            if step_id in seen or own == shared:
                continue
            seen.add(step_id)
            yield {
                "step_id": step_id,
                "run": None if own is None else step_document(own),
                "head": None if shared is None else step_document(shared),
                "text": _head_text(step_id, own, shared),
            }


def _head_text(step_id: str, own: Step | None, shared: Step | None) -> str:
    if shared is None:
        return f"the workflow's head has no step '{step_id}' any more"
    if own is None:
        return f"the workflow's head has a step '{step_id}' that this run's plan has not"
    said = plan_diff(Plan((own,)), Plan((shared,)))
    lines = "\n".join(f"  {line}" for line in said["text"].split("\n"))
    return f"the workflow's head tells step '{step_id}' differently from this run:\n{lines}"
