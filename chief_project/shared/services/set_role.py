"""``set_role``: what a person may do."""

from django.contrib.auth.models import Group
from django.db import transaction

from chief_project.shared import audit, selectors
from chief_project.shared.caller import Caller, Right, Role
from chief_project.shared.clock import now
from chief_project.shared.errors import ValidationFailed
from chief_project.shared.principals import token_cache
from chief_project.shared.services._user import keep_an_admin, locked_user


def set_role(*, caller: Caller, user_id: int, role: Role | None) -> None:
    """Make ``role`` the user's only one (None: none). Unchanged, nothing is written. Tokens follow within seconds."""
    caller.must(Right.ADMINISTER, "change a role")
    if role is Role.HARNESS:
        raise ValidationFailed(
            "a harness is a token, not a user: create a token of kind harness", pointer="/role"
        )
    with transaction.atomic(savepoint=False):
        transaction.on_commit(token_cache.forget)  # at once here; elsewhere within seconds
        user = locked_user(user_id)
        was = selectors.role_of_any_user(user_id=user.pk)
        if was is role:
            return
        if was is Role.ADMIN:
            keep_an_admin(user)
        user.groups.remove(*Group.objects.filter(name__in=[each.value for each in Role]))
        if user.is_superuser:  # the role says it all from now on
            user.is_superuser = False
            user.save(update_fields=["is_superuser"])
        if role is not None:
            user.groups.add(Group.objects.get_or_create(name=role.value)[0])
        detail = {"username": user.username, "role": role and role.value, "role_was": was and was.value}
        audit.record(caller=caller, event="auth.role_changed", at=now(), detail=detail)
