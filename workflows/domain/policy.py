"""Which workflows from a template need no person: the workflow approval policy (contract 5). Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from chief_project.shared.expressions import Scalar, Vocabulary
from chief_project.shared.expressions.rules import PolicyKind, first_match

DOCUMENT_NAME = "workflow-approval-policy"

WORKFLOW_POLICY = PolicyKind(
    vocabulary=Vocabulary(
        "workflow",
        (
            Scalar("template_id", nullable=True),
            Scalar("source", domain=("import", "generated", "human")),
            Scalar("generated_by", nullable=True),
            Scalar("title"),
        ),
    ),
    never={"template_id": None},
    protected="a workflow that comes from no template",
    guard="workflow.template_id == 'the id of a template'",
)


@dataclass(frozen=True, slots=True)
class WorkflowFacts:
    """What a rule may read of a workflow."""

    template_id: str | None
    source: str
    generated_by: str | None
    title: str


def decide_workflow(rules: Sequence[Mapping[str, Any]], facts: WorkflowFacts) -> str | None:
    """The id of the rule that approves a workflow just made from a template; ``None``: it waits for a person.

    ``rules`` as they are kept. To be asked once, where the workflow is made; ``decided_by`` is ``policy:<id>``.
    """
    return first_match(rules, asdict(facts), WORKFLOW_POLICY)
