"""Amendments, proposed and decided through the real services, from the documents that clients send."""

from __future__ import annotations

from typing import Any

from amendments.documents import AmendmentProposal
from amendments.services.approve_amendment import approve_amendment
from amendments.services.propose_amendment import propose_amendment
from chief_project.shared.caller import Caller


def insert_after(target: str, step: dict[str, Any], **scope: Any) -> dict[str, Any]:
    return {"op": "insert_after", "target_step_id": target, "step": step} | scope


def update(step: dict[str, Any], **scope: Any) -> dict[str, Any]:
    return {"op": "update_step", "target_step_id": step["id"], "step": step} | scope


def remove(target: str, **scope: Any) -> dict[str, Any]:
    return {"op": "remove_step", "target_step_id": target} | scope


def replay(target: str, **scope: Any) -> dict[str, Any]:
    return {"op": "replay_step", "target_step_id": target} | scope


def proposal(*operations: dict[str, Any], kind: str = "forward", **keys: Any) -> dict[str, Any]:
    """The body of ``POST /runs/{id}/amendments``."""
    return {
        "proposed_by": "planner",
        "kind": kind,
        "reason": "because",
        "operations": list(operations),
    } | keys


def propose(
    caller: Caller,
    *operations: dict[str, Any],
    run_id: str = "r1",
    if_match: int | None = None,
    **keys: Any,
) -> dict[str, Any]:
    """The ``Amendment`` that the operations become; ``kind`` is ``forward`` unless given."""
    body = AmendmentProposal.model_validate(proposal(*operations, **keys))
    return propose_amendment(
        caller=caller,
        run_id=run_id,
        proposed_by=body.proposed_by,
        kind=body.kind,
        reason=body.reason,
        operations=[operation.value() for operation in body.operations],
        if_match=if_match,
    ).full()


def approve(caller: Caller, amendment_id: str, **keys: Any) -> dict[str, Any]:
    """The ``Amendment`` once it is approved."""
    return approve_amendment(caller=caller, amendment_id=amendment_id, **keys).full()


def amend(caller: Caller, *operations: dict[str, Any], run_id: str = "r1", **keys: Any) -> dict[str, Any]:
    """Propose and approve in one go; ``caller`` must be one that may decide."""
    return approve(caller, propose(caller, *operations, run_id=run_id, **keys)["amendment_id"])
