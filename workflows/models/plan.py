"""A plan as rows, written once and never updated (design: "a plan is immutable").

A draft's revision, a workflow's version, a template and a run's effective plan each point at one ``Plan``.
"""

from django.db import models

PLANS = 2**43
PLACES = 2**20  # how many steps a plan may hold; an id of a plan and a place make one of 63 bits


class Plan(models.Model):
    """A set of steps and groups. Its id names its content for ever, so the parsed graph is cached by it.

    The id is random: a counter would give a plan that was rolled back and the next one the same.
    """

    id = models.BigIntegerField(primary_key=True)
    created_at = models.DateTimeField()
    step_count = models.PositiveIntegerField()

    def __str__(self) -> str:
        return f"plan {self.pk} ({self.step_count} steps)"


class Step(models.Model):
    """One step. Its id is ``plan * PLACES + place``: told before anything is written, so a plan's rows go in at once,
    lie together, and come back in order. ``container`` is the construct whose body lists it, at ``body_position``;
    null at top level.
    """

    id = models.BigIntegerField(primary_key=True)
    plan = models.ForeignKey(Plan, on_delete=models.CASCADE, related_name="steps", db_index=False)
    step_id = models.CharField(max_length=200)
    type = models.CharField(max_length=20)
    goal = models.TextField()
    harness = models.TextField(blank=True)
    inputs = models.JSONField(default=dict)
    outputs = models.JSONField(default=dict)
    on_instance_failure = models.CharField(max_length=10, null=True)
    exit_when = models.TextField(null=True)
    group = models.TextField(null=True)
    container = models.ForeignKey("self", null=True, on_delete=models.CASCADE, related_name="body")
    body_position = models.PositiveIntegerField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["plan", "step_id"], name="step_id_once_in_a_plan"),
            models.CheckConstraint(
                name="step_in_a_body_has_a_place",
                condition=models.Q(container__isnull=True, body_position__isnull=True)
                | models.Q(container__isnull=False, body_position__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return self.step_id


class Dependency(models.Model):
    """``step`` waits for ``needs``; ``position`` keeps the order in which they were named."""

    step = models.ForeignKey(Step, on_delete=models.CASCADE, related_name="dependencies", db_index=False)
    position = models.PositiveIntegerField()
    needs = models.ForeignKey(Step, on_delete=models.CASCADE, related_name="dependents")

    class Meta:
        verbose_name_plural = "dependencies"
        constraints = [models.UniqueConstraint(fields=["step", "position"], name="dependency_position_once")]

    def __str__(self) -> str:
        return f"{self.step_id} needs {self.needs_id}"


class Criterion(models.Model):
    """A condition a task must answer by name; ids are positional (``c1`` …), so only the text is kept."""

    step = models.ForeignKey(Step, on_delete=models.CASCADE, related_name="criteria", db_index=False)
    position = models.PositiveIntegerField()
    text = models.TextField()

    class Meta:
        verbose_name_plural = "criteria"
        constraints = [models.UniqueConstraint(fields=["step", "position"], name="criterion_position_once")]

    def __str__(self) -> str:
        return self.text


class CheckpointField(models.Model):
    """Something a checkpoint asks a person for in writing."""

    step = models.ForeignKey(Step, on_delete=models.CASCADE, related_name="fields", db_index=False)
    position = models.PositiveIntegerField()
    name = models.CharField(max_length=200)
    label = models.TextField(null=True)
    hint = models.TextField(null=True)
    required = models.BooleanField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["step", "position"], name="field_position_once"),
            models.UniqueConstraint(fields=["step", "name"], name="field_name_once"),
        ]

    def __str__(self) -> str:
        return self.name


class InstanceParameter(models.Model):
    """A value each instance of a construct must bring in its metadata."""

    step = models.ForeignKey(Step, on_delete=models.CASCADE, related_name="instance_params", db_index=False)
    position = models.PositiveIntegerField()
    name = models.CharField(max_length=200)
    description = models.TextField(null=True)
    required = models.BooleanField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["step", "position"], name="instance_param_position_once"),
            models.UniqueConstraint(fields=["step", "name"], name="instance_param_name_once"),
        ]

    def __str__(self) -> str:
        return self.name


class Group(models.Model):
    """What a display path stands for (contract 12)."""

    plan = models.ForeignKey(Plan, on_delete=models.CASCADE, related_name="groups", db_index=False)
    position = models.PositiveIntegerField()
    path = models.TextField()
    description = models.TextField(blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["plan", "position"], name="group_position_once")]

    def __str__(self) -> str:
        return self.path
