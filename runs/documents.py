"""The wire shapes of runs as pydantic models: reports, which arrive often, and the recursive tree that is answered.

Requests are strict (``Document``): they judge shape only, the rules are the domain's. Answers describe what the
selectors build; nothing is validated by them on the way out.
"""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from chief_project.shared.documents import MAX_INTEGER, Document
from workflows.documents import FieldDocument, GroupDocument, Id, StepDocument, Text

RunStatus = Literal["running", "paused_for_approval", "waiting_on_human", "completed", "failed", "cancelled"]
StepStatus = Literal["pending", "running", "completed", "failed", "skipped", "blocked"]
InstanceStatus = Literal["pending", "running", "completed", "failed", "skipped"]
ReportedStatus = Literal["pending", "running", "completed", "failed"]
Kind = Literal["iteration", "branch"]
Step = Literal["task", "loop", "parallel", "checkpoint"]


# -- What is sent ------------------------------------------------------------------------------------


class ArtifactGiven(Document):
    """Something that was produced: a ``ref`` to where it is, or the ``data`` itself."""

    artifact_id: Id | None = Field(default=None, description="Chosen by you, or minted when left out.")
    type: Text = Field(description="What it is: a media type or an open name.")
    description: str | None = None
    ref: Text | None = Field(
        default=None, description="A path relative to the workflow's `origin_dir`, or a URL."
    )
    data: Any = Field(default=None, description="The content itself, any JSON value.")

    @model_validator(mode="before")
    @classmethod
    def _no_comments(cls, given: Any) -> Any:
        if isinstance(given, dict) and "comments" in given:
            raise ValueError("comments are not a harness's to report: people add them to what was reported")
        return given

    @model_validator(mode="after")
    def _names_or_holds(self) -> "ArtifactGiven":
        if self.ref is None and self.data is None:
            raise ValueError("needs a 'ref' to where it is, or the 'data' itself")
        return self


class _Report(Document):
    summary: Text = Field(description="What happened, in a sentence or two. It replaces the previous one.")
    status: ReportedStatus | None = Field(default=None, description="Left out, the status stays.")
    artifacts: list[ArtifactGiven] = Field(
        default_factory=list, max_length=1000, description="Added to those reported before."
    )
    metadata: dict[str, Any] = Field(default_factory=dict, description="Merged key by key.")

    def report(self) -> dict[str, Any]:
        """What was sent, without what was left out."""
        return self.model_dump(exclude_unset=True)


class StepUpdate(_Report):
    """A report on a step."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"summary": "Started.", "status": "running"},
                {
                    "summary": "All 212 tests pass.",
                    "status": "completed",
                    "criteria_met": {"c1": "The suite ran twice, on both databases; see the log."},
                    "artifacts": [{"type": "text/plain", "ref": "logs/tests.txt"}],
                    "metadata": {"tests": 212},
                },
            ]
        }
    )

    criteria_met: dict[str, Text] = Field(
        default_factory=dict,
        description="Per criterion id (`c1` …), a sentence with the evidence that it is met. Earlier answers count.",
    )
    instances_closed: bool | None = Field(
        default=None,
        description="`true` on a loop or parallel: no more instances will come. It can't be opened again.",
    )


class InstanceUpdate(_Report):
    """A report on an instance. A ``status`` is the report of its body's step, where it has just one."""


class InstanceCreate(Document):
    """A further iteration of a loop, or branch of a parallel."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"metadata": {"chapter": "02-setup"}, "summary": "The second chapter."}]
        }
    )

    instance_id: Id | None = Field(default=None, description="`inst_` and the index when left out.")
    index: int | None = Field(
        default=None, ge=0, le=MAX_INTEGER, description="The next free one when left out."
    )
    kind: Kind | None = Field(default=None, description="Follows from the construct; a wrong one is refused.")
    summary: Text | None = None
    metadata: dict[str, Any] = Field(
        default_factory=dict, description="Holds the construct's required instance parameters."
    )

    def instance(self) -> dict[str, Any]:
        """What was sent, without what was left out."""
        return self.model_dump(exclude_unset=True)


def _one_name_each(fields: list[FieldDocument]) -> list[FieldDocument]:
    seen: set[str] = set()
    for asked in fields:
        if asked.name in seen:
            raise ValueError(f"the same field twice: {asked.name!r}")
        seen.add(asked.name)
    return fields


class QuestionCreate(Document):
    """Something that a running task needs to know from a person."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "text": "Which of the two datasets counts?",
                    "fields": [{"name": "dataset", "required": True}],
                }
            ]
        }
    )

    text: Text
    fields: Annotated[list[FieldDocument], AfterValidator(_one_name_each)] = Field(
        default_factory=list, description="What to answer by name; without any, the answer is one text."
    )

    def question(self) -> dict[str, Any]:
        """``{text, fields}``, every key of a field stated."""
        return self.model_dump()


# -- What is answered --------------------------------------------------------------------------------


class Answer(BaseModel):
    """What is answered has these keys and no others."""

    model_config = ConfigDict(extra="forbid")


class ArtifactComment(Answer):
    """What a person said about an artifact."""

    comment_id: str
    body: str
    author: str
    actor: str = Field(description="The principal that sent it.")
    via: str
    created_at: datetime


class ArtifactRef(Answer):
    """Something a step or an instance produced."""

    artifact_id: str
    type: str
    description: str | None
    ref: str | None
    data: Any
    comments: list[ArtifactComment]


class StepQuestion(Answer):
    """A question of a step. It is open while it has neither ``answered_at`` nor ``closed``."""

    question_id: str
    text: str
    fields: list[FieldDocument]
    asked_at: datetime
    asked_actor: str
    response: dict[str, str] | None
    answered_at: datetime | None
    answered_by: str | None
    actor: str | None
    via: str
    closed: dict[str, Any] | None = Field(
        description="`{at, by, actor, reason}` when it was closed unanswered."
    )


class CheckpointDecision(Answer):
    """What a person decided at a checkpoint."""

    decision: Literal["approved", "rejected"]
    response: dict[str, str]
    note: str | None
    decided_by: str
    decided_at: datetime
    actor: str
    via: str


class StaleLabel(Answer):
    """Ran, but not part of what counts."""

    reason: str
    marked_by: str
    marked_at: datetime
    actor: str
    via: str


class _StateFields(Answer):
    step_id: str
    status: StepStatus
    summary: str | None
    artifacts: list[ArtifactRef]
    metadata: dict[str, Any]
    started_at: datetime | None
    completed_at: datetime | None
    instances: "list[StepInstance] | None" = Field(
        description="By index; null unless the step is a construct."
    )
    instances_closed: bool
    checkpoint: CheckpointDecision | None
    criteria_met: dict[str, str]
    questions: list[StepQuestion]
    stale: StaleLabel | None
    skip_cause: Literal["dependency", "removed", "cancelled"] | None
    failures: int = Field(description="Failed steps below that were tolerated.")


class StepState(_StateFields):
    """What happened to a step, in one scope."""

    history: "list[SupersededStep]" = Field(description="Earlier results, oldest first.")


class SupersededStep(_StateFields):
    """A step's result as it stood before an amendment replaced it."""

    superseded_at: datetime
    amendment_id: str | None


class _InstanceFields(Answer):
    instance_id: str
    parent_step_id: str
    kind: Kind
    index: int
    status: InstanceStatus
    summary: str | None
    artifacts: list[ArtifactRef]
    metadata: dict[str, Any]
    step_states: dict[str, StepState]
    started_at: datetime | None
    completed_at: datetime | None
    body: list[str] = Field(description="The steps it was spawned with.")
    stale: StaleLabel | None
    failures: int = Field(description="Failed steps in it that were tolerated.")


class StepInstance(_InstanceFields):
    """One iteration of a loop, or branch of a parallel."""

    history: "list[SupersededInstance]" = Field(description="Earlier results, oldest first.")


class SupersededInstance(_InstanceFields):
    """An instance as it stood before an amendment replaced it."""

    superseded_at: datetime
    amendment_id: str | None


class RunItem(Answer):
    """A run in a list."""

    run_id: str
    workflow_id: str
    title: str = Field(description="The workflow's.")
    base_version: int
    applied_amendment_ids: list[str]
    pending_amendment_id: str | None
    status: RunStatus
    metadata: dict[str, Any]
    revision: int
    created_at: datetime
    updated_at: datetime
    last_report_at: datetime | None = Field(description="Tells a silent harness.")
    acknowledged: dict[str, Any] | None = Field(description="`{by, at, via, actor}`: seen, and left failed.")
    cancelled: dict[str, Any] | None = Field(
        description="`{at, by, reason, actor, via}`: who ended it, and why."
    )


class ListedRun(RunItem):
    """A run in a list; ``step_states`` only with ``?expand=step_states``."""

    step_states: dict[str, StepState] = Field(default_factory=dict)


class PlanOfRun(Answer):
    """The plan a run goes by now."""

    steps: list[StepDocument]
    groups: list[GroupDocument]


class RunState(RunItem):
    """A run with everything that happened in it. ``plan`` only with ``?include=plan``."""

    step_states: dict[str, StepState]
    plan: PlanOfRun = Field(default_factory=lambda: PlanOfRun(steps=[], groups=[]))


class RunDefinition(Answer):
    """A run's effective plan, or the one after its first amendments."""

    run_id: str
    workflow_id: str
    title: str
    base_version: int
    applied_amendment_ids: list[str]
    steps: list[StepDocument]
    groups: list[GroupDocument]


class RunUpdate(Answer):
    """A report as it was sent."""

    number: int
    at: datetime
    kind: str
    path: str
    payload: dict[str, Any]
    actor: str
    via: str


class NextPlace(Answer):
    """Where: the state path to report to, and what the instances on the way brought."""

    path: str
    parameters: dict[str, Any]


class AnsweredQuestion(Answer):
    """A question of a step that nobody waits for any more: a person answered it, or it was ``closed`` unanswered."""

    question_id: str
    text: str
    response: dict[str, str] | None
    answered_by: str | None
    answered_at: datetime | None
    closed: dict[str, Any] | None = Field(
        description="`{at, by, actor, reason}` when it was closed unanswered."
    )
    shortened: bool = Field(description="Something ends in `…`: ask for less with `path`, or read the run.")


class DecisionBefore(Answer):
    """What a person decided at a checkpoint that the step depends on, in the same scope."""

    step_id: str
    decision: Literal["approved", "rejected"]
    response: dict[str, str]
    note: str | None
    shortened: bool = Field(description="Something ends in `…`: ask for less with `path`, or read the run.")


class ReadyPlace(NextPlace):
    """A place where a step is ready or running."""

    unanswered: list[str] = Field(description="The criteria without an answer so far.")
    answers: list[AnsweredQuestion] = Field(description="The newest, five at most; oldest first.")
    more_answers: int = Field(description="How many older ones were left out.")
    decisions: list[DecisionBefore] = Field(description="In the order of `depends_on`.")


class ConstructPlace(NextPlace):
    """A construct that takes instances."""

    next_index: int
    registered: int
    open: int = Field(description="Instances that aren't finished.")
    all_done: bool = Field(description="Close it, or add more.")
    decisions: list[DecisionBefore] = Field(description="In the order of `depends_on`.")


class OpenQuestion(Answer):
    """What a step waits to be told."""

    question_id: str
    text: str
    fields: list[FieldDocument]


class BlockedPlace(NextPlace):
    """A place that waits for a person."""

    since: datetime | None
    question: OpenQuestion | None


class FailedPlace(NextPlace):
    """A place where a step failed."""

    summary: str | None


class _NextEntry(Answer):
    path: str = Field(description="With `*` for the instances of a construct.")
    step_id: str
    type: Step
    goal: str
    harness: str
    status: StepStatus
    count: int = Field(description="In how many places.")


class CriterionOfStep(Answer):
    """A condition to answer by name."""

    id: str
    text: str


class ReadyEntry(_NextEntry):
    """A step that may begin, or is running, in one place or many."""

    depends_on: list[str]
    inputs: dict[str, Any]
    outputs: dict[str, Any]
    criteria: list[CriterionOfStep]
    fields: list[FieldDocument]
    places: list[ReadyPlace]


class InstanceParameterOfStep(Answer):
    """A value that each instance brings in its metadata."""

    name: str
    description: str | None
    required: bool


class ConstructEntry(_NextEntry):
    """A loop or parallel that takes instances."""

    body: list[str]
    exit_when: str | None
    inputs: dict[str, Any]
    instance_params: list[InstanceParameterOfStep]
    places: list[ConstructPlace]
    hint: str


class BlockedEntry(_NextEntry):
    """A step that waits for a person."""

    kind: Literal["checkpoint", "question"]
    waits_for: Literal["person"]
    fields: list[FieldDocument]
    places: list[BlockedPlace]


class FailedEntry(_NextEntry):
    """A failed step that holds others up."""

    places: list[FailedPlace]


class PendingAmendment(Answer):
    """The amendment that pauses the run."""

    amendment_id: str


class NextCounts(Answer):
    """How many places there are of each kind. ``waiting`` steps wait for others."""

    ready: int
    running: int
    constructs: int
    blocked: int
    failed: int
    waiting: int


class NextMore(Answer):
    """How many entries ``limit`` left out of each list."""

    ready: int
    constructs: int
    blocked: int
    failed: int


class RunNext(Answer):
    """What a harness may do now."""

    run_id: str
    run_status: RunStatus
    revision: int
    done: bool = Field(description="Nothing is left that anybody could do without an amendment.")
    hint: str
    pending_amendment: PendingAmendment | None
    counts: NextCounts
    ready: list[ReadyEntry]
    constructs: list[ConstructEntry]
    blocked: list[BlockedEntry]
    failed: list[FailedEntry]
    more: NextMore
