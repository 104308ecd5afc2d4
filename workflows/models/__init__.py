"""Tables of the workflows app."""

from workflows.models.plan import (
    CheckpointField,
    Criterion,
    Dependency,
    Group,
    InstanceParameter,
    Plan,
    Step,
)
from workflows.models.workflow import (
    RemovedStep,
    ReviewNote,
    Revision,
    Seen,
    Version,
    Workflow,
    WorkflowTemplate,
)

__all__ = [
    "CheckpointField",
    "Criterion",
    "Dependency",
    "Group",
    "InstanceParameter",
    "Plan",
    "RemovedStep",
    "ReviewNote",
    "Revision",
    "Seen",
    "Step",
    "Version",
    "Workflow",
    "WorkflowTemplate",
]
