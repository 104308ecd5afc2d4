"""Reads of workflows, one module a subject."""

from workflows.selectors.history import (
    get_diff,
    get_revision,
    get_version,
    list_revisions,
    list_versions,
    plan_of_workflow,
    plan_then,
    revision_of_etag,
    what_changed,
)
from workflows.selectors.notes import list_review_notes
from workflows.selectors.workflows import (
    UNLABELLED,
    document_of,
    drafts_waiting,
    get_workflow,
    list_projects,
    list_workflows,
    of_project,
    workflow_etag,
)

__all__ = [
    "UNLABELLED",
    "document_of",
    "drafts_waiting",
    "get_diff",
    "get_revision",
    "get_version",
    "get_workflow",
    "list_projects",
    "list_review_notes",
    "list_revisions",
    "list_versions",
    "list_workflows",
    "of_project",
    "plan_of_workflow",
    "plan_then",
    "revision_of_etag",
    "what_changed",
    "workflow_etag",
]
