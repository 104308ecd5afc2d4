"""The API's description: what every operation has in common is said once, here."""

from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.openapi import AutoSchema
from rest_framework import serializers


class ErrorBody(serializers.Serializer):  # type: ignore[type-arg]
    """What went wrong, for programs (`code`), for people (`message`), and where (`details`)."""

    code = serializers.CharField()
    message = serializers.CharField()
    details = serializers.DictField(required=False)


class Error(serializers.Serializer):  # type: ignore[type-arg]
    """Every refusal has this shape."""

    error = ErrorBody()


class ChiefSchema(AutoSchema):
    """Adds refusals, headers and query parameters that follow from ``ChiefView``."""


class TokenScheme(OpenApiAuthenticationExtension):
    """``Authorization: Bearer chf_…``."""

    target_class = "chief_project.shared.auth.TokenAuthentication"
    name = "token"

    def get_security_definition(self, auto_schema: Any) -> dict[str, Any]:
        """A bearer token."""
        return {"type": "http", "scheme": "bearer", "description": "An API token: `chf_…`"}


class SessionScheme(OpenApiAuthenticationExtension):
    """A person who signed in on a page."""

    target_class = "chief_project.shared.auth.SessionAuthentication"
    name = "session"

    def get_security_definition(self, auto_schema: Any) -> dict[str, Any]:
        """The session's cookie; writes need the CSRF token too."""
        return {
            "type": "apiKey",
            "in": "cookie",
            "name": "chief_session",
            "description": "A signed-in person. Writes carry `X-CSRFToken` as well.",
        }
