"""Whether a report may be made, and what it makes of a step's own fields (contract 3, ``StepUpdate``). Pure.

Refusals about the document come before those about the moment, so that a caller learns first what can never work.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from chief_project.shared.errors import InvalidTransition, InvariantViolation, ValidationFailed
from runs.domain.tree import StateNode
from workflows.domain.plan import Field, Step

Document = Mapping[str, Any]


def judge_report(state: StateNode, step: Step | None, report: Document, *, open_question: str | None) -> str:
    """The status that ``report`` leaves the step in, or the refusal.

    Constructs are judged by ``judge_construct_report``. ``step`` is ``None`` only for a step that was removed.
    """
    criteria = {criterion.id: criterion.text for criterion in step.criteria} if step else {}
    answers = report.get("criteria_met") or {}
    unknown = sorted(answers.keys() - criteria.keys())
    if unknown:
        raise ValidationFailed(
            f"step '{state.step_id}' has no criteria {', '.join(unknown)}: answer {', '.join(criteria) or 'none'}",
            pointer="/criteria_met",
            unknown=unknown,
        )
    if report.get("instances_closed") is not None:
        raise ValidationFailed(
            f"step '{state.step_id}' is a {state.type} and has no instances: 'instances_closed' belongs to a loop or"
            " parallel",
            pointer="/instances_closed",
        )
    refuse_terminal(state)
    asked = report.get("status")
    if state.type == "checkpoint":
        if asked != "running":
            raise InvalidTransition(
                f"checkpoint '{state.step_id}' accepts only 'running': its outcome is a person's, given with"
                " resolve_checkpoint"
            )
        return "blocked"
    if asked is None:
        return state.status
    if open_question is not None:
        raise InvalidTransition(
            f"step '{state.step_id}' waits for the answer to question {open_question}: a status can be reported once"
            " it is answered or withdrawn",
            question_id=open_question,
        )
    if asked == "completed":
        met = {**state.criteria_met, **answers}
        unmet = [{"id": name, "text": text} for name, text in criteria.items() if name not in met]
        if unmet:
            raise InvariantViolation(
                f"step '{state.step_id}' cannot be completed yet: {', '.join(one['id'] for one in unmet)} not answered."
                " Keep working and answer each in criteria_met, report 'failed', or propose an amendment that changes"
                " the criteria",
                unmet=unmet,
            )
    return str(asked)


def judge_construct_report(state: StateNode, report: Document) -> None:
    """Refuse what a loop or parallel can't take: a status, criteria, or opening what is closed."""
    if report.get("criteria_met"):
        raise ValidationFailed(
            f"step '{state.step_id}' is a {state.type} and has no criteria: answer them on its body's steps",
            pointer="/criteria_met",
            unknown=sorted(report["criteria_met"]),
        )
    if report.get("status") is not None:
        raise InvariantViolation(
            f"the status of {state.type} '{state.step_id}' is derived from its instances: report on those, and send"
            " instances_closed: true when no more are coming"
        )
    if report.get("instances_closed") is False and state.instances_closed:
        raise InvariantViolation(
            f"{state.type} '{state.step_id}' is closed and can't be opened again by a report: propose an amendment"
            " with replay_step"
        )
    refuse_terminal(state)


def refuse_terminal(state: StateNode, *, root: str | None = None) -> None:
    """A finished or skipped step takes no report; ``root`` names the failed step that a skipped one waits for."""
    if state.status in {"completed", "failed"}:
        raise InvalidTransition(
            f"step '{state.step_id}' is {state.status} and immutable: to run it again, propose an amendment with"
            " replay_step",
            status=state.status,
        )
    if state.status == "skipped":
        raise InvalidTransition(
            f"step '{state.step_id}' is skipped", status=state.status, cause=state.skip_cause
        )


def refuse_no_construct(state: StateNode) -> None:
    """Only a loop or parallel has instances."""
    if state.instances is None:
        raise ValidationFailed(
            f"step '{state.step_id}' is a {state.type} and has no instances: only a loop or parallel has",
            pointer="/path",
        )


def refuse_closed(state: StateNode) -> None:
    """A closed construct takes no more instances."""
    if state.instances_closed:
        raise InvariantViolation(
            f"{state.type} '{state.step_id}' is closed and takes no more instances: propose an amendment with"
            " replay_step to open it again"
        )


def judge_question(state: StateNode, *, open_question: str | None) -> None:
    """Refuse a question where the step can't ask one now."""
    if state.instances is not None:
        raise InvariantViolation(
            f"the status of {state.type} '{state.step_id}' is derived: ask from a step of its body"
        )
    if state.type == "checkpoint":
        raise InvariantViolation(
            f"checkpoint '{state.step_id}' asks a person already: report 'running' on it and declare what it asks for"
            " in its fields"
        )
    if open_question is not None:
        raise InvalidTransition(
            f"step '{state.step_id}' already waits for the answer to question {open_question}: answer or withdraw it"
            " first",
            question_id=open_question,
        )
    if state.status != "running":
        raise InvalidTransition(
            f"step '{state.step_id}' is {state.status}: only a running step asks; report 'running' first"
            if state.status == "pending"
            else f"step '{state.step_id}' is {state.status}: only a running step asks",
            status=state.status,
        )


def refuse_no_checkpoint(state: StateNode) -> None:
    """Only a checkpoint is decided."""
    if state.type != "checkpoint":
        raise ValidationFailed(
            f"step '{state.step_id}' is a {state.type}, not a checkpoint: report on it with report_step_update",
            pointer="/path",
        )


def refuse_unblocked(state: StateNode) -> None:
    """A checkpoint is decided once, while it is blocked."""
    if state.checkpoint is not None and state.status in {"completed", "failed"}:
        raise InvalidTransition(
            f"checkpoint '{state.step_id}' has already been decided: {state.checkpoint['decision']} by"
            f" {state.checkpoint['decided_by']}. To ask again, propose an amendment with replay_step",
            decision=state.checkpoint["decision"],
        )
    if state.status != "blocked":
        raise InvalidTransition(
            f"checkpoint '{state.step_id}' is {state.status}, not 'blocked': it can be decided once the harness"
            " reports reaching it ('running')",
            status=state.status,
        )


def refuse_cancelled_run(run_id: str, status: str) -> None:
    """Nothing but comments and stale marks reaches a cancelled run."""
    if status == "cancelled":
        raise InvalidTransition(
            f"run '{run_id}' was cancelled and takes only comments and stale marks: register a new run to go on",
            status=status,
        )


def refuse_completed_run(run_id: str, status: str) -> None:
    """A completed run takes no reports."""
    if status == "completed":
        raise InvalidTransition(
            f"run '{run_id}' is completed and takes only amendments, stale marks and comments: to go on with it,"
            " propose an amendment",
            status=status,
        )


def refuse_unapproved(workflow_id: str, status: str) -> None:
    """Only an approved workflow is run."""
    if status != "approved":
        hint = (
            "is a draft: a person approves it before it runs"
            if status == "draft"
            else "is archived and takes no new runs: clone it to run it again"
        )
        raise InvalidTransition(f"workflow '{workflow_id}' {hint}", status=status)


def missing_parameters(step: Step, metadata: Document) -> list[str]:
    """The required instance parameters that ``metadata`` leaves out: absent, null, or a blank string."""
    return [
        param.name
        for param in step.instance_params
        if param.required and (metadata.get(param.name) is None or _is_blank(metadata[param.name]))
    ]


def check_response(
    fields: Sequence[Field], response: Mapping[str, str], *, asker: str, complete: bool = True
) -> None:
    """A person's answers against the fields that were asked for.

    Unknown names are always refused; missing required ones only when ``complete`` (a rejection needs no answers).
    """
    names = [asked.name for asked in fields]
    unknown = sorted(response.keys() - set(names))
    if unknown:
        raise ValidationFailed(
            f"{asker} did not ask for {', '.join(unknown)}: it asks for {', '.join(names) or 'nothing'}",
            pointer="/response",
            unknown=unknown,
        )
    missing = [asked.name for asked in fields if asked.required and _is_blank(response.get(asked.name, ""))]
    if complete and missing:
        raise ValidationFailed(f"{asker} requires {missing}", pointer="/response", missing=missing)


def _is_blank(value: Any) -> bool:
    return isinstance(value, str) and not value.strip()
