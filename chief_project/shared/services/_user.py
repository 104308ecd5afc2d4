"""What changes to a user share."""

from chief_project.shared import audit, selectors
from chief_project.shared.errors import InvariantViolation, NotFound
from chief_project.shared.models import User


def locked_user(user_id: int) -> User:
    """The user, locked; ``NotFound`` if there is none."""
    # The rest's head comes first and is everybody's: two admins can't take each other's role at the same moment.
    audit.lock_rest()
    user = User.objects.select_for_update(no_key=True).filter(pk=user_id).first()
    if user is None:
        raise NotFound(f"no user has the id {user_id}")
    return user


def keep_an_admin(user: User) -> None:
    """``InvariantViolation`` when ``user`` is the last active admin."""
    if selectors.admins_besides(user_id=user.pk) == 0:
        raise InvariantViolation(
            f"'{user.username}' is the only active admin: give another user the role first, or nobody could"
        )
