"""Take back a question that became moot (contract 3, "questions")."""

from typing import Any

from django.db import transaction

from chief_project.shared.caller import Caller, Right
from chief_project.shared.clock import iso
from runs.domain.settle import Path
from runs.models import Question
from runs.services.outcome import RunWrite
from runs.services.questions import asking_step, open_question


def withdraw_question(
    *, caller: Caller, run_id: str, path: Path, withdrawal: dict[str, Any], if_match: int | None = None
) -> RunWrite:
    """Close the open question of the step at ``path``, which goes on running.

    ``withdrawal`` is ``{question_id, reason?}``. Refusals: 409 nothing open, or answered or closed already; 422
    another id.
    """
    caller.must(Right.WORK, "withdraw a question")
    with transaction.atomic(savepoint=False):
        question_id = withdrawal["question_id"]
        writing = asking_step(caller, run_id, path, if_match, question_id, doing="withdrawn")
        writing.refuse_cancelled()
        question = open_question(writing, question_id, doing="withdrawn")
        writing.refuse_completed()
        reason = withdrawal.get("reason")
        closed = {
            "at": iso(writing.now),
            "by": caller.actor,
            "actor": caller.actor,
            "reason": reason or "withdrawn",
        }
        Question.objects.filter(pk=question.pk).update(closed=closed)
        writing.set(writing.state, open_question=None)
        writing.move("running")
        return writing.finish(
            "step.question_withdrawn", {"question_id": question.question_id, "reason": reason}
        )
