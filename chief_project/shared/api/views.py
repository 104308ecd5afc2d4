"""Who am I, and what happened: the routes below ``/v1`` that belong to no single app."""

from typing import ClassVar

from django.http import HttpRequest, HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework import serializers

from chief_project.shared.caller import Right, Role
from chief_project.shared.http.views import ChiefView
from chief_project.shared.selectors import list_audit, me
from chief_project.shared.serializers import PageQuery, QueryDateTimeField, QueryIdField, QueryTextField


class TokenOfMine(serializers.Serializer):
    """The token that a caller authenticated with; never its text."""

    token_id = serializers.IntegerField()
    name = serializers.CharField()
    kind = serializers.ChoiceField([role.value for role in Role])
    prefix = serializers.CharField(help_text="How the token begins.")
    expires_at = serializers.DateTimeField(allow_null=True)


class MeDocument(serializers.Serializer):
    """A principal and what it may do."""

    principal = serializers.CharField(help_text="Stable and distinct: `user:1`, or `token:7` for each token.")
    actor = serializers.CharField(
        help_text="What the audit calls this principal: a username or a token's name."
    )
    role = serializers.ChoiceField([role.value for role in Role])
    rights = serializers.ListField(child=serializers.ChoiceField([right.value for right in Right]))
    relay = serializers.BooleanField(help_text="Whether this token may pass on decisions that people made.")
    person = serializers.BooleanField(help_text="Whether it counts as a person.")
    signed_in = serializers.BooleanField(help_text="Whether it is a browser's session rather than a token.")
    username = serializers.CharField(allow_null=True)
    token = TokenOfMine(allow_null=True)


class AuditQuery(PageQuery):
    """What the audit log can be searched by; everything given must match."""

    workflow_id = QueryIdField(required=False)
    run_id = QueryIdField(required=False)
    amendment_id = QueryIdField(required=False)
    event = QueryTextField(required=False, max_length=60, help_text="Such as `workflow.approved`.")
    since = QueryDateTimeField(required=False, help_text="Entries from this moment on.")
    until = QueryDateTimeField(required=False, help_text="Entries up to and including this moment.")


class AuditDocument(serializers.Serializer):
    """One entry of the append-only log."""

    id = serializers.IntegerField()
    at = serializers.DateTimeField()
    event = serializers.CharField()
    workflow_id = serializers.CharField(allow_null=True)
    run_id = serializers.CharField(allow_null=True)
    amendment_id = serializers.CharField(allow_null=True)
    detail = serializers.DictField(help_text="What the event is about; `via` names the door.")
    actor = serializers.CharField(help_text="The authenticated principal, whatever a body claims.")
    via = serializers.ChoiceField(["rest", "mcp", "web", "admin", "cli"])
    prev_hash = serializers.CharField(help_text="Empty for the first entry of a stream.", allow_blank=True)
    hash = serializers.CharField()


class Me(ChiefView):
    @extend_schema(operation_id="me", responses=MeDocument)
    def get(self, request: HttpRequest) -> HttpResponse:
        """The caller's principal and rights."""
        return self.answer(me(caller=self.caller))


class Audit(ChiefView):
    queries: ClassVar = {"get": AuditQuery}

    @extend_schema(operation_id="list_audit", responses=AuditDocument(many=True))
    def get(self, request: HttpRequest) -> HttpResponse:
        """The append-only log, oldest first. Harnesses don't read it."""
        return self.answer_page(list_audit(caller=self.caller, **self.query()))
