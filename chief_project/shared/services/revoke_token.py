"""``revoke_token``: a token stops being valid, for good."""

from typing import Any

from django.db import transaction

from chief_project.shared import audit, selectors
from chief_project.shared.caller import Caller, Right
from chief_project.shared.clock import now
from chief_project.shared.errors import InvalidTransition, NotFound
from chief_project.shared.models import ApiToken
from chief_project.shared.principals import token_cache


def revoke_token(*, caller: Caller, token_id: int) -> dict[str, Any]:
    """Revoke the token; in a few seconds no process takes it any more. A revoked one is an ``InvalidTransition``."""
    caller.must(Right.ADMINISTER, "revoke a token")
    with transaction.atomic(savepoint=False):
        transaction.on_commit(token_cache.forget)  # at once here; elsewhere within seconds
        audit.lock_rest()
        token = (
            ApiToken.objects.select_for_update(of=("self",))
            .select_related("user")
            .filter(pk=token_id)
            .first()
        )
        if token is None:
            raise NotFound(f"no token has the id {token_id}")
        if token.revoked_at is not None:
            raise InvalidTransition(f"token '{token.name}' is revoked already; it needs no more")
        token.revoked_at = now()
        token.save(update_fields=["revoked_at"])
        audit.record(
            caller=caller,
            event="auth.token_revoked",
            at=token.revoked_at,
            detail={"token_id": token.pk, "name": token.name, "kind": token.kind, "prefix": token.prefix},
        )
    return selectors.token_document(token)
