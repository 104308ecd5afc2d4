"""``set_password``: how a person signs in without a link."""

from django.db import transaction

from chief_project.shared import audit
from chief_project.shared.caller import Caller, Right
from chief_project.shared.clock import now
from chief_project.shared.services._user import locked_user


def set_password(*, caller: Caller, user_id: int, password: str | None) -> None:
    """Give the user a password (already validated), or none; every session of theirs ends."""
    caller.must(Right.ADMINISTER, "set a password")
    with transaction.atomic(savepoint=False):
        user = locked_user(user_id)
        user.set_password(password)
        user.save(update_fields=["password"])
        detail = {"username": user.username, "usable": password is not None}
        audit.record(caller=caller, event="auth.password_set", at=now(), detail=detail)
