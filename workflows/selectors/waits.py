"""What became of the drafts that somebody waits for: one statement for all of them."""

from collections.abc import Collection

from workflows import models
from workflows.domain.waits import WorkflowFacts


def workflow_facts(workflow_ids: Collection[str]) -> dict[str, WorkflowFacts]:
    """Where each workflow stands; those that are gone are missing. For who may read them already."""
    rows = models.Workflow.objects.filter(workflow_id__in=workflow_ids)
    return {
        workflow_id: WorkflowFacts(status, review_state if status == "draft" else None, revision)
        for workflow_id, status, review_state, revision in rows.values_list(
            "workflow_id", "status", "review_state", "revision"
        )
    }
