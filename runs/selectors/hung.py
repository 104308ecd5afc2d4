"""What hangs on one state or instance, for the answer to a write: read only where its row counts something."""

from dataclasses import dataclass, field
from typing import Any, Protocol

from runs import mappers
from runs.mappers import Document
from runs.models import Artifact, Question, Snapshot
from runs.selectors.trees import comments_of


class Counted(Protocol):
    """How many artifacts, questions and snapshots a row has."""

    artifacts: int
    questions: int
    history: int


@dataclass(frozen=True, slots=True)
class Hung:
    """Documents, oldest first."""

    artifacts: list[Document] = field(default_factory=list)
    questions: list[Document] = field(default_factory=list)
    history: list[Document] = field(default_factory=list)


NOTHING = Hung()


def hung_on_state(state_pk: int, counts: Counted) -> Hung:
    """The artifacts, questions and history of a step's state."""
    return Hung(
        artifacts=artifacts_of(state=state_pk) if counts.artifacts else [],
        questions=[
            mappers.question_document(columns)
            for columns in Question.objects.filter(state=state_pk)
            .order_by("pk")
            .values_list(*mappers.QUESTION_COLUMNS)
        ]
        if counts.questions
        else [],
        history=_history(state=state_pk) if counts.history else [],
    )


def hung_on_instance(instance_pk: int, counts: Counted) -> Hung:
    """The artifacts and history of an instance."""
    return Hung(
        artifacts=artifacts_of(instance=instance_pk) if counts.artifacts else [],
        history=_history(instance=instance_pk) if counts.history else [],
    )


_SAID = tuple(f"comments__{column}" for column in mappers.COMMENT_COLUMNS)


def artifacts_of(**where: int | str) -> list[Document]:
    """The artifacts with these columns, each with its comments; one statement."""
    width = 1 + len(mappers.ARTIFACT_COLUMNS)
    found: dict[int, Document] = {}
    rows = Artifact.objects.filter(**where).order_by("pk", "comments__pk")
    for row in rows.values_list("pk", *mappers.ARTIFACT_COLUMNS, *_SAID):
        document = found.setdefault(row[0], mappers.artifact_document(row[1:width], []))
        if row[width] is not None:
            document["comments"].append(mappers.comment_document(row[width:]))
    return list(found.values())


def _history(**where: int) -> list[Document]:
    columns = ("run_id", "document", "superseded_at", "amendment_id", "instance__construct__step_id")
    rows: list[Any] = list(Snapshot.objects.filter(**where).order_by("pk").values_list(*columns))
    # What was said later about an artifact in there is shown in there, as in the whole tree.
    said = comments_of({row[0] for row in rows})
    return [
        mappers.history_document(
            document, superseded_at, amendment_id, said.get(run_pk, {}), parent_step_id=parent
        )
        for run_pk, document, superseded_at, amendment_id, parent in rows
    ]
