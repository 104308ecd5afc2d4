"""``set_active``: whether a person is let in at all."""

from django.db import transaction

from chief_project.shared import audit, selectors
from chief_project.shared.caller import Caller, Right, Role
from chief_project.shared.clock import now
from chief_project.shared.principals import token_cache
from chief_project.shared.services._user import keep_an_admin, locked_user


def set_active(*, caller: Caller, user_id: int, active: bool) -> None:
    """Let the user in, or keep them and their tokens out. Unchanged, nothing is written."""
    caller.must(Right.ADMINISTER, "activate or deactivate a user")
    with transaction.atomic(savepoint=False):
        transaction.on_commit(token_cache.forget)  # at once here; elsewhere within seconds
        user = locked_user(user_id)
        if user.is_active is active:
            return
        if not active and selectors.role_of_user(user_id=user.pk) is Role.ADMIN:
            keep_an_admin(user)
        user.is_active = active
        user.save(update_fields=["is_active"])
        event = "auth.user_activated" if active else "auth.user_deactivated"
        audit.record(caller=caller, event=event, at=now(), detail={"username": user.username})
