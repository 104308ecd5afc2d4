"""A workflow's head under its lock: found, compared with what the caller knows, and written (contract 1 and 2)."""

from collections.abc import Mapping
from datetime import datetime

from chief_project.shared.errors import PreconditionFailed
from workflows import models, selectors
from workflows.domain.standing import refuse_no_draft
from workflows.selectors._find import no_workflow

REVIEW = ("review_state", "review_revision", "review_by", "review_actor", "review_at", "review_reason")


def lock_workflow(workflow_id: str) -> models.Workflow:
    """The head, locked until the transaction ends; the first lock of every operation that takes several."""
    row = models.Workflow.objects.select_for_update().filter(workflow_id=workflow_id).first()
    if row is None:
        raise no_workflow(workflow_id)
    return row


def check_etag(row: models.Workflow, if_match: int | None) -> None:
    """Raise ``PreconditionFailed`` with the difference if the workflow is no longer what ``If-Match`` names."""
    if if_match is not None and if_match != row.etag:
        raise PreconditionFailed(
            f"workflow '{row.workflow_id}' has changed since you read it (its ETag is \"{row.etag}\" now):"
            " read it again, and repeat the call if it still applies",
            etag=row.etag,
            **selectors.what_changed(row, since=selectors.revision_of_etag(row, if_match)),
        )


def check_revision(row: models.Workflow, revision: int | None, doing: str) -> None:
    """Raise ``PreconditionFailed`` with the difference if the draft's text is no longer ``revision``."""
    if revision is not None and revision != row.revision:
        raise PreconditionFailed(
            f"you would {doing} revision {revision}, and workflow '{row.workflow_id}' is at revision {row.revision}:"
            " read what changed, and decide on that",
            **selectors.what_changed(row, since=revision),
        )


def must_be_draft(row: models.Workflow, doing: str, instead: Mapping[str, str]) -> None:
    """Raise ``InvalidTransition`` unless the workflow is a draft; ``instead`` says what to do, by status."""
    refuse_no_draft(row.workflow_id, row.status, doing=doing, instead=instead)


def save(row: models.Workflow, *fields: str, at: datetime) -> None:
    """Write ``fields`` of a locked head. Every write moves its ``etag`` and ``updated_at``."""
    row.etag += 1
    row.updated_at = at
    row.save(update_fields=[*fields, "etag", "updated_at"])
