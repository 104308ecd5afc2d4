"""A proposed change to a running plan."""

from django.db import models
from django.db.models import Q

from runs.models import Run
from workflows.models import Plan


class Amendment(models.Model):
    """A set of operations that a person, or a policy, takes whole or not at all.

    ``plan_before`` is the run's plan when it was proposed, ``plan_after`` what approval would make or made of it, and
    ``head_before`` the workflow's head at the proposal, moved to the one that was met at the decision.
    """

    amendment_id = models.CharField(max_length=200, unique=True)
    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="amendments")
    proposed_by = models.TextField()
    kind = models.CharField(max_length=20)
    reason = models.TextField()
    status = models.CharField(max_length=20, default="pending_approval")
    created_at = models.DateTimeField()
    proposed_actor = models.CharField(max_length=200)
    proposed_principal = models.CharField(max_length=40)
    proposed_via = models.CharField(max_length=10)
    decided_at = models.DateTimeField(null=True)
    decided_by = models.TextField(null=True)
    decided_actor = models.CharField(max_length=200, null=True)
    decided_via = models.CharField(max_length=10, null=True)
    decision_reason = models.TextField(null=True)
    resulting_workflow_version = models.PositiveIntegerField(null=True)
    plan_before = models.ForeignKey(Plan, on_delete=models.PROTECT, related_name="+")
    plan_after = models.ForeignKey(Plan, on_delete=models.PROTECT, related_name="+")
    head_before = models.ForeignKey(Plan, on_delete=models.PROTECT, related_name="+")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["run"], name="one_pending_amendment", condition=Q(status="pending_approval")
            ),
            models.CheckConstraint(
                name="amendment_status_known",
                condition=Q(status__in=["pending_approval", "approved", "rejected", "withdrawn"]),
            ),
            models.CheckConstraint(
                name="amendment_kind_known", condition=Q(kind__in=["forward", "history_edit"])
            ),
        ]
        indexes = [
            models.Index(fields=["-created_at", "-id"], name="amendment_by_creation"),
            models.Index(fields=["status", "-created_at", "-id"], name="amendment_by_status"),
        ]

    def __str__(self) -> str:
        return self.amendment_id


class Operation(models.Model):
    """One operation of an amendment, in order, as it was proposed; ``instance_path`` as a list of ids."""

    amendment = models.ForeignKey(
        Amendment, on_delete=models.CASCADE, related_name="operations", db_index=False
    )
    position = models.PositiveIntegerField()
    op = models.CharField(max_length=20)
    target_step_id = models.CharField(max_length=200)
    instance_id = models.CharField(max_length=200, null=True)
    instance_path = models.JSONField(null=True)
    step = models.JSONField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["amendment", "position"], name="operation_position_once")
        ]

    def __str__(self) -> str:
        return f"{self.op} {self.target_step_id}"
