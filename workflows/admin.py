"""Plans, workflows and templates, as an admin sees them."""

from django.contrib import admin

from chief_project.shared.admin_records import Record, brief, choice, decision
from workflows import models
from workflows.services.approve_workflow import approve_workflow
from workflows.services.archive_workflow import archive_workflow
from workflows.services.send_back_workflow import send_back_workflow

TYPES = ["task", "loop", "parallel", "checkpoint"]


@admin.register(models.Workflow)
class WorkflowAdmin(Record):
    list_display = (
        "workflow_id",
        brief("title"),
        "status",
        "version",
        "revision",
        "review_state",
        "project",
        "updated_at",
    )
    list_filter = (
        choice("status", ["draft", "approved", "archived"]),
        choice("review_state", ["waiting", "sent_back"]),
        choice("source", ["import", "generated", "human"]),
    )
    search_fields = ("workflow_id", "title", "project", "generated_by")
    list_select_related = ("plan",)
    see = (
        ("steps", "workflows_step", "plan__id__exact", "plan_id"),
        ("revisions", "workflows_revision", "workflow__id__exact", "pk"),
        ("versions", "workflows_version", "workflow__id__exact", "pk"),
        ("notes", "workflows_reviewnote", "workflow__id__exact", "pk"),
        ("read by", "workflows_seen", "workflow__id__exact", "pk"),
        ("removed steps", "workflows_removedstep", "workflow__id__exact", "pk"),
        ("runs", "runs_run", "workflow__id__exact", "pk"),
        ("audit", "shared_auditentry", "workflow_id", "workflow_id"),
    )
    actions = (
        decision(
            "Approve",
            lambda caller, row, reason, seen: approve_workflow(
                caller=caller,
                workflow_id=row.workflow_id,
                decided_by=caller.actor,
                reason=reason,
                revision=_number(seen),
            ),
            done="Approved {row}",
            seen=lambda row: str(row.revision),
        ),
        decision(
            "Send back",
            lambda caller, row, reason, seen: send_back_workflow(
                caller=caller,
                workflow_id=row.workflow_id,
                decided_by=caller.actor,
                reason=reason,
                revision=_number(seen),
            ),
            done="Sent {row} back",
            seen=lambda row: str(row.revision),
        ),
        decision(
            "Archive",
            lambda caller, row, reason, seen: archive_workflow(
                caller=caller, workflow_id=row.workflow_id, decided_by=caller.actor, reason=reason
            ),
            done="Archived {row}",
        ),
    )

    def about(self, row: models.Workflow) -> str:
        """What stands there, in a line."""
        return f"{row.title[:200]}: {row.status}, version {row.version}, revision {row.revision}, {row.plan.step_count} steps"


def _number(seen: str) -> int | None:
    """The revision that the page showed."""
    return int(seen) if seen.isdecimal() and len(seen) < 10 else None


class KeptPlanAdmin(Record):
    """What revisions and versions share."""

    list_display = ("workflow", "number", brief("title"), "at", brief("by"), "via")
    list_select_related = ("workflow", "plan")
    search_fields = ("workflow__workflow_id", "title", "by", "reason")
    see = (("steps", "workflows_step", "plan__id__exact", "plan_id"),)


@admin.register(models.Revision)
class RevisionAdmin(KeptPlanAdmin):
    pass


@admin.register(models.Version)
class VersionAdmin(KeptPlanAdmin):
    pass


@admin.register(models.RemovedStep)
class RemovedStepAdmin(Record):
    list_display = ("step_id", "workflow")
    list_select_related = ("workflow",)
    search_fields = ("step_id", "workflow__workflow_id")


@admin.register(models.ReviewNote)
class ReviewNoteAdmin(Record):
    list_display = (
        "note_id",
        "workflow",
        "step_id",
        brief("body"),
        brief("author"),
        "created_at",
        "resolved",
    )
    list_filter = ("resolved",)
    list_select_related = ("workflow",)
    search_fields = ("note_id", "workflow__workflow_id", "step_id", "body", "author", "actor")


@admin.register(models.Seen)
class SeenAdmin(Record):
    list_display = ("workflow", "user", "revision", "at")
    list_select_related = ("workflow", "user")
    search_fields = ("workflow__workflow_id", "user__username")


@admin.register(models.WorkflowTemplate)
class WorkflowTemplateAdmin(Record):
    list_display = ("template_id", brief("title"), "status", "version", "project", "updated_at")
    list_filter = (choice("status", ["active", "archived"]),)
    list_select_related = ("plan",)
    search_fields = ("template_id", "title", "description", "project")
    see = (("steps", "workflows_step", "plan__id__exact", "plan_id"),)


# -- Plans -------------------------------------------------------------------------------------------


@admin.register(models.Plan)
class PlanAdmin(Record):
    list_display = ("id", "step_count", "created_at")
    search_fields = ("=id",)
    see = (
        ("steps", "workflows_step", "plan__id__exact", "pk"),
        ("groups", "workflows_group", "plan__id__exact", "pk"),
    )


@admin.register(models.Step)
class StepAdmin(Record):
    list_display = (
        "step_id",
        "plan",
        "type",
        brief("goal"),
        brief("harness"),
        "container",
        brief("group"),
    )
    list_filter = (choice("type", TYPES),)
    list_select_related = ("plan", "container")
    search_fields = ("step_id", "goal", "harness", "=plan__id")
    see = (
        ("waits for", "workflows_dependency", "step__id__exact", "pk"),
        ("waited for by", "workflows_dependency", "needs__id__exact", "pk"),
        ("body", "workflows_step", "container__id__exact", "pk"),
        ("criteria", "workflows_criterion", "step__id__exact", "pk"),
        ("fields", "workflows_checkpointfield", "step__id__exact", "pk"),
        ("instance parameters", "workflows_instanceparameter", "step__id__exact", "pk"),
    )


@admin.register(models.Dependency)
class DependencyAdmin(Record):
    list_display = ("step", "position", "needs")
    list_select_related = ("step", "needs")
    search_fields = ("step__step_id", "needs__step_id")


@admin.register(models.Criterion)
class CriterionAdmin(Record):
    list_display = ("step", "position", brief("text"))
    list_select_related = ("step",)
    search_fields = ("step__step_id", "text")


@admin.register(models.CheckpointField)
class CheckpointFieldAdmin(Record):
    list_display = ("step", "position", "name", brief("label"), "required")
    list_select_related = ("step",)
    search_fields = ("step__step_id", "name", "label")


@admin.register(models.InstanceParameter)
class InstanceParameterAdmin(Record):
    list_display = ("step", "position", "name", brief("description"), "required")
    list_select_related = ("step",)
    search_fields = ("step__step_id", "name", "description")


@admin.register(models.Group)
class GroupAdmin(Record):
    list_display = ("plan", "position", brief("path"), brief("description"))
    list_select_related = ("plan",)
    search_fields = ("path", "description", "=plan__id")
