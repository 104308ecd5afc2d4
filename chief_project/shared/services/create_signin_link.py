"""``create_signin_link``: a link that signs one person in, once, within minutes."""

from datetime import timedelta
from typing import Any

from django.db import transaction

from chief_project.shared import audit, credentials, selectors
from chief_project.shared.caller import Caller, Right
from chief_project.shared.clock import now
from chief_project.shared.errors import InvariantViolation, NotFound
from chief_project.shared.models import SigninLink, User

VALID_FOR = timedelta(minutes=15)
KEPT_FOR = timedelta(days=7)  # long enough to tell "used" from "unknown" when someone asks


def create_signin_link(*, caller: Caller, username: str) -> dict[str, Any]:
    """Make a link for an active user who has a role; ``secret``, which goes into its address, is kept nowhere."""
    caller.must(Right.ADMINISTER, "create a sign-in link")
    with transaction.atomic(savepoint=False):
        audit.lock_rest()
        at = now()
        user = User.objects.filter(username=username, is_active=True).first()
        if user is None:
            raise NotFound(f"no active user is called {username[:150]!r}")
        if selectors.role_of_user(user_id=user.pk) is None:
            raise InvariantViolation(f"'{username}' has no role and could do nothing: give them one first")
        secret = credentials.new_link_secret()
        SigninLink.objects.filter(expires_at__lt=at - KEPT_FOR).delete()
        link = SigninLink.objects.create(
            user=user, digest=credentials.digest(secret), created_at=at, expires_at=at + VALID_FOR
        )
        detail = {"username": username, "expires_at": link.expires_at}
        audit.record(caller=caller, event="auth.signin_link_created", at=at, detail=detail)
    return detail | {"secret": secret}
