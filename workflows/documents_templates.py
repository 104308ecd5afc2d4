"""Templates on the wire (contract 6): their shape only; placeholders are judged by ``workflows.domain.templates``."""

from typing import Annotated, Literal

from pydantic import AwareDatetime, Field

from chief_project.shared.documents import Document
from workflows.documents import GroupDocument, Id, Name, StepDocument, Text, plan_value
from workflows.domain.templates import Content, Parameter

ParameterName = Annotated[
    str, Field(max_length=100, description="A lower-case letter, then lower-case letters, digits and `_`.")
]


class TemplateParameter(Document):
    """A value that the template asks for; it stands as `{{ name }}` in its texts."""

    name: ParameterName
    description: str | None = None
    required: bool = Field(
        default=True, description="Whether a workflow can't be made without a text for it."
    )
    default: str | None = Field(default=None, description="What it is when it isn't given.")

    def value(self) -> Parameter:
        """As a value of the domain."""
        return Parameter(self.name, self.description, self.required, self.default)


class TemplateCreate(Document):
    """A template, as it is submitted and as it is exported."""

    template_id: Id | None = None
    title: Text = Field(description="The title of workflows made from it; placeholders count.")
    description: str = Field(default="", description="What it is for.")
    parameters: list[TemplateParameter] = Field(default_factory=list, max_length=200)
    steps: list[StepDocument] = Field(
        description="Placeholders count in goal, harness, exit_when, criteria and the texts in inputs."
    )
    groups: list[GroupDocument] = Field(default_factory=list)
    project: Name | None = Field(default=None, description="Workflows made from it inherit it.")

    def content(self) -> Content:
        """As a value of the domain; not judged yet."""
        return Content(
            title=self.title,
            description=self.description,
            parameters=tuple(parameter.value() for parameter in self.parameters),
            plan=plan_value(self.steps, self.groups),
            project=self.project,
        )


class TemplateDocument(TemplateCreate):
    """A template as it is kept."""

    template_id: Id
    status: Literal["active", "archived"]
    version: int
    derived_from_workflow_id: str | None
    created_at: AwareDatetime
    updated_at: AwareDatetime


class WorkflowFromTemplate(Document):
    """The values of one workflow."""

    workflow_id: Id | None = None
    title: Text | None = Field(default=None, description="Instead of the template's; taken as it is.")
    parameters: dict[str, str] = Field(
        default_factory=dict, description="A text for each parameter, inserted as it is."
    )
    project: Name | None = Field(default=None, description="Instead of the template's.")
    origin_dir: Text | None = Field(
        default=None, description="Where the harness stood; nothing is read there."
    )


class TemplateFromWorkflow(Document):
    """Which texts of a workflow's plan become parameters."""

    template_id: Id | None = None
    title: Text | None = Field(default=None, description="Instead of the workflow's; placeholders count.")
    description: str = ""
    substitutions: dict[str, str] = Field(
        default_factory=dict,
        max_length=100,
        description="`{literal: name}`: each literal becomes `{{ name }}`, a parameter defaulting to it. Longest first.",
        examples=[{"BERT": "model"}],
    )
    parameters: list[TemplateParameter] = Field(
        default_factory=list,
        max_length=200,
        description="Describes those parameters, or declares placeholders that the plan has already.",
    )
    project: Name | None = Field(default=None, description="Instead of the workflow's.")
