"""What asking, answering and withdrawing a question share (contract 3, "questions")."""

from chief_project.shared.errors import InvalidTransition, ValidationFailed
from runs.models import Question
from runs.services.writing import Writing


def open_question(writing: Writing, question_id: str, *, doing: str) -> Question:
    """The open question of the addressed step, or why it can't be answered or withdrawn.

    409 nothing is open, or this one was answered or closed (saying which); 422 another one is open.
    """
    step_id = writing.state.step_id
    current = writing.counts.open_question
    if current == question_id:
        return Question.objects.get(question_id=question_id)
    late = Question.objects.filter(state=writing.state.pk, question_id=question_id).first()
    if late is not None:
        how = f"was answered by {late.answered_by}" if late.closed is None else _why_closed(late)
        raise InvalidTransition(
            f"question {question_id} of step '{step_id}' {how}: it can't be {doing} any more",
            question_id=question_id,
        )
    if current is None:
        raise InvalidTransition(
            f"step '{step_id}' has no open question to be {doing}", question_id=question_id
        )
    raise ValidationFailed(
        f"question {question_id[:200]} is not the open question of step '{step_id}', which is {current}",
        pointer="/question_id",
        question_id=current,
        given=question_id,
    )


def _why_closed(question: Question) -> str:
    closed = question.closed or {}
    return f"was closed by {closed['by']}" + (f" ({closed['reason']})" if closed.get("reason") else "")
