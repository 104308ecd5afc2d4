"""Report on a step: what happened, what came of it, how far it is (contract 3, ``StepUpdate``)."""

from typing import Any

from django.db import transaction

from chief_project.shared.caller import Caller, Right
from runs.domain.report import judge_construct_report, judge_report
from runs.domain.settle import Path
from runs.services.outcome import RunWrite
from runs.services.writing import Writing


def report_step_update(
    *, caller: Caller, run_id: str, path: Path, report: dict[str, Any], if_match: int | None = None
) -> RunWrite:
    """Take a report on the step at ``path`` and settle what follows from it.

    ``report`` is a StepUpdate as it was sent. Refusals: 404 no such path, 409 finished, skipped, cancelled or blocked
    by a question, 409 ``details.unmet``, 422 for what the step's type has no place for.
    """
    caller.must(Right.WORK, "report on a step")
    with transaction.atomic(savepoint=False):
        writing = Writing(caller, run_id, path, if_match)
        writing.refuse_cancelled()
        was = writing.state.status
        take_step_report(writing, report)
        return writing.finish(
            "step.updated",
            {"status": writing.state.status, "status_was": was},
            report=("step_update", report),
        )


def take_step_report(writing: Writing, report: dict[str, Any]) -> None:
    """Judge a report on the addressed step, take what it carries, and settle what follows."""
    state = writing.state
    writing.refuse_skipped()
    if state.instances is not None:
        judge_construct_report(state, report)
        writing.refuse_completed()
        writing.take_report(state, report)
        state.started = True
        state.instances_closed = state.instances_closed or bool(report.get("instances_closed"))
        writing.settle_construct()
        return
    step = writing.plan.by_id.get(state.step_id)
    status = judge_report(state, step, report, open_question=writing.counts.open_question)
    writing.refuse_completed()
    writing.take_report(state, report)
    if report.get("criteria_met"):
        state.criteria_met = {**state.criteria_met, **report["criteria_met"]}
        writing.set(state, criteria_met=state.criteria_met)
    writing.move(status)
