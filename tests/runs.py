"""Runs, made and moved through the real services; every function takes a caller that may decide."""

from __future__ import annotations

from typing import Any

from chief_project.shared.caller import Caller
from runs.services.register_run import register_run
from runs.services.register_step_instance import register_step_instance
from runs.services.report_step_update import report_step_update
from tests.workflows import new_approved


def new_run(caller: Caller, *steps: dict[str, Any] | str, run_id: str = "r1", **keys: Any) -> dict[str, Any]:
    """A run of a new approved workflow with these steps; the RunState."""
    workflow = new_approved(caller, *steps, **keys)
    return register_run(caller=caller, workflow_id=workflow["workflow_id"], run_id=run_id).full()


def report(
    caller: Caller, path: str, status: str | None = None, *, run_id: str = "r1", **keys: Any
) -> dict[str, Any]:
    """Report on the step at ``path``; the minimal answer."""
    body = {"summary": f"{path} is {status}"} | ({} if status is None else {"status": status}) | keys
    return report_step_update(caller=caller, run_id=run_id, path=tuple(path.split("/")), report=body).minimal


def add_instance(caller: Caller, path: str, *, run_id: str = "r1", **keys: Any) -> dict[str, Any]:
    """Register an instance of the construct at ``path``; the minimal answer."""
    return register_step_instance(
        caller=caller, run_id=run_id, path=tuple(path.split("/")), instance=keys
    ).minimal
