"""A person says something about an artifact (contract 3, "artifacts"): append-only, also on finished work."""

from typing import Any

from django.db import transaction

from chief_project.shared import audit, clock, ids
from chief_project.shared.caller import Caller, Right
from chief_project.shared.errors import NotFound
from runs.models import Artifact, ArtifactComment, Run
from runs.selectors.hung import artifacts_of
from runs.selectors.runs import no_run
from runs.services.outcome import RunWrite
from runs.services.writing import check_revision


def comment_on_artifact(
    *, caller: Caller, run_id: str, artifact_id: str, comment: dict[str, Any], if_match: int | None = None
) -> RunWrite:
    """Add ``{body, author?}`` to an artifact of the run; the whole answer is the artifact with its comments."""
    caller.must(Right.REVIEW, "comment on an artifact")
    now = clock.now()
    with transaction.atomic(savepoint=False):
        run = (
            Run.objects.select_for_update(of=("self",))
            .select_related("workflow")
            .filter(run_id=run_id)
            .first()
        )
        if run is None:
            raise no_run(run_id)
        check_revision(run_id, run.revision, if_match)
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
        run.revision += 1
        run.updated_at = now
        run.save(update_fields=["revision", "updated_at"])
        audit.record(
            caller=caller,
            event="artifact.commented",
            at=now,
            detail={"artifact_id": artifact_id, "comment_id": row.comment_id, "author": row.author},
            head=run,
            workflow_id=run.workflow.workflow_id,
            run_id=run_id,
        )
        (document,) = artifacts_of(pk=artifact.pk)
        minimal = {
            "run_id": run_id,
            "revision": run.revision,
            "run_status": run.status,
            "path": None,
            "state": document,
            "next": {"items": [], "more": 0},
        }
        return RunWrite(minimal, lambda: document)
