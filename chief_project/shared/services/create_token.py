"""``create_token``: a new bearer token, shown this once (contract 9)."""

from datetime import timedelta
from typing import Any

from django.db import transaction

from chief_project.shared import audit, credentials, selectors
from chief_project.shared.caller import Caller, Right, Role
from chief_project.shared.clock import now
from chief_project.shared.errors import Conflict, InvariantViolation, NotFound, ValidationFailed
from chief_project.shared.models import ApiToken, User

MAX_DAYS = 3650


def create_token(
    *,
    caller: Caller,
    kind: str,
    name: str | None = None,
    relay: bool = False,
    expires_days: int | None = None,
    username: str | None = None,
) -> dict[str, Any]:
    """Make a token and answer it with ``token``, its text, which is kept nowhere.

    A reviewer's or admin's token belongs to the user ``username`` and can't do more than that user may now; harness
    and viewer tokens belong to nobody. ``relay`` lets a harness pass on decisions that people made. What a token may
    do never widens: for more, make another. Left out, ``name`` is the kind, numbered where that is taken.
    """
    caller.must(Right.ADMINISTER, "create a token")
    role = _role(kind)
    if relay and role is not Role.HARNESS:
        raise ValidationFailed(
            f"relay is for harness tokens: a viewer decides nothing and a {Role.REVIEWER.value} or"
            f" {Role.ADMIN.value} decides as a person; leave it out for kind '{kind}'",
            pointer="/relay",
        )
    if expires_days is not None and not 1 <= expires_days <= MAX_DAYS:
        raise ValidationFailed(
            f"expires must be 1 to {MAX_DAYS} days; leave it out for a token that stays valid until it is revoked",
            pointer="/expires_days",
        )
    with transaction.atomic(savepoint=False):
        audit.lock_rest()  # early, so that names are chosen one after the other
        at = now()
        user = _owner(role, username)
        name = _name(name, role)
        text = credentials.new_token()
        token = ApiToken.objects.create(
            name=name,
            kind=role.value,
            prefix=text[: credentials.SHOWN_LENGTH],
            digest=credentials.digest(text),
            user=user,
            relay=relay,
            created_at=at,
            created_by=caller.actor,
            expires_at=None if expires_days is None else at + timedelta(days=expires_days),
        )
        answer = selectors.token_document(token)
        audit.record(caller=caller, event="auth.token_created", at=at, detail=answer)
    return answer | {"token": text}


def _role(kind: str) -> Role:
    try:
        return Role(kind)
    except ValueError:
        kinds = ", ".join(role.value for role in Role)
        raise ValidationFailed(
            f"kind {kind[:40]!r} is unknown: use one of {kinds}", pointer="/kind"
        ) from None


def _owner(role: Role, username: str | None) -> User | None:
    if role in (Role.HARNESS, Role.VIEWER):
        if username is not None:
            raise ValidationFailed(
                f"a {role.value} token belongs to no user: leave the user out, or make a reviewer's or admin's token",
                pointer="/username",
            )
        return None
    if username is None:
        raise ValidationFailed(
            f"a {role.value} token belongs to a user: say whose it is", pointer="/username"
        )
    user = User.objects.filter(username=username, is_active=True).first()
    if user is None:
        raise NotFound(f"no active user is called {username[:150]!r}")
    own = selectors.role_of_user(user_id=user.pk)
    if own is None or selectors.weaker(role, own) is not role:
        raise InvariantViolation(
            f"'{username}' is {own.value if own else 'without a role'}, so a token of theirs can't be {role.value}:"
            " make one of their own role, or change the role first"
        )
    return user


def _name(wanted: str | None, role: Role) -> str:
    """A name that no living token and no user has: the audit and the policies tell principals by it."""
    if wanted is None:
        number, name = 1, role.value
        while selectors.name_is_taken(name=name):
            number += 1
            name = f"{role.value}-{number}"
        return name
    name = wanted.strip()
    if not name or len(name) > 150 or not name.isprintable():
        raise ValidationFailed("name must be 1 to 150 printable characters", pointer="/name")
    if selectors.name_is_taken(name=name):
        raise Conflict(
            f"the name {name!r} is in use by a user or by a token that isn't revoked: choose another, or revoke it first"
        )
    return name
