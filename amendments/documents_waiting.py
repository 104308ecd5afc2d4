"""What waits for a person, as it is answered: one model per kind."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import Field, RootModel

from runs.documents import Answer
from workflows.documents import FieldDocument


class _Item(Answer):
    since: datetime = Field(description="Waiting since then.")
    workflow_id: str
    title: str = Field(description="The workflow's.")
    project: str | None


class DraftWaiting(_Item):
    """A plan to approve, or to send back."""

    kind: Literal["draft"]
    source: Literal["import", "generated", "human"]
    generated_by: str | None
    version: int
    revision: int
    reason: str | None = Field(description="What was said of the newest revision.")
    submitted_by: str | None
    steps: int
    open_notes: int


class OperationWaiting(Answer):
    """What an amendment would do to a step."""

    op: Literal["insert_after", "insert_before", "update_step", "remove_step", "replay_step"]
    target_step_id: str
    instance: str | None = Field(description="The instance's id or path where it is scoped to one.")


class AmendmentWaiting(_Item):
    """A change to a running plan to approve or reject; the run is paused."""

    kind: Literal["amendment"]
    run_id: str
    amendment_id: str
    amendment_kind: Literal["forward", "history_edit"]
    reason: str
    proposed_by: str
    actor: str
    operations: list[OperationWaiting]


class _StepWaiting(_Item):
    run_id: str
    path: str
    step_id: str
    goal: str | None
    parameters: dict[str, Any] = Field(description="What the instances on the way brought.")
    fields: list[FieldDocument]


class CheckpointWaiting(_StepWaiting):
    """A checkpoint to approve or reject."""

    kind: Literal["checkpoint"]


class QuestionWaiting(_StepWaiting):
    """A question to answer."""

    kind: Literal["question"]
    question_id: str
    text: str
    asked_actor: str


class FailedStep(Answer):
    """A top-level step that failed."""

    path: str
    goal: str | None
    summary: str | None


class FailedRunWaiting(_Item):
    """A failed run to mend by an amendment, to cancel, or to acknowledge."""

    kind: Literal["failed_run"]
    run_id: str
    failed: int = Field(description="How many top-level steps failed.")
    failed_steps: list[FailedStep] = Field(description="The first twenty.")


class WaitingItem(
    RootModel[
        Annotated[
            DraftWaiting | AmendmentWaiting | CheckpointWaiting | QuestionWaiting | FailedRunWaiting,
            Field(discriminator="kind"),
        ]
    ]
):
    """Something that a person has to decide."""
