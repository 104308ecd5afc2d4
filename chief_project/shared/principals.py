"""From a credential to a ``Caller``, whatever the door (contract 9)."""

import threading
import time
from collections import OrderedDict
from dataclasses import replace
from datetime import datetime

from django.http import HttpRequest

from chief_project.shared import credentials, selectors
from chief_project.shared.caller import Caller, Via
from chief_project.shared.clock import now
from chief_project.shared.errors import Forbidden, Unauthenticated
from chief_project.shared.selectors import KnownToken
from chief_project.shared.services.mark_token_used import PRECISION, mark_token_used

NOT_VALID = "This token is not valid: it is unknown, revoked or expired. Ask an admin for another."


class TokenCache:
    """Tokens that were valid a moment ago, by digest, so that a busy harness costs no query per request.

    A revocation, a new role or a deactivated user takes effect everywhere within ``ttl`` seconds, and at once in the
    process that made it, for its service calls ``forget``. Only valid tokens are kept, at most ``size`` of them, so
    guessing fills nothing.
    """

    def __init__(self, *, ttl: float = 3.0, size: int = 1000) -> None:
        self.ttl = ttl
        self.size = size
        self._known: OrderedDict[str, tuple[float, KnownToken]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, digest: str, *, at: datetime) -> KnownToken | None:
        """The token, if it was read within ``ttl`` and hasn't expired since."""
        with self._lock:
            until, token = self._known.get(digest, (0.0, None))
            if token is None or until <= time.monotonic():
                self._known.pop(digest, None)
                return None
        return None if token.expires_at is not None and token.expires_at <= at else token

    def put(self, digest: str, token: KnownToken) -> None:
        with self._lock:
            self._known[digest] = (time.monotonic() + self.ttl, token)
            self._known.move_to_end(digest)
            while len(self._known) > self.size:
                self._known.popitem(last=False)

    def forget(self) -> None:
        """Read every token anew."""
        with self._lock:
            self._known.clear()


token_cache = TokenCache()


def caller_of_token(token: str, *, via: Via = "rest") -> Caller:
    """Who ``token`` is; ``Unauthenticated``, without a hint which, if it is unknown, revoked or expired."""
    at, digest = now(), credentials.digest(token)
    known = token_cache.get(digest, at=at)
    if known is None:
        known = selectors.find_token(digest=digest, at=at) if credentials.looks_like_token(token) else None
        if known is None:
            raise Unauthenticated(NOT_VALID)
        token_cache.put(digest, known)
        if known.caller.token_id is not None and (
            known.last_used_at is None or known.last_used_at < at - PRECISION
        ):
            mark_token_used(token_id=known.caller.token_id, at=at)
    return known.caller if known.caller.via == via else replace(known.caller, via=via)


def caller_of_session(request: HttpRequest, *, via: Via) -> Caller | None:
    """Who is signed in, or None. A user in no group named like a role may do nothing: ``Forbidden``."""
    user = getattr(request, "user", None)
    if user is None or not user.is_authenticated or not user.is_active:
        return None
    role = selectors.role_of_user(user_id=user.pk)
    if role is None:
        raise Forbidden(
            f"'{user.get_username()}' has no role yet: ask an admin for viewer, reviewer or admin"
        )
    return Caller(actor=user.get_username(), role=role, via=via, user_id=user.pk, signed_in=True)
