"""One execution of a workflow, and the tree of what happened in it.

Tallies (``n_…``) are kept beside what they count, so that a report derives its ancestors' statuses without reading
their other instances (design: "derivation is local").
"""

from django.db import models
from django.db.models import Q

from chief_project.shared.models import AuditedRow
from workflows.models import Plan, Workflow

RUN_STATUSES = ["running", "paused_for_approval", "waiting_on_human", "completed", "failed", "cancelled"]
STEP_STATUSES = ["pending", "running", "completed", "failed", "skipped", "blocked"]
INSTANCE_STATUSES = ["pending", "running", "completed", "failed", "skipped"]


class Tally(models.Model):
    """How many direct children stand in each status."""

    n_pending = models.PositiveIntegerField(default=0)
    n_running = models.PositiveIntegerField(default=0)
    n_blocked = models.PositiveIntegerField(default=0)
    n_completed = models.PositiveIntegerField(default=0)
    n_failed = models.PositiveIntegerField(default=0)
    n_skipped = models.PositiveIntegerField(default=0)

    class Meta:
        abstract = True


class Run(AuditedRow, Tally):
    """One execution. Every writer locks this row first; its tally counts the top-level steps.

    ``blocked_on_person`` counts the states anywhere in the tree that wait for a person. ``reports`` numbers the
    report log. ``plan`` is the effective plan, ``base_plan`` the one it was registered with.
    """

    workflow = models.ForeignKey(Workflow, on_delete=models.CASCADE, related_name="runs")
    run_id = models.CharField(max_length=200, unique=True)
    base_version = models.PositiveIntegerField()
    base_plan = models.ForeignKey(Plan, on_delete=models.PROTECT, related_name="+")
    plan = models.ForeignKey(Plan, on_delete=models.PROTECT, related_name="+")
    status = models.CharField(max_length=20, default="running")
    metadata = models.JSONField(default=dict)
    revision = models.PositiveBigIntegerField(default=1)
    blocked_on_person = models.PositiveIntegerField(default=0)
    reports = models.PositiveBigIntegerField(default=0)
    amendments_applied = models.PositiveIntegerField(default=0)
    pending_amendment_id = models.CharField(max_length=200, null=True)
    last_report_at = models.DateTimeField(null=True)
    acknowledged = models.JSONField(null=True)
    cancelled = models.JSONField(null=True)
    failed_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()

    class Meta:
        constraints = [models.CheckConstraint(name="run_status_known", condition=Q(status__in=RUN_STATUSES))]
        indexes = [models.Index(fields=["-created_at", "-id"], name="run_by_creation")]

    def __str__(self) -> str:
        return self.run_id


class AppliedAmendment(models.Model):
    """The k-th amendment of a run, and the plan as it left it (``GET /runs/{id}/definition?applied=k``)."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="applied", db_index=False)
    number = models.PositiveIntegerField()
    amendment_id = models.CharField(max_length=200)
    plan = models.ForeignKey(Plan, on_delete=models.PROTECT, related_name="+")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "number"], name="applied_amendment_once")]

    def __str__(self) -> str:
        return f"#{self.number} {self.amendment_id}"


class StepState(Tally):
    """What happened to one step, in one scope. For a construct the tally counts its instances.

    ``started`` says that the construct itself was reported on. ``failures`` counts tolerated failed steps below.
    ``open_question`` is the id of the question that blocks the step. ``artifact_count`` … spare empty reads.
    """

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="states")
    instance = models.ForeignKey(
        "StepInstance", null=True, on_delete=models.CASCADE, related_name="states", db_index=False
    )
    step_id = models.CharField(max_length=200)
    type = models.CharField(max_length=20)
    status = models.CharField(max_length=10, default="pending")
    skip_cause = models.CharField(max_length=10, null=True)
    summary = models.TextField(null=True)
    metadata = models.JSONField(default=dict)
    criteria_met = models.JSONField(default=dict)
    checkpoint = models.JSONField(null=True)
    stale = models.JSONField(null=True)
    started_at = models.DateTimeField(null=True)
    completed_at = models.DateTimeField(null=True)
    instances_closed = models.BooleanField(default=False)
    started = models.BooleanField(default=False)
    failures = models.PositiveIntegerField(default=0)
    next_index = models.PositiveBigIntegerField(default=0)
    open_question = models.CharField(max_length=200, null=True)
    artifact_count = models.PositiveIntegerField(default=0)
    question_count = models.PositiveIntegerField(default=0)
    history_count = models.PositiveIntegerField(default=0)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["run", "step_id"], name="top_level_state_once", condition=Q(instance__isnull=True)
            ),
            models.UniqueConstraint(fields=["instance", "step_id"], name="body_state_once"),
            models.CheckConstraint(name="step_status_known", condition=Q(status__in=STEP_STATUSES)),
            models.CheckConstraint(
                name="skipped_has_a_cause",
                condition=Q(status="skipped", skip_cause__in=["dependency", "removed", "cancelled"])
                | (~Q(status="skipped") & Q(skip_cause__isnull=True)),
            ),
        ]

    def __str__(self) -> str:
        return self.step_id


class StepInstance(Tally):
    """One iteration of a loop or branch of a parallel; its tally counts the states of its own ``body``."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="instances")
    construct = models.ForeignKey(
        StepState, on_delete=models.CASCADE, related_name="instances", db_index=False
    )
    instance_id = models.CharField(max_length=200)
    index = models.PositiveBigIntegerField()
    kind = models.CharField(max_length=10)
    status = models.CharField(max_length=10, default="pending")
    skip_cause = models.CharField(max_length=10, null=True)
    summary = models.TextField(null=True)
    metadata = models.JSONField(default=dict)
    body = models.JSONField(default=list)
    stale = models.JSONField(null=True)
    started_at = models.DateTimeField(null=True)
    completed_at = models.DateTimeField(null=True)
    started = models.BooleanField(default=False)
    failures = models.PositiveIntegerField(default=0)
    artifact_count = models.PositiveIntegerField(default=0)
    history_count = models.PositiveIntegerField(default=0)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["construct", "instance_id"], name="instance_id_once"),
            models.UniqueConstraint(fields=["construct", "index"], name="instance_index_once"),
            models.CheckConstraint(name="instance_status_known", condition=Q(status__in=INSTANCE_STATUSES)),
            models.CheckConstraint(name="instance_kind_known", condition=Q(kind__in=["iteration", "branch"])),
        ]

    def __str__(self) -> str:
        return self.instance_id


class Artifact(models.Model):
    """Something a step or an instance produced. ``superseded`` ones live on in a snapshot; their id stays used."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="artifacts", db_index=False)
    artifact_id = models.CharField(max_length=200)
    state = models.ForeignKey(StepState, null=True, on_delete=models.SET_NULL, related_name="artifacts")
    instance = models.ForeignKey(StepInstance, null=True, on_delete=models.SET_NULL, related_name="artifacts")
    type = models.TextField()
    description = models.TextField(null=True)
    ref = models.TextField(null=True)
    data = models.JSONField(null=True)
    superseded = models.BooleanField(default=False)
    created_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["run", "artifact_id"], name="artifact_id_once"),
            models.CheckConstraint(
                name="artifact_names_or_holds", condition=Q(ref__isnull=False) | Q(data__isnull=False)
            ),
        ]

    def __str__(self) -> str:
        return self.artifact_id


class ArtifactComment(models.Model):
    """What a person said about an artifact: append-only, also on finished work."""

    artifact = models.ForeignKey(Artifact, on_delete=models.CASCADE, related_name="comments")
    comment_id = models.CharField(max_length=200, unique=True)
    body = models.TextField()
    author = models.TextField()
    actor = models.CharField(max_length=200)
    via = models.CharField(max_length=10)
    created_at = models.DateTimeField()

    def __str__(self) -> str:
        return self.comment_id


class Question(models.Model):
    """Something a running task asked a person; the step is blocked while it is open."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="questions")
    state = models.ForeignKey(StepState, on_delete=models.CASCADE, related_name="questions")
    question_id = models.CharField(max_length=200, unique=True)
    text = models.TextField()
    fields = models.JSONField(default=list)
    asked_at = models.DateTimeField()
    asked_actor = models.CharField(max_length=200)
    response = models.JSONField(null=True)
    answered_at = models.DateTimeField(null=True)
    answered_by = models.TextField(null=True)
    actor = models.CharField(max_length=200, null=True)
    via = models.CharField(max_length=10)
    closed = models.JSONField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["state"],
                name="one_open_question",
                condition=Q(answered_at__isnull=True, closed__isnull=True),
            )
        ]

    def __str__(self) -> str:
        return self.question_id


class Snapshot(models.Model):
    """A result as it stood before an amendment replaced it: an entry of ``history``, oldest first."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="snapshots")
    state = models.ForeignKey(StepState, null=True, on_delete=models.CASCADE, related_name="history")
    instance = models.ForeignKey(StepInstance, null=True, on_delete=models.CASCADE, related_name="history")
    document = models.JSONField()
    superseded_at = models.DateTimeField()
    amendment_id = models.CharField(max_length=200, null=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="snapshot_of_one_thing",
                condition=Q(state__isnull=False, instance__isnull=True)
                | Q(state__isnull=True, instance__isnull=False),
            )
        ]

    def __str__(self) -> str:
        return f"snapshot of {self.superseded_at:%Y-%m-%d %H:%M}"


class Report(models.Model):
    """A report as it was sent, whole: nothing that a later one supersedes is lost."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="report_log", db_index=False)
    number = models.PositiveBigIntegerField()
    at = models.DateTimeField()
    kind = models.CharField(max_length=20)
    path = models.TextField()
    payload = models.JSONField()
    actor = models.CharField(max_length=200)
    via = models.CharField(max_length=10)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "number"], name="report_number_once")]

    def __str__(self) -> str:
        return f"report {self.number}: {self.path}"
