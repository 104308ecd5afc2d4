"""Rows that belong to no single app: principals, the audit log, used ids, kept answers."""

from django.contrib.auth.models import AbstractUser
from django.db import models
from django.db.models.functions import Lower


class User(AbstractUser):
    """A person. What a person may do follows from the Django group named like a role (contract 9)."""


class ApiToken(models.Model):
    """A bearer credential. Only the SHA-256 of its 256 random bits is kept; the text is shown once."""

    name = models.CharField(max_length=200)
    kind = models.CharField(max_length=20)
    prefix = models.CharField(max_length=16)
    digest = models.CharField(max_length=64, unique=True)
    user = models.ForeignKey(User, null=True, blank=True, on_delete=models.CASCADE, related_name="api_tokens")
    relay = models.BooleanField(default=False)
    created_at = models.DateTimeField()
    created_by = models.CharField(max_length=200)
    expires_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        verbose_name = "API token"
        ordering = ("-id",)
        constraints = [
            models.CheckConstraint(
                name="token_kind_known",
                condition=models.Q(kind__in=["viewer", "harness", "reviewer", "admin"]),
            ),
            models.CheckConstraint(
                name="token_of_a_person_has_one",
                condition=models.Q(kind__in=["viewer", "harness"], user__isnull=True)
                | models.Q(kind__in=["reviewer", "admin"], user__isnull=False),
            ),
            # Policies and the audit name a token by its name, so two living ones can't share it.
            models.UniqueConstraint(
                Lower("name"), name="token_name_once", condition=models.Q(revoked_at__isnull=True)
            ),
        ]

    def __str__(self) -> str:
        return f"{self.name} ({self.prefix}…)"


class SigninLink(models.Model):
    """A one-time link that signs one person in. Only its digest is kept."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="signin_links")
    digest = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        verbose_name = "sign-in link"

    def __str__(self) -> str:
        return f"sign-in link for {self.user_id}"


class Preferences(models.Model):
    """How a person wants the pages to be. An empty time zone or language is what the instance or browser says."""

    user = models.OneToOneField(User, primary_key=True, on_delete=models.CASCADE, related_name="+")
    time_zone = models.CharField(max_length=64, blank=True)
    language = models.CharField(max_length=10, blank=True)
    theme = models.CharField(max_length=10, default="system")
    keys = models.BooleanField(default=True)
    notify = models.JSONField(default=list)

    class Meta:
        verbose_name_plural = "preferences"
        constraints = [
            models.CheckConstraint(
                name="theme_known", condition=models.Q(theme__in=["system", "light", "dark"])
            ),
        ]

    def __str__(self) -> str:
        return f"preferences of {self.user_id}"


class AuditedRow(models.Model):
    """A row that heads an audit stream: how long the chain is, and its last hash (contract 8)."""

    audit_length = models.BigIntegerField(default=0)
    audit_hash = models.CharField(max_length=64, default="", blank=True)

    class Meta:
        abstract = True


class AuditStream(AuditedRow):
    """The head of a stream that no workflow and no run heads: ``rest``."""

    name = models.CharField(max_length=40, primary_key=True)

    def __str__(self) -> str:
        return self.name


class AuditEntry(models.Model):
    """One entry of the append-only log. ``text`` is what is hashed; the columns beside it are for finding it."""

    stream = models.CharField(max_length=210)
    position = models.BigIntegerField()
    at = models.DateTimeField()
    event = models.CharField(max_length=60)
    workflow_id = models.CharField(max_length=200, null=True)
    run_id = models.CharField(max_length=200, null=True)
    amendment_id = models.CharField(max_length=200, null=True)
    actor = models.CharField(max_length=200)
    via = models.CharField(max_length=10)
    text = models.TextField()
    prev_hash = models.CharField(max_length=64, blank=True)
    hash = models.CharField(max_length=64)

    class Meta:
        verbose_name_plural = "audit entries"
        constraints = [models.UniqueConstraint(fields=["stream", "position"], name="audit_position_once")]
        indexes = [models.Index(fields=["workflow_id", "id"], name="audit_by_workflow")]

    def __str__(self) -> str:
        return f"{self.stream}#{self.position} {self.event}"


class UsedId(models.Model):
    """An id that was given out: never deleted, so an id once used is used for ever (contract 1)."""

    kind = models.CharField(max_length=20)
    value = models.CharField(max_length=200)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["kind", "value"], name="id_used_once")]

    def __str__(self) -> str:
        return f"{self.kind} {self.value}"


class KeptAnswer(models.Model):
    """The answer to a POST that carried ``Idempotency-Key``, kept 24 hours for its principal (contract 1)."""

    principal = models.CharField(max_length=40)
    key = models.CharField(max_length=200)
    request_hash = models.CharField(max_length=64)
    status = models.SmallIntegerField(null=True)
    answer = models.TextField(null=True)
    created_at = models.DateTimeField(db_index=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["principal", "key"], name="idempotency_key_once")]

    def __str__(self) -> str:
        return f"{self.principal} {self.key}"


class ConfigDocument(models.Model):
    """A configuration document that people write: one row per name (the two approval policies)."""

    name = models.CharField(max_length=60, unique=True)
    document = models.JSONField(default=dict)
    updated_at = models.DateTimeField(null=True)
    updated_by = models.CharField(max_length=200, default="", blank=True)

    def __str__(self) -> str:
        return self.name
