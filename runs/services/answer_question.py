"""A person's answer to a question (contract 3, "questions")."""

from typing import Any

from django.db import transaction

from chief_project.shared.caller import Caller, Right
from chief_project.shared.errors import ValidationFailed
from runs.domain.report import check_response
from runs.domain.settle import Path
from runs.models import Question
from runs.services.outcome import RunWrite
from runs.services.questions import asking_step, open_question
from workflows.domain.plan import Field


def answer_question(
    *, caller: Caller, run_id: str, path: Path, answer: dict[str, Any], if_match: int | None = None
) -> RunWrite:
    """Answer the open question of the step at ``path``, which goes on running.

    ``answer`` is ``{question_id, response, answered_by?}``. Without declared fields the response is exactly
    ``{"text": …}``. Refusals: 409 nothing open, or answered or closed already; 422 another id, unknown or missing
    fields.
    """
    caller.must(Right.DECIDE, "answer a question")
    with transaction.atomic(savepoint=False):
        question_id = answer["question_id"]
        writing = asking_step(caller, run_id, path, if_match, question_id, doing="answered")
        writing.refuse_cancelled()
        question = open_question(writing, question_id, doing="answered")
        writing.refuse_completed()
        response = answer.get("response") or {}
        _check(question, response)
        by = caller.claim(answer.get("answered_by", "human"))
        Question.objects.filter(pk=question.pk).update(
            response=response, answered_at=writing.now, answered_by=by, actor=caller.actor, via=caller.via
        )
        writing.set(writing.state, open_question=None)
        writing.move("running")
        return writing.finish(
            "step.question_answered",
            {"question_id": question.question_id, "answered_by": by, "response": response},
        )


def _check(question: Question, response: dict[str, str]) -> None:
    asker = f"question {question.question_id}"
    fields = [Field(**field) for field in question.fields]
    if not fields and response.keys() != {"text"}:
        raise ValidationFailed(
            f"{asker} declared no fields: answer it with exactly the key 'text'",
            pointer="/response",
            unknown=sorted(response.keys() - {"text"}),
        )
    check_response(fields or [Field("text")], response, asker=asker)
