"""What deleting a workflow would take away, and what would stay: for whoever is about to say yes."""

from typing import Any

from django.db.models import QuerySet

from amendments.models import Amendment
from chief_project.shared.caller import Caller, Right
from chief_project.shared.reading import one_moment
from runs.models import Artifact, ArtifactComment, Question, Report, Run, StepInstance, StepState
from workflows.models import ReviewNote, Revision, Version, WorkflowTemplate
from workflows.selectors._find import find

Document = dict[str, Any]


def get_deletion(*, caller: Caller, workflow_id: str) -> Document:
    """``{workflow_id, title, removes: {kind: how many}, unfinished, templates}``.

    ``removes`` as ``delete_workflow`` will count it; ``unfinished`` are the ids of runs that nobody ended;
    ``templates`` ``[{template_id, title}]`` were saved from it and stay. Sixteen statements, the read's own two among
    them. ``NotFound`` without such a workflow; ``Forbidden`` to who may not delete it.
    """
    caller.must(Right.ADMINISTER, "delete a workflow")
    with one_moment():
        row = find(workflow_id)
        of_run = {"run__workflow": row}
        kinds: dict[str, QuerySet[Any, Any]] = {
            "runs": Run.objects.filter(workflow=row),
            "states": StepState.objects.filter(**of_run),
            "instances": StepInstance.objects.filter(**of_run),
            "reports": Report.objects.filter(**of_run),
            "artifacts": Artifact.objects.filter(**of_run),
            "comments": ArtifactComment.objects.filter(artifact__run__workflow=row),
            "questions": Question.objects.filter(**of_run),
            "amendments": Amendment.objects.filter(**of_run),
            "notes": ReviewNote.objects.filter(workflow=row),
            "versions": Version.objects.filter(workflow=row),
            "revisions": Revision.objects.filter(workflow=row),
        }
        ended = ("completed", "failed", "cancelled")
        return {
            "workflow_id": workflow_id,
            "title": row.title,
            "removes": {kind: rows.count() for kind, rows in kinds.items()},
            "unfinished": list(
                kinds["runs"].exclude(status__in=ended).order_by("pk").values_list("run_id", flat=True)
            ),
            "templates": list(
                WorkflowTemplate.objects.filter(derived_from_workflow_id=workflow_id)
                .order_by("pk")
                .values("template_id", "title")
            ),
        }
