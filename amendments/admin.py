"""Amendments, as an admin sees them."""

from django.contrib import admin

from amendments import models
from amendments.services.approve_amendment import approve_amendment
from amendments.services.reject_amendment import reject_amendment
from chief_project.shared.admin_records import Record, brief, choice, decision


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
    actions = (
        decision(
            "Approve",
            lambda caller, row, reason, seen: approve_amendment(
                caller=caller, amendment_id=row.amendment_id, decided_by=caller.actor, reason=reason
            ),
            done="Approved {row}",
        ),
        decision(
            "Reject",
            lambda caller, row, reason, seen: reject_amendment(
                caller=caller, amendment_id=row.amendment_id, decided_by=caller.actor, reason=reason
            ),
            done="Rejected {row}",
        ),
    )
    list_select_related = ("run",)
    search_fields = ("amendment_id", "run__run_id", "reason", "proposed_by", "decided_by")
    see = (
        ("operations", "amendments_operation", "amendment__id__exact", "pk"),
        ("audit", "shared_auditentry", "amendment_id", "amendment_id"),
    )

    def about(self, row: models.Amendment) -> str:
        """What is asked for, in a line."""
        return f"{row.kind} of run {row.run.run_id}, proposed by {row.proposed_by[:200]}: {row.reason[:400]}"


@admin.register(models.Operation)
class OperationAdmin(Record):
    list_display = ("amendment", "position", "op", "target_step_id", "instance_id")
    list_filter = (
        choice("op", ["insert_after", "insert_before", "update_step", "remove_step", "replay_step"]),
    )
    list_select_related = ("amendment",)
    search_fields = ("amendment__amendment_id", "target_step_id")
