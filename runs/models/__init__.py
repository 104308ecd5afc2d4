"""Tables of the runs app."""

from runs.models.run import (
    AppliedAmendment,
    Artifact,
    ArtifactComment,
    Question,
    Report,
    Run,
    Snapshot,
    StepInstance,
    StepState,
)

__all__ = [
    "AppliedAmendment",
    "Artifact",
    "ArtifactComment",
    "Question",
    "Report",
    "Run",
    "Snapshot",
    "StepInstance",
    "StepState",
]
