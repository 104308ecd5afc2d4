"""``sign_in_with_password``: a browser's session gets its person. It takes the request, for that has the session."""

from django.contrib.auth import authenticate
from django.db import transaction
from django.http import HttpRequest

from chief_project.shared.clock import now
from chief_project.shared.errors import RateLimited, Unauthenticated
from chief_project.shared.models import User
from chief_project.shared.services._session import open_session, record_failure

WRONG = "Name or password is wrong."
LOCKED = "Too many tries: signing in with a password rests for an hour. A sign-in link from an admin works meanwhile."
MAX_USERNAME = 150
MAX_PASSWORD = 4096


def sign_in_with_password(*, request: HttpRequest, username: str, password: str) -> None:
    """Sign the person in; wrong, unknown and inactive are ``Unauthenticated``, too many tries ``RateLimited``.

    A failure is audited under the name only if someone is called so: what is typed into the name's field may be a
    password.
    """
    if "\0" in username + password or len(username) > MAX_USERNAME or len(password) > MAX_PASSWORD:
        raise Unauthenticated(WRONG)  # nobody's, and nothing that the database or the hasher should see
    found = authenticate(request, username=username, password=password)
    if getattr(request, "axes_locked_out", False):
        raise RateLimited(LOCKED)
    if not isinstance(found, User):
        known = User.objects.filter(username=username).first()
        if known is not None:
            with transaction.atomic(savepoint=False):
                record_failure(known, method="password", reason="wrong password", at=now())
        raise Unauthenticated(WRONG)
    with transaction.atomic(savepoint=False):
        open_session(request, found, method="password", at=now())
