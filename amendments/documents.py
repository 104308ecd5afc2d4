"""Amendments on the wire: what is proposed, and the shapes of the answers (contract 4)."""

from datetime import datetime
from typing import Annotated, Any, Literal, Self

from pydantic import Field, field_validator, model_validator

from amendments.domain.operations import WITH_STEP, Operation
from chief_project.shared import ids
from chief_project.shared.documents import Document
from workflows.documents import Id, StepDocument, Text

Kind = Literal["forward", "history_edit"]
Status = Literal["pending_approval", "approved", "rejected", "withdrawn"]
Op = Literal["insert_after", "insert_before", "update_step", "remove_step", "replay_step"]
MOST_OPERATIONS = 1_000
_DEEPEST_PATH = 128  # 64 constructs deep, each with an instance


class PatchOperation(Document):
    """One operation of an amendment.

    update_step and remove_step change the plan for every instance. A named instance says whose copy is meant: only
    that one is kept in the history first and decides the kind; finished copies elsewhere stay as they are.
    """

    op: Op
    target_step_id: Text = Field(description="The step it is about; for inserts, the one to stand beside.")
    instance_id: Id | None = Field(
        default=None,
        description="Names one instance, where a top-level construct or a step of its body is the target.",
    )
    instance_path: str | list[Id] | None = Field(
        default=None,
        description="The same at any depth: step and instance ids in turn from the top level, ending on an"
        " instance, as 'step_06/inst_01' or as an array. Not together with instance_id.",
    )
    step: StepDocument | None = Field(
        default=None, description="The whole step, for inserts and update_step; no other operation takes one."
    )

    @field_validator("instance_path")
    @classmethod
    def _is_a_path(cls, given: str | list[str] | None) -> str | list[str] | None:
        if given is None:
            return None
        tokens = given.split("/") if isinstance(given, str) else given
        if not all(map(ids.is_valid, tokens)):
            raise ValueError("must be step and instance ids in turn, such as 'step_06/inst_01'")
        if not tokens or len(tokens) % 2 or len(tokens) > _DEEPEST_PATH:
            raise ValueError(
                "must end on an instance id: step and instance ids in turn, such as 'step_06/inst_01'"
            )
        return given

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if self.instance_id is not None and self.instance_path is not None:
            raise ValueError("names its instance twice: send instance_id or instance_path, not both")
        if self.op in WITH_STEP and self.step is None:
            raise ValueError(f"{self.op} needs the whole step in 'step'")
        if self.op not in WITH_STEP and self.step is not None:
            raise ValueError(f"{self.op} takes no 'step': leave it out, or use update_step")
        return self

    def value(self) -> Operation:
        """As a value of the domain."""
        path = self.instance_path
        tokens = path.split("/") if isinstance(path, str) else path
        return Operation(
            op=self.op,
            target=self.target_step_id,
            instance_id=self.instance_id,
            instance_path=None if tokens is None else tuple(tokens),
            step=None if self.step is None else self.step.value(),
        )


class AmendmentProposal(Document):
    """The body of ``POST /runs/{id}/amendments``."""

    proposed_by: Text = Field(description="Who asks for the change; a claim, recorded as it stands.")
    kind: Kind = Field(description="history_edit as soon as finished work is altered or re-run.")
    reason: Text
    operations: Annotated[list[PatchOperation], Field(min_length=1, max_length=MOST_OPERATIONS)]


class OperationAnswer(Document):
    """An operation as it is kept: every key, null where unset."""

    op: Op
    target_step_id: str
    instance_id: str | None
    instance_path: str | None
    step: dict[str, Any] | None


class AmendmentAnswer(Document):
    """An amendment. ``actor`` and ``decided_actor`` are the principals behind the proposal and the decision."""

    amendment_id: str
    run_id: str
    workflow_id: str
    proposed_by: str
    actor: str
    via: str
    kind: Kind
    reason: str
    operations: list[OperationAnswer]
    status: Status
    created_at: datetime
    decided_at: datetime | None
    decided_by: str | None
    decided_actor: str | None
    decided_via: str | None
    decision_reason: str | None
    resulting_workflow_version: int | None


class OperationChange(Document):
    """What one operation does: in words, and the step before and after it."""

    operation: int
    op: Op
    target_step_id: str
    step_id: str = Field(description="The step that changes: for inserts the new one, else the target.")
    instance_path: str | None
    text: str
    before: dict[str, Any] | None
    after: dict[str, Any] | None


class PlanChange(Document):
    """The run's plan before and after the whole set, and the difference by step id."""

    before: list[dict[str, Any]]
    after: list[dict[str, Any]]
    diff: dict[str, Any]


class Released(Document):
    """A body step that stands at top level afterwards."""

    step_id: str
    construct_id: str


class HeadDifference(Document):
    """A step that the set touches and that the workflow's head says otherwise; null where it isn't there."""

    step_id: str
    run: dict[str, Any] | None
    head: dict[str, Any] | None
    text: str


class HeadChange(Document):
    """How the set meets the workflow's head: ``applies`` says whether it fits, ``why`` why it doesn't."""

    applies: bool
    why: str | None
    differs: list[HeadDifference]


class AmendmentDiff(Document):
    """An amendment, readable: ``text`` for people, the rest for programs."""

    amendment_id: str
    run_id: str
    workflow_id: str
    kind: Kind
    status: Status
    text: str
    operations: list[OperationChange]
    plan: PlanChange
    becomes_top_level: list[Released]
    head: HeadChange
