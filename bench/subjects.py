"""Chief's principals and plans for the bench, arranged through the product's own services."""

from __future__ import annotations

from typing import Any

from bench.client import Client
from chief_project.shared.caller import Caller, Role
from chief_project.shared.services.create_token import create_token
from chief_project.shared.services.create_user import create_user
from tests.plans import checkpoint, loop, task

OPERATOR = Caller(actor="bench", role=Role.ADMIN, via="cli")


def person() -> Caller:
    """An admin, who may approve."""
    user_id = create_user(caller=OPERATOR, username="ada", role=Role.ADMIN)["user_id"]
    return Caller(actor="ada", role=Role.ADMIN, via="rest", user_id=user_id, signed_in=True)


def client() -> Client:
    """A harness with a token of its own."""
    return Client(create_token(caller=OPERATOR, kind="harness", name="bench")["token"])


def plan_of(steps: int) -> dict[str, Any]:
    """The body of ``POST /v1/workflows``: of ten steps one is a loop around three, one a checkpoint that asks for a
    field; tasks have two criteria, top-level steps wait for the one before.
    """
    found: list[dict[str, Any]] = []
    before: str | None = None
    for place in range(steps):
        step_id, kind = f"step_{place:04d}", place % 10
        keys: dict[str, Any] = {"group": f"part {place // 50}/chapter {place // 10}"}
        in_body = kind in {6, 7, 8} and place - kind + 9 < steps
        if not in_body and before is not None:
            keys["depends_on"] = [before]
        if kind == 7 or kind == 8:
            keys["depends_on"] = [f"step_{place - 1:04d}"] if in_body else keys.get("depends_on", [])
        if kind == 9:
            found.append(loop(step_id, [f"step_{place - back:04d}" for back in (3, 2, 1)], **keys))
        elif kind == 5:
            found.append(checkpoint(step_id, fields=[{"name": "verdict", "hint": "In a sentence."}], **keys))
        else:
            found.append(
                task(
                    step_id,
                    inputs={"from": f"chapters/{place:04d}.md"},
                    criteria=[f"Chapter {place} reads well to someone new.", "Every example runs."],
                    **keys,
                )
            )
        found[-1]["goal"] = (
            f"Chapter {place} says what its readers need, in their words, and every claim has a source."
        )
        if not in_body:
            before = step_id
    return {"title": f"A plan of {steps} steps", "source": "generated", "steps": found}
