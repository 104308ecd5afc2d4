"""Amendments, as an admin sees them."""

from django.contrib import admin

from amendments import models
from chief_project.shared.admin_records import Record, brief, choice


@admin.register(models.Amendment)
class AmendmentAdmin(Record):
    list_display = (
        "amendment_id",
        "run",
        "kind",
        "status",
        brief("reason"),
        brief("proposed_by"),
        "created_at",
        brief("decided_by"),
        "decided_at",
    )
    list_filter = (
        choice("status", ["pending_approval", "approved", "rejected", "withdrawn"]),
        choice("kind", ["forward", "history_edit"]),
    )
    list_select_related = ("run",)
    search_fields = ("amendment_id", "run__run_id", "reason", "proposed_by", "decided_by")
    see = (
        ("operations", "amendments_operation", "amendment__id__exact", "pk"),
        ("audit", "shared_auditentry", "amendment_id", "amendment_id"),
    )


@admin.register(models.Operation)
class OperationAdmin(Record):
    list_display = ("amendment", "position", "op", "target_step_id", "instance_id")
    list_filter = (
        choice("op", ["insert_after", "insert_before", "update_step", "remove_step", "replay_step"]),
    )
    list_select_related = ("amendment",)
    search_fields = ("amendment__amendment_id", "target_step_id")
