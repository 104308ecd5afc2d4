"""Small plans, as the documents that clients send."""

from __future__ import annotations

from typing import Any


def task(step_id: str, **keys: Any) -> dict[str, Any]:
    """A task step; any key may be given."""
    return {"id": step_id, "type": "task", "goal": f"Do {step_id}", "harness": "any"} | keys


def checkpoint(step_id: str, **keys: Any) -> dict[str, Any]:
    return {"id": step_id, "type": "checkpoint", "goal": f"Look at {step_id}", "harness": "human"} | keys


def loop(step_id: str, body: list[str], **keys: Any) -> dict[str, Any]:
    return {"id": step_id, "type": "loop", "goal": f"Repeat {step_id}", "harness": "any", "body": body} | keys


def parallel(step_id: str, body: list[str], **keys: Any) -> dict[str, Any]:
    return loop(step_id, body, type="parallel", goal=f"Spread {step_id}") | keys


def plan(*steps: dict[str, Any] | str, **keys: Any) -> dict[str, Any]:
    """The body of ``POST /workflows``: steps as documents, or as ids of plain tasks. Without any: ``a`` then ``b``."""
    documents = [task(step) if isinstance(step, str) else step for step in steps]
    return {
        "title": "A plan",
        "source": "generated",
        "steps": documents or [task("a"), task("b", depends_on=["a"])],
    } | keys
