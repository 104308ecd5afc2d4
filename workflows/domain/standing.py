"""What may be done with a workflow as it stands: draft, approved or archived (contract 2). Pure."""

from collections.abc import Mapping

from chief_project.shared.errors import InvalidTransition

STATUSES = ("draft", "approved", "archived")


def refuse_no_draft(workflow_id: str, status: str, *, doing: str, instead: Mapping[str, str]) -> None:
    """Only a draft can be revised or decided; ``instead`` says what to do, by status."""
    if status != "draft":
        raise InvalidTransition(
            f"workflow '{workflow_id}' is {status}: only a draft can be {doing}; {instead[status]}",
            status=status,
        )


def refuse_archived(workflow_id: str, status: str, *, by: str | None = None) -> None:
    """What is archived stays so; ``by`` is who did it."""
    if status == "archived":
        whose = f", by {by}" if by else ""
        raise InvalidTransition(
            f"workflow '{workflow_id}' is archived already{whose}; clone it to use its plan again"
        )
