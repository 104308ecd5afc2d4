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
