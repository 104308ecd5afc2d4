"""A plan under review or approved, everything it ever said, and what people said about it."""

from django.conf import settings
from django.db import models

from chief_project.shared.models import AuditedRow
from workflows.models.plan import Plan


class Workflow(AuditedRow):
    """The head: which plan stands, in which status. ``etag`` moves with every write, ``revision`` with the text."""

    workflow_id = models.CharField(max_length=200, unique=True)
    title = models.TextField()
    source = models.CharField(max_length=20)
    generated_by = models.TextField(null=True)
    status = models.CharField(max_length=20)
    version = models.PositiveIntegerField(default=1)
    revision = models.PositiveIntegerField(default=1)
    etag = models.PositiveBigIntegerField(default=1)
    plan = models.ForeignKey(Plan, on_delete=models.PROTECT, related_name="+")
    project = models.CharField(max_length=200, null=True)
    origin_dir = models.TextField(null=True)
    template_id = models.CharField(max_length=200, null=True)
    template_version = models.PositiveIntegerField(null=True)
    template_parameters = models.JSONField(null=True)
    review_state = models.CharField(max_length=20, default="waiting")
    review_revision = models.PositiveIntegerField(default=1)
    review_by = models.TextField(null=True)
    review_actor = models.CharField(max_length=200, null=True)
    review_at = models.DateTimeField(null=True)
    review_reason = models.TextField(null=True)
    decided_by = models.TextField(null=True)
    decided_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="workflow_status_known", condition=models.Q(status__in=["draft", "approved", "archived"])
            ),
            models.CheckConstraint(
                name="workflow_source_known", condition=models.Q(source__in=["import", "generated", "human"])
            ),
            models.CheckConstraint(
                name="workflow_review_known", condition=models.Q(review_state__in=["waiting", "sent_back"])
            ),
        ]
        indexes = [
            models.Index(fields=["-updated_at", "-id"], name="workflow_by_change"),
            models.Index(fields=["status", "-updated_at", "-id"], name="workflow_by_status"),
            models.Index(fields=["project", "-updated_at", "-id"], name="workflow_by_project"),
        ]

    def __str__(self) -> str:
        return self.workflow_id


class KeptPlan(models.Model):
    """What a revision and a version share: which plan, under which title, by whom, through which door, and why."""

    number = models.PositiveIntegerField()
    plan = models.ForeignKey(Plan, on_delete=models.PROTECT, related_name="+")
    title = models.TextField()
    at = models.DateTimeField()
    by = models.TextField()
    principal = models.CharField(max_length=40)
    via = models.CharField(max_length=10)
    reason = models.TextField(null=True)

    class Meta:
        abstract = True


class Revision(KeptPlan):
    """The plan's text as a draft once stood: every one is kept, so reviewers can compare.

    ``etag`` is the head's when it came, so a stale ``If-Match`` tells which revision its sender had read.
    """

    workflow = models.ForeignKey(Workflow, on_delete=models.CASCADE, related_name="revisions", db_index=False)
    etag = models.PositiveBigIntegerField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["workflow", "number"], name="revision_once")]

    def __str__(self) -> str:
        return f"revision {self.number} of {self.workflow_id}"


class Version(KeptPlan):
    """The plan as it was approved, or as an amendment left it: kept, also after a reopen."""

    workflow = models.ForeignKey(Workflow, on_delete=models.CASCADE, related_name="versions", db_index=False)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["workflow", "number"], name="version_once")]

    def __str__(self) -> str:
        return f"version {self.number} of {self.workflow_id}"


class RemovedStep(models.Model):
    """A step id that an amendment took out: never used again in any run of this workflow (contract 4)."""

    workflow = models.ForeignKey(
        Workflow, on_delete=models.CASCADE, related_name="removed_steps", db_index=False
    )
    step_id = models.CharField(max_length=200)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["workflow", "step_id"], name="step_removed_once")]

    def __str__(self) -> str:
        return self.step_id


class ReviewNote(models.Model):
    """Something a person said about the plan, or one of its steps. Kept outside the plan, so revisions keep it."""

    workflow = models.ForeignKey(Workflow, on_delete=models.CASCADE, related_name="notes")
    note_id = models.CharField(max_length=200, unique=True)
    revision = models.PositiveIntegerField()
    step_id = models.CharField(max_length=200, null=True)
    step_goal = models.TextField(null=True)
    body = models.TextField()
    author = models.TextField()
    actor = models.CharField(max_length=200)
    via = models.CharField(max_length=10)
    created_at = models.DateTimeField()
    resolved = models.BooleanField(default=False)
    resolved_at = models.DateTimeField(null=True)
    resolved_by = models.TextField(null=True)
    resolved_actor = models.CharField(max_length=200, null=True)
    resolved_via = models.CharField(max_length=10, null=True)

    def __str__(self) -> str:
        return self.note_id


class Seen(models.Model):
    """Up to which revision a person has read (contract 7)."""

    workflow = models.ForeignKey(Workflow, on_delete=models.CASCADE, related_name="seen_by", db_index=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    revision = models.PositiveIntegerField()
    at = models.DateTimeField()

    class Meta:
        verbose_name = "reading"
        constraints = [models.UniqueConstraint(fields=["workflow", "user"], name="seen_once")]

    def __str__(self) -> str:
        return f"{self.user_id} read revision {self.revision}"


class WorkflowTemplate(models.Model):
    """A plan with parameters, independent of the workflow it may come from (contract 6)."""

    template_id = models.CharField(max_length=200, unique=True)
    title = models.TextField()
    description = models.TextField(blank=True)
    parameters = models.JSONField(default=list)
    plan = models.ForeignKey(Plan, on_delete=models.PROTECT, related_name="+")
    project = models.CharField(max_length=200, null=True)
    status = models.CharField(max_length=20)
    version = models.PositiveIntegerField(default=1)
    derived_from_workflow_id = models.CharField(max_length=200, null=True)
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="template_status_known", condition=models.Q(status__in=["active", "archived"])
            )
        ]

    def __str__(self) -> str:
        return self.template_id
