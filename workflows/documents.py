"""The plan's wire shape as pydantic models: fast to validate at 5,000 steps, every error with its path.

They judge shape only (types, unknown keys, blank text); the rules of contract 2 are ``workflows.domain.rules``.
"""

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from chief_project.shared import ids
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


Text = Annotated[str, AfterValidator(_not_blank)]
Id = Annotated[str, AfterValidator(_id)]
Name = Annotated[str, Field(max_length=200), AfterValidator(_not_blank)]


class Document(BaseModel):
    """Strict: no unknown key, no silent conversion between types."""

    model_config = ConfigDict(extra="forbid", strict=True)


class CriterionDocument(Document):
    """``{id?, text}``: a supplied id is accepted and replaced by the positional one."""

    id: str | None = None
    text: Text


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
    type: Literal["task", "loop", "parallel", "checkpoint"]
    goal: Text = Field(
        description="What is true when the step is done, in one or two sentences; conditions go to criteria."
    )
    harness: str = Field(default="", description="Who executes it: an open name; 'human' for checkpoints.")
    depends_on: list[str] = Field(default_factory=list, description="Ids of steps of the same scope.")
    inputs: dict[str, Any] = Field(default_factory=dict)
    outputs: dict[str, Any] = Field(default_factory=dict)
    criteria: list[Text | CriterionDocument] = Field(
        default_factory=list, description="Conditions to answer by name before 'completed'; tasks only."
    )
    body: list[str] | None = Field(
        default=None, description="Steps that run once per instance; constructs only."
    )
    on_instance_failure: Literal["fail_fast", "continue"] | None = None
    exit_when: str | None = Field(default=None, description="When a loop ends; loops only.")
    instance_params: list[InstanceParamDocument] = Field(default_factory=list)
    fields: list[FieldDocument] = Field(default_factory=list, description="Checkpoints only.")
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
            ),
            body=None if self.body is None else tuple(self.body),
            on_instance_failure=self.on_instance_failure or ("fail_fast" if construct else None),
            exit_when=self.exit_when,
            instance_params=tuple(
                domain.InstanceParam(param.name, param.description, param.required)
                for param in self.instance_params
            ),
            fields=tuple(asked.value() for asked in self.fields),
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
        description="The label under which people find this work: stable, chosen, not a directory. Use the label of"
        " `GET /projects` that fits.",
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
        default=None, ge=1, description="The revision you started from; needed where another made the newest."
    )
