"""Remove a workflow and everything it had (contract 2). It stands here because only the topmost app knows all tables."""

from typing import Any

from django.db import DEFAULT_DB_ALIAS, transaction
from django.db.models import QuerySet

from amendments import models as amendments
from chief_project.shared import audit, clock, search
from chief_project.shared.caller import Caller, Right
from runs import models as runs
from workflows import models as workflows
from workflows.services.head import check_etag, lock_workflow

Rows = QuerySet[Any, Any]


def delete_workflow(*, caller: Caller, workflow_id: str, if_match: int | None = None) -> dict[str, Any]:
    """Versions, revisions, runs, states, amendments and notes go, a running run too. What stays: the audit log,
    templates saved from it, files, and its ids, which are never used again. People only.

    Answers ``{workflow_id, title, removed: {kind: how many}}``. The audit's ``workflow.deleted`` names the length and
    last hash of each stream that ends here.
    """
    with transaction.atomic(savepoint=False):
        caller.must(Right.ADMINISTER, "delete a workflow")
        caller.must_be_person("delete a workflow")
        workflow = lock_workflow(workflow_id)
        check_etag(workflow, if_match)
        ended = list(
            runs.Run.objects.select_for_update()
            .filter(workflow=workflow)
            .order_by("pk")
            .values_list("pk", "run_id", "audit_length", "audit_hash")
        )
        streams = {
            audit.stream_name(workflow_id=None, run_id=run_id): {"length": length, "hash": last}
            for _, run_id, length, last in ended
        }
        streams[audit.stream_name(workflow_id=workflow_id, run_id=None)] = {
            "length": workflow.audit_length,
            "hash": workflow.audit_hash,
        }
        removed = _remove(workflow)
        search.remove("run", [pk for pk, *_ in ended])
        search.remove("workflow", [workflow.pk])
        audit.record(
            caller=caller,
            event="workflow.deleted",
            at=clock.now(),
            workflow_id=workflow_id,
            detail={
                "title": workflow.title,
                "status": workflow.status,
                "version": workflow.version,
                "runs": [run_id for _, run_id, *_ in ended],
                "removed": removed,
                "streams": streams,
            },
        )
        return {"workflow_id": workflow_id, "title": workflow.title, "removed": removed}


def _remove(workflow: workflows.Workflow) -> dict[str, int]:
    """Delete the rows, kind by kind, one statement each; how many of those that people know of.

    Django's own cascade would load every row to find what hangs on it, 10,000 branches and their states included.
    The foreign keys are judged when the transaction ends, so constructs and instances, which hold each other, may go
    in any order.
    """
    of_workflow = {"workflow": workflow}
    of_run = {"run__workflow": workflow}
    plans = _plans(workflow)
    of_plan = {"plan__in": plans}
    of_step = {"step__plan__in": plans}
    in_order: list[tuple[str | None, Rows]] = [
        (None, amendments.Operation.objects.filter(amendment__run__workflow=workflow)),
        ("amendments", amendments.Amendment.objects.filter(**of_run)),
        ("reports", runs.Report.objects.filter(**of_run)),
        (None, runs.Snapshot.objects.filter(**of_run)),
        ("questions", runs.Question.objects.filter(**of_run)),
        ("comments", runs.ArtifactComment.objects.filter(artifact__run__workflow=workflow)),
        ("artifacts", runs.Artifact.objects.filter(**of_run)),
        ("instances", runs.StepInstance.objects.filter(**of_run)),
        ("states", runs.StepState.objects.filter(**of_run)),
        (None, runs.AppliedAmendment.objects.filter(**of_run)),
        ("runs", runs.Run.objects.filter(**of_workflow)),
        (None, workflows.Seen.objects.filter(**of_workflow)),
        (None, workflows.RemovedStep.objects.filter(**of_workflow)),
        ("notes", workflows.ReviewNote.objects.filter(**of_workflow)),
        ("versions", workflows.Version.objects.filter(**of_workflow)),
        ("revisions", workflows.Revision.objects.filter(**of_workflow)),
        (None, workflows.Workflow.objects.filter(pk=workflow.pk)),
        (None, workflows.Dependency.objects.filter(**of_step)),
        (None, workflows.Criterion.objects.filter(**of_step)),
        (None, workflows.CheckpointField.objects.filter(**of_step)),
        (None, workflows.InstanceParameter.objects.filter(**of_step)),
        (None, workflows.Step.objects.filter(**of_plan)),
        (None, workflows.Group.objects.filter(**of_plan)),
        (None, workflows.Plan.objects.filter(pk__in=plans)),
    ]
    counted = {}
    for kind, rows in in_order:
        gone = rows._raw_delete(DEFAULT_DB_ALIAS)
        if kind is not None:
            counted[kind] = gone
    return counted


def _plans(workflow: workflows.Workflow) -> list[int]:
    """The ids of every plan that it, its history, its runs or their amendments point at: nothing else does."""
    pointing: list[tuple[Rows, tuple[str, ...]]] = [
        (workflows.Workflow.objects.filter(pk=workflow.pk), ("plan",)),
        (workflows.Revision.objects.filter(workflow=workflow), ("plan",)),
        (workflows.Version.objects.filter(workflow=workflow), ("plan",)),
        (runs.Run.objects.filter(workflow=workflow), ("plan", "base_plan")),
        (runs.AppliedAmendment.objects.filter(run__workflow=workflow), ("plan",)),
        (
            amendments.Amendment.objects.filter(run__workflow=workflow),
            ("plan_before", "plan_after", "head_before"),
        ),
    ]
    found = {pk for rows, names in pointing for each in rows.values_list(*names) for pk in each}
    return sorted(found - {None})
