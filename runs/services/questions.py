"""What asking, answering and withdrawing a question share (contract 3, "questions")."""

from collections.abc import Iterator
from typing import Any

from django.db.models import Q, QuerySet

from chief_project.shared.caller import Caller
from chief_project.shared.errors import InvalidTransition, NotFound, ValidationFailed
from runs.domain.settle import Path
from runs.models import Question, Snapshot
from runs.services.writing import Writing


def asking_step(
    caller: Caller, run_id: str, path: Path, if_match: int | None, question_id: str, *, doing: str
) -> Writing:
    """The writing of the step that asked; 409 saying how the question ended where a replay took its instance away."""
    try:
        return Writing(caller, run_id, path, if_match)
    except NotFound:
        how = _ending_in(Snapshot.objects.filter(run__run_id=run_id), question_id)
        if how is None:
            raise
        raise _over(question_id, path[-1], how, doing) from None


def open_question(writing: Writing, question_id: str, *, doing: str) -> Question:
    """The open question of the addressed step, or why it can't be answered or withdrawn.

    409 nothing is open, or this one was answered or closed (saying which); 422 another one is open.
    """
    step_id = writing.state.step_id
    current = writing.counts.open_question
    if current == question_id:
        return Question.objects.get(question_id=question_id)
    how = _how_it_ended(writing, question_id)
    if how is not None:
        raise _over(question_id, step_id, how, doing)
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


def _how_it_ended(writing: Writing, question_id: str) -> str | None:
    """How a question of this step ended, also one that an amendment put into the history; ``None``: not its own."""
    row = Question.objects.filter(state=writing.state.pk, question_id=question_id).first()
    if row is not None:
        return _ending(row.closed, row.answered_by)
    levels = writing.chain.levels
    kept = Snapshot.objects.filter(
        Q(state__in=[writing.state.pk, *(construct.pk for construct, _ in levels)])
        | Q(instance__in=[instance.pk for _, instance in levels])
    )
    return _ending_in(kept, question_id)


def _ending_in(kept: QuerySet[Snapshot], question_id: str) -> str | None:
    for document in kept.order_by("-pk").values_list("document", flat=True):
        for question in _questions_in(document):
            if question["question_id"] == question_id:
                return _ending(question["closed"], question["answered_by"])
    return None


def _questions_in(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    stack = [document]
    while stack:
        part = stack.pop()
        yield from part.get("questions") or ()
        stack += part.get("instances") or ()
        stack += (part.get("step_states") or {}).values()
        stack += part.get("history") or ()


def _over(question_id: str, step_id: str, how: str, doing: str) -> InvalidTransition:
    return InvalidTransition(
        f"question {question_id} of step '{step_id}' {how}: it can't be {doing} any more",
        question_id=question_id,
    )


def _ending(closed: dict[str, Any] | None, answered_by: str | None) -> str:
    if closed is None:
        return f"was answered by {answered_by}"
    return f"was closed by {closed['by']}" + (f" ({closed['reason']})" if closed.get("reason") else "")
