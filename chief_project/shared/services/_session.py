"""What the ways to sign in share: opening a session, and keeping what failed.

Everything about principals locks the head of the rest first, then its own rows: one order, no deadlock.
"""

from datetime import datetime
from typing import Literal

from django.contrib.auth import login
from django.http import HttpRequest

from chief_project.shared import audit, selectors
from chief_project.shared.caller import Caller, Role
from chief_project.shared.errors import Forbidden
from chief_project.shared.models import User

Method = Literal["password", "link"]
BACKEND = "django.contrib.auth.backends.ModelBackend"


def open_session(request: HttpRequest, user: User, *, method: Method, at: datetime) -> None:
    """Sign ``user`` in, under a new session key. Someone without a role could do nothing: ``Forbidden``."""
    audit.lock_rest()  # before `login`, which writes the user's row
    role = selectors.role_of_user(user_id=user.pk)
    if role is None:
        raise Forbidden(f"'{user.username}' has no role yet: ask an admin for viewer, reviewer or admin")
    login(request, user, backend=BACKEND)
    caller = Caller(actor=user.username, role=role, via="web", user_id=user.pk, signed_in=True)
    audit.record(
        caller=caller, event="auth.signed_in", at=at, detail={"username": user.username, "method": method}
    )


def record_failure(user: User, *, method: Method, reason: str, at: datetime) -> None:
    """Keep that someone who isn't known to be ``user`` failed to sign in as them."""
    nobody = Caller(actor="anonymous", role=Role.VIEWER, via="web")
    detail = {"username": user.username, "method": method, "reason": reason}
    audit.record(caller=nobody, event="auth.signin_failed", at=at, detail=detail)
