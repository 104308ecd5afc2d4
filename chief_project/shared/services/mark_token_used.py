"""``mark_token_used``: when a token was last seen, to within a few minutes."""

from datetime import datetime, timedelta

from django.db.models import Q

from chief_project.shared.models import ApiToken

PRECISION = timedelta(minutes=5)  # a write for every request would cost each of them a transaction


def mark_token_used(*, token_id: int, at: datetime) -> None:
    """Keep ``at`` as the token's last use, unless one within ``PRECISION`` is kept already. Not audited."""
    ApiToken.objects.filter(
        Q(last_used_at__isnull=True) | Q(last_used_at__lt=at - PRECISION), pk=token_id
    ).update(last_used_at=at)
