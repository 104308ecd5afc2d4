"""``sign_in_with_link``: a one-time link is spent, and a browser's session gets its person."""

from datetime import datetime

from django.db import transaction
from django.http import HttpRequest

from chief_project.shared import audit, credentials
from chief_project.shared.clock import now
from chief_project.shared.errors import Unauthenticated
from chief_project.shared.models import SigninLink
from chief_project.shared.services._session import open_session, record_failure

SPENT = "This sign-in link is unknown, used or too old. Ask an admin for another."


def sign_in_with_link(*, request: HttpRequest, secret: str) -> None:
    """Spend the link and sign its person in; an unknown, used or expired one is ``Unauthenticated``."""
    at, digest = now(), credentials.digest(secret)
    if not SigninLink.objects.filter(digest=digest).exists():  # guessing takes no lock and leaves no trace
        raise Unauthenticated(SPENT)
    with transaction.atomic(savepoint=False):
        audit.lock_rest()
        links = SigninLink.objects.select_for_update(of=("self",)).select_related("user")
        link = links.get(digest=digest)
        spent = _why_spent(link, at)
        if spent is None:
            link.used_at = at
            link.save(update_fields=["used_at"])
            open_session(request, link.user, method="link", at=at)
        else:
            record_failure(link.user, method="link", reason=spent, at=at)
    if spent is not None:  # after the commit, so that the failure is kept
        raise Unauthenticated(SPENT)


def _why_spent(link: SigninLink, at: datetime) -> str | None:
    if link.used_at is not None:
        return "used"
    if link.expires_at <= at:
        return "expired"
    return None if link.user.is_active else "inactive"
