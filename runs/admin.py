"""Runs and what happened in them, as an admin sees them."""

from django.contrib import admin

from chief_project.shared.admin_records import Record, action, brief, choice
from runs import models
from runs.models.run import INSTANCE_STATUSES, RUN_STATUSES, STEP_STATUSES
from runs.services.acknowledge_run import acknowledge_run

VIAS = choice("via", ["rest", "mcp", "web", "admin", "cli"])


@admin.register(models.Run)
class RunAdmin(Record):
    list_display = (
        "run_id",
        "workflow",
        "status",
        "revision",
        "blocked_on_person",
        "pending_amendment_id",
        "last_report_at",
        "created_at",
    )
    list_filter = (choice("status", RUN_STATUSES),)
    list_select_related = ("workflow",)
    search_fields = ("run_id", "workflow__workflow_id", "workflow__title")
    see = (
        ("steps", "runs_stepstate", "run__id__exact", "pk"),
        ("instances", "runs_stepinstance", "run__id__exact", "pk"),
        ("artifacts", "runs_artifact", "run__id__exact", "pk"),
        ("questions", "runs_question", "run__id__exact", "pk"),
        ("reports", "runs_report", "run__id__exact", "pk"),
        ("history", "runs_snapshot", "run__id__exact", "pk"),
        ("applied amendments", "runs_appliedamendment", "run__id__exact", "pk"),
        ("amendments", "amendments_amendment", "run__id__exact", "pk"),
        ("plan", "workflows_step", "plan__id__exact", "plan_id"),
        ("audit", "shared_auditentry", "run_id", "run_id"),
    )
    actions = (
        action(
            "Acknowledge as failed",
            lambda caller, row: acknowledge_run(caller=caller, run_id=row.run_id, by=caller.actor),
            done="Acknowledged {row}",
        ),
    )


@admin.register(models.AppliedAmendment)
class AppliedAmendmentAdmin(Record):
    list_display = ("run", "number", "amendment_id", "plan")
    list_select_related = ("run", "plan")
    search_fields = ("run__run_id", "amendment_id")


@admin.register(models.StepState)
class StepStateAdmin(Record):
    list_display = (
        "step_id",
        "run",
        "instance",
        "type",
        "status",
        "skip_cause",
        brief("summary"),
        "completed_at",
    )
    list_filter = (
        choice("status", STEP_STATUSES),
        choice("type", ["task", "loop", "parallel", "checkpoint"]),
        choice("skip_cause", ["dependency", "removed", "cancelled"]),
    )
    list_select_related = ("run", "instance")
    search_fields = ("step_id", "run__run_id", "summary")
    see = (
        ("instances", "runs_stepinstance", "construct__id__exact", "pk"),
        ("artifacts", "runs_artifact", "state__id__exact", "pk"),
        ("questions", "runs_question", "state__id__exact", "pk"),
        ("history", "runs_snapshot", "state__id__exact", "pk"),
    )


@admin.register(models.StepInstance)
class StepInstanceAdmin(Record):
    list_display = (
        "instance_id",
        "run",
        "construct",
        "index",
        "kind",
        "status",
        brief("summary"),
        "completed_at",
    )
    list_filter = (choice("status", INSTANCE_STATUSES), choice("kind", ["iteration", "branch"]))
    list_select_related = ("run", "construct")
    search_fields = ("instance_id", "run__run_id", "summary")
    see = (
        ("steps", "runs_stepstate", "instance__id__exact", "pk"),
        ("artifacts", "runs_artifact", "instance__id__exact", "pk"),
        ("history", "runs_snapshot", "instance__id__exact", "pk"),
    )


@admin.register(models.Artifact)
class ArtifactAdmin(Record):
    list_display = (
        "artifact_id",
        "run",
        brief("type"),
        brief("description"),
        brief("ref"),
        "superseded",
        "created_at",
    )
    list_filter = ("superseded",)
    list_select_related = ("run",)
    search_fields = ("artifact_id", "run__run_id", "type", "description", "ref")
    see = (("comments", "runs_artifactcomment", "artifact__id__exact", "pk"),)


@admin.register(models.ArtifactComment)
class ArtifactCommentAdmin(Record):
    list_display = ("comment_id", "artifact", brief("body"), brief("author"), "actor", "via", "created_at")
    list_filter = (VIAS,)
    list_select_related = ("artifact",)
    search_fields = ("comment_id", "artifact__artifact_id", "body", "author", "actor")


@admin.register(models.Question)
class QuestionAdmin(Record):
    list_display = (
        "question_id",
        "run",
        "state",
        brief("text"),
        "asked_at",
        "answered_at",
        brief("answered_by"),
    )
    list_filter = (("answered_at", admin.EmptyFieldListFilter), VIAS)
    list_select_related = ("run", "state")
    search_fields = ("question_id", "run__run_id", "text", "answered_by")


@admin.register(models.Snapshot)
class SnapshotAdmin(Record):
    list_display = ("id", "run", "state", "instance", "superseded_at", "amendment_id")
    list_select_related = ("run", "state", "instance")
    search_fields = ("run__run_id", "amendment_id")


@admin.register(models.Report)
class ReportAdmin(Record):
    list_display = ("run", "number", "at", "kind", brief("path"), "actor", "via")
    list_filter = (VIAS,)
    list_select_related = ("run",)
    search_fields = ("run__run_id", "path", "actor", "kind")
