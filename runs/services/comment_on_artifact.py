"""A person says something about an artifact (contract 3, "artifacts"): append-only, also on finished work."""

from typing import Any

from django.db import transaction

from chief_project.shared import clock, ids
from chief_project.shared.caller import Caller, Right
from chief_project.shared.errors import NotFound
from runs.models import Artifact, ArtifactComment
from runs.selectors.hung import artifacts_of
from runs.services._row import lock_row, minimal_answer, record_write
from runs.services.outcome import RunWrite


def comment_on_artifact(
    *, caller: Caller, run_id: str, artifact_id: str, comment: dict[str, Any], if_match: int | None = None
) -> RunWrite:
    """Add ``{body, author?}`` to an artifact of the run; the whole answer is the artifact with its comments."""
    caller.must(Right.REVIEW, "comment on an artifact")
    now = clock.now()
    with transaction.atomic(savepoint=False):
        run = lock_row(run_id, if_match)
        artifact = Artifact.objects.filter(run=run, artifact_id=artifact_id).first()
        if artifact is None:
            raise NotFound(f"run '{run_id}' has no artifact '{artifact_id[:200]}'")
        row = ArtifactComment.objects.create(
            artifact=artifact,
            comment_id=ids.mint("cmt"),
            body=comment["body"],
            author=caller.claim(comment.get("author", "human")),
            actor=caller.actor,
            via=caller.via,
            created_at=now,
        )
        detail = {
            "artifact_id": artifact_id,
            "comment_id": row.comment_id,
            "body": row.body,
            "author": row.author,
        }
        record_write(run, caller=caller, event="artifact.commented", at=now, detail=detail)
        (document,) = artifacts_of(pk=artifact.pk)
        return RunWrite(minimal_answer(run, document), lambda: document)
