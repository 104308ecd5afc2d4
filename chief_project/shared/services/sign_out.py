"""``sign_out``: a browser's session ends."""

from django.contrib.auth import logout
from django.db import transaction
from django.http import HttpRequest

from chief_project.shared import audit, selectors
from chief_project.shared.caller import Caller, Role
from chief_project.shared.clock import now


def sign_out(*, request: HttpRequest) -> None:
    """End the session; for nobody there is nothing to end and nothing to audit."""
    user = request.user
    if user.is_authenticated:
        with transaction.atomic(savepoint=False):
            role = selectors.role_of_user(user_id=user.pk) or Role.VIEWER
            caller = Caller(actor=user.username, role=role, via="web", user_id=user.pk, signed_in=True)
            audit.record(caller=caller, event="auth.signed_out", at=now(), detail={"username": caller.actor})
    logout(request)
