"""The plan's wire shape as pydantic models: fast to validate at 5,000 steps, every error with its path.

They judge shape only (types, unknown keys, blank text); the rules of contract 2 are ``workflows.domain.rules``.
"""

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, AwareDatetime, Discriminator, Field, Tag

from chief_project.shared import ids
from chief_project.shared.documents import MAX_INTEGER, Document
from workflows.domain import plan as domain


def _not_blank(text: str) -> str:
    if not text.strip():
        raise ValueError("must not be blank")
    return text


def _id(text: str) -> str:
    if not ids.is_valid(text):
        raise ValueError(
            "must be 1 to 200 ASCII letters, digits, '_', '-', '.' or ':' (not '.' or '..' alone)"
        )
    return text


def _one_line(text: str) -> str:
    if not text.isprintable():
        raise ValueError("must stand on one line")
    return text


Text = Annotated[str, AfterValidator(_not_blank)]
Id = Annotated[str, AfterValidator(_id)]
Name = Annotated[str, Field(max_length=200), AfterValidator(_not_blank), AfterValidator(_one_line)]


class CriterionDocument(Document):
    """``{id?, text}``: a supplied id is accepted and replaced by the positional one."""

    id: str | None = None
    text: Text


def _given_as(criterion: Any) -> str:
    return "object" if isinstance(criterion, dict) else "text"


# Which of the two it is meant to be is plain, so that a refusal speaks of that one only.
Criterion = Annotated[
    Annotated[Text, Tag("text")] | Annotated[CriterionDocument, Tag("object")], Discriminator(_given_as)
]


class FieldDocument(Document):
    """Something a person is asked for in writing."""

    name: Name
    label: str | None = None
    hint: str | None = None
    required: bool = True

    def value(self) -> domain.Field:
        """As a value of the domain."""
        return domain.Field(self.name, self.label, self.hint, self.required)


class InstanceParamDocument(Document):
    """A value each instance brings in its metadata."""

    name: Name
    description: str | None = None
    required: bool = True


class StepDocument(Document):
    """One step of a plan, as submitted."""

    id: Id
    type: Literal["task", "loop", "parallel", "checkpoint"] = Field(
        description="loop: its body again until `exit_when`; parallel: its body for each of many things; checkpoint:"
        " a person says yes or no."
    )
    goal: Text = Field(
        description="What is true when the step is done, in one or two sentences: the outcome, not the way there."
        " Conditions go to criteria, facts to inputs."
    )
    harness: str = Field(default="", description="Who executes it: an open name; 'human' for checkpoints.")
    depends_on: list[str] = Field(
        default_factory=list,
        description="Ids of steps of the same scope that come first; what doesn't wait may run side by side.",
    )
    inputs: dict[str, Any] = Field(default_factory=dict, description="Facts that it starts from.")
    outputs: dict[str, Any] = Field(default_factory=dict, description="What it should leave, as notes.")
    criteria: list[Criterion] = Field(
        default_factory=list,
        description="What must hold, one checkable sentence each; each is answered before 'completed'. Tasks only.",
    )
    body: list[str] | None = Field(
        default=None, description="Ids of the steps that run once per iteration or branch; constructs only."
    )
    on_instance_failure: Literal["fail_fast", "continue"] | None = Field(
        default=None, description="`fail_fast` (default): one failed instance fails the construct."
    )
    exit_when: str | None = Field(default=None, description="When a loop ends, in words; loops only.")
    instance_params: list[InstanceParamDocument] = Field(
        default_factory=list,
        description="What each instance must bring in its metadata, such as a file's name.",
    )
    fields: list[FieldDocument] = Field(
        default_factory=list, description="What the person is asked to fill in; checkpoints only."
    )
    group: str | None = Field(default=None, description="Display path such as 'a/b'; no rule depends on it.")
    ref_template_id: None = None
    ref_parameters: dict[str, str] = Field(default_factory=dict, max_length=0)

    def value(self) -> domain.Step:
        """As a value of the domain. Constructs get ``fail_fast`` where nothing was said."""
        construct = self.type in domain.CONSTRUCTS
        return domain.Step(
            id=self.id,
            type=self.type,
            goal=self.goal,
            harness=self.harness,
            depends_on=tuple(self.depends_on),
            inputs=self.inputs,
            outputs=self.outputs,
            criteria=tuple(
                domain.Criterion(f"c{place}", given if isinstance(given, str) else given.text)
                for place, given in enumerate(self.criteria, 1)
            )
            if self.criteria
            else (),
            body=None if self.body is None else tuple(self.body),
            on_instance_failure=self.on_instance_failure or ("fail_fast" if construct else None),
            exit_when=self.exit_when,
            instance_params=tuple(
                domain.InstanceParam(param.name, param.description, param.required)
                for param in self.instance_params
            )
            if self.instance_params
            else (),
            fields=tuple(asked.value() for asked in self.fields) if self.fields else (),
            group=self.group,
        )


class GroupDocument(Document):
    """What a display path stands for."""

    path: Text
    description: str = ""


def plan_value(steps: list[StepDocument], groups: list[GroupDocument]) -> domain.Plan:
    """The submitted documents as one plan; not judged yet."""
    return domain.Plan(
        steps=tuple(step.value() for step in steps),
        groups=tuple(domain.Group(group.path, group.description) for group in groups),
    )


class WorkflowCreate(Document):
    """``POST /workflows``."""

    workflow_id: Id | None = Field(default=None, description="Chosen by you, or minted when left out.")
    title: Text
    source: Literal["import", "generated", "human"] = Field(
        description="Where the plan came from: a file, a planning agent, or a person."
    )
    generated_by: Text | None = Field(default=None, description="Which agent or program planned it.")
    steps: list[StepDocument]
    groups: list[GroupDocument] = Field(
        default_factory=list, description="What the steps' display paths stand for."
    )
    project: Name | None = Field(
        default=None,
        description="The label under which people find this work: stable, chosen, not a directory. Use one that"
        " there is, if it fits.",
    )
    origin_dir: Text | None = Field(
        default=None,
        description="The absolute directory the work runs in. Files that reports name are shown relative to it;"
        " without it none can be.",
    )

    def plan(self) -> domain.Plan:
        """The steps and groups as a value; not judged yet."""
        return plan_value(self.steps, self.groups)


class WorkflowRevise(Document):
    """``PUT /workflows/{id}``: the whole new text of a draft."""

    title: Text
    steps: list[StepDocument]
    groups: list[GroupDocument] | None = Field(
        default=None, description="Left out, the descriptions stay for the groups that are still there."
    )
    reason: Text | None = Field(default=None, description="What was changed, and in answer to what.")
    based_on: int | None = Field(
        default=None,
        ge=1,
        le=MAX_INTEGER,
        description="The revision you started from; needed where another made the newest.",
    )

    def step_values(self) -> tuple[domain.Step, ...]:
        """The steps as values; not judged yet."""
        return tuple(step.value() for step in self.steps)

    def group_values(self) -> tuple[domain.Group, ...] | None:
        """The groups as values, or None where they were left out."""
        if self.groups is None:
            return None
        return tuple(domain.Group(group.path, group.description) for group in self.groups)


# -- What is answered ------------------------------------------------------------------------------


class ReviewDocument(Document):
    """Where a draft's review stands, and since when."""

    state: Literal["waiting", "sent_back"] = Field(
        description="`waiting` for a person's decision, or `sent_back` to its harness."
    )
    revision: int
    by: str | None = Field(description="Who submitted the revision that waits, or sent it back.")
    actor: str | None = Field(description="The principal behind it.")
    at: AwareDatetime | None
    reason: str | None


class FromTemplateDocument(Document):
    """Which template a workflow was made from."""

    template_id: str
    template_version: int
    parameters: dict[str, str]


class ReviewNoteDocument(Document):
    """Something a person said about a plan or one of its steps."""

    note_id: str
    workflow_id: str
    revision: int = Field(description="The revision it was written on.")
    step_id: str | None = Field(description="Null: it speaks of the whole plan.")
    step_goal: str | None = Field(description="The step's goal when the note was written.")
    body: str
    author: str
    actor: str
    created_at: AwareDatetime
    resolved: bool
    resolved_at: AwareDatetime | None
    resolved_by: str | None
    resolved_actor: str | None
    resolved_via: str | None
    via: str
    orphaned: bool = Field(description="The plan as it is has no such step any more.")


class WorkflowSummary(Document):
    """A plan under review or approved, without its review notes."""

    workflow_id: str
    title: str
    source: Literal["import", "generated", "human"]
    generated_by: str | None
    status: Literal["draft", "approved", "archived"]
    version: int = Field(description="Moves with a reopening and with each amendment.")
    revision: int = Field(description="The plan's text: 1, and one more with each revision of the draft.")
    review: ReviewDocument | None = Field(description="Null once it is no draft.")
    steps: list[StepDocument]
    groups: list[GroupDocument]
    project: str | None
    origin_dir: str | None
    from_template: FromTemplateDocument | None
    created_at: AwareDatetime
    updated_at: AwareDatetime


class WorkflowDocument(WorkflowSummary):
    """A plan under review or approved, with what people said about it."""

    review_notes: list[ReviewNoteDocument]


class KeptEntry(Document):
    """A version or revision of a workflow."""

    n: int
    at: AwareDatetime
    by: str
    via: str
    reason: str | None


class KeptPlanDocument(KeptEntry):
    """The plan as it was."""

    workflow_id: str
    title: str
    steps: list[StepDocument]
    groups: list[GroupDocument]


class TextChange(Document):
    """A text, before and after."""

    before: str | None
    after: str | None
    words: list[Annotated[list[str], Field(min_length=2, max_length=2)]] = Field(
        description="`[mark, text]` in reading order: `=` stays, `-` goes, `+` comes."
    )


class StepChange(Document):
    """What differs in one step."""

    step_id: str
    type: str
    goal: str
    fields: dict[str, dict[str, Any]] = Field(
        description="By key: `before` and `after`; `words` too for texts, `added` and `removed` for lists of ids."
    )


class GroupChanges(Document):
    """What differs in the descriptions of groups."""

    added: list[GroupDocument]
    removed: list[GroupDocument]
    changed: list[dict[str, str]]


class PlanDiff(Document):
    """What differs between two plans, by step id. An order that changed alone is no change."""

    title: TextChange | None
    added: list[StepDocument]
    removed: list[StepDocument]
    changed: list[StepChange]
    groups: GroupChanges
    unchanged: int = Field(description="How many steps are the same.")
    same: bool
    text: str = Field(description="All of it as readable lines.")


class WorkflowDiff(PlanDiff):
    """What differs between two versions or revisions of a workflow."""

    workflow_id: str
    from_: str = Field(alias="from")
    to: str


class ProjectDocument(Document):
    """A label and how many workflows carry it."""

    project: str | None = Field(description="Null: the workflows without a label.")
    workflows: int


class SeenDocument(Document):
    """The newest revision that this person has read."""

    workflow_id: str
    revision: int


class DeletedWorkflow(Document):
    """What is gone."""

    workflow_id: str
    title: str
    removed: dict[str, int] = Field(description="How many rows of each kind.")
