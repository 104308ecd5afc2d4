"""Reads of workflows, one module a subject."""

from workflows.selectors.history import revision_of_etag, what_changed
from workflows.selectors.workflows import document_of, get_workflow, workflow_etag

__all__ = [
    "document_of",
    "get_workflow",
    "revision_of_etag",
    "what_changed",
    "workflow_etag",
]
