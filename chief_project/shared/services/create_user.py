"""``create_user``: a person who may sign in."""

from typing import Any

from django.contrib.auth.models import Group
from django.contrib.auth.validators import UnicodeUsernameValidator
from django.core.exceptions import ValidationError
from django.db import transaction

from chief_project.shared import audit, selectors
from chief_project.shared.caller import Caller, Right, Role
from chief_project.shared.clock import now
from chief_project.shared.errors import Conflict, ValidationFailed
from chief_project.shared.models import User


def create_user(*, caller: Caller, username: str, role: Role | None) -> dict[str, Any]:
    """Make an active user, who signs in by a one-time link and may then choose a password."""
    caller.must(Right.ADMINISTER, "create a user")
    if role is Role.HARNESS:
        raise ValidationFailed(
            "a harness is a token, not a user: create a token of kind harness", pointer="/role"
        )
    try:
        UnicodeUsernameValidator()(username)
    except ValidationError as problem:
        raise ValidationFailed(problem.messages[0], pointer="/username") from problem
    if len(username) > 150:
        raise ValidationFailed("a username has at most 150 characters", pointer="/username")
    with transaction.atomic(savepoint=False):
        audit.lock_rest()
        if selectors.name_is_taken(name=username):
            raise Conflict(f"the name {username!r} is in use by a user or a token: choose another")
        user = User(username=username)
        user.set_unusable_password()
        user.save(force_insert=True)
        if role is not None:
            user.groups.add(Group.objects.get_or_create(name=role.value)[0])
        detail = {"username": username, "role": role and role.value}
        audit.record(caller=caller, event="auth.user_created", at=now(), detail=detail)
    return detail | {"user_id": user.pk}
