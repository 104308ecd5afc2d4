"""A running task asks a person (contract 3, "questions")."""

from typing import Any

from django.db import transaction

from chief_project.shared import ids
from chief_project.shared.caller import Caller, Right
from chief_project.shared.errors import ValidationFailed
from runs.domain.report import judge_question
from runs.domain.settle import Path
from runs.models import Question
from runs.services.outcome import RunWrite
from runs.services.writing import Writing


def ask_question(
    *, caller: Caller, run_id: str, path: Path, question: dict[str, Any], if_match: int | None = None
) -> RunWrite:
    """Block the running task at ``path`` on a question to a person.

    ``question`` is ``{text, fields}``. Refusals: 409 a construct or checkpoint, one open already, not running; 422 a
    field named twice.
    """
    caller.must(Right.WORK, "ask a question")
    fields = [
        {
            "name": field["name"],
            "label": field.get("label"),
            "hint": field.get("hint"),
            "required": field.get("required", True),
        }
        for field in question.get("fields") or []
    ]
    names = [field["name"] for field in fields]
    for place, name in enumerate(names):
        if name in names[:place]:
            raise ValidationFailed(
                f"the question asks for the same field twice: '{name}'", pointer=f"/fields/{place}/name"
            )
    with transaction.atomic(savepoint=False):
        writing = Writing(caller, run_id, path, if_match)
        writing.refuse_cancelled()
        judge_question(writing.state, open_question=writing.counts.open_question)
        writing.refuse_completed()
        state = writing.state
        row = Question.objects.create(
            run_id=writing.run.pk,
            state_id=state.row,
            question_id=ids.mint("qst"),
            text=question["text"],
            fields=fields,
            asked_at=writing.now,
            asked_actor=caller.actor,
            via=caller.via,
        )
        writing.counts.questions += 1
        writing.set(state, open_question=row.question_id, question_count=writing.counts.questions)
        writing.move("blocked")
        return writing.finish("step.question_asked", {"question_id": row.question_id, "text": row.text})
