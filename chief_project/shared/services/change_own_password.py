"""``change_own_password``: a signed-in person chooses how to sign in next time."""

from django.contrib.auth import update_session_auth_hash
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db import transaction
from django.http import HttpRequest

from chief_project.shared import audit
from chief_project.shared.caller import Caller
from chief_project.shared.clock import now
from chief_project.shared.errors import Unauthenticated, ValidationFailed
from chief_project.shared.services._user import locked_user

MAX_PASSWORD = 4096


def change_own_password(*, caller: Caller, request: HttpRequest, old: str, new: str, again: str) -> None:
    """Set the caller's password; ``old`` must be the present one, if there is one. Their other sessions end."""
    if not caller.signed_in or caller.user_id is None:
        raise Unauthenticated("sign in to change your password")
    if new != again:
        raise ValidationFailed("The two new passwords differ. Nothing was changed.")
    with transaction.atomic(savepoint=False):
        user = locked_user(caller.user_id)
        if user.has_usable_password() and (len(old) > MAX_PASSWORD or not user.check_password(old)):
            raise ValidationFailed("The present password is wrong. Nothing was changed.")
        try:
            if "\0" in new or len(new) > MAX_PASSWORD:
                raise ValidationError(f"A password has at most {MAX_PASSWORD} characters.")
            validate_password(new, user)
        except ValidationError as problem:
            raise ValidationFailed(" ".join(problem.messages)) from problem
        user.set_password(new)
        user.save(update_fields=["password"])
        update_session_auth_hash(request, user)
        detail = {"username": user.username, "usable": True}
        audit.record(caller=caller, event="auth.password_set", at=now(), detail=detail)
