"""Answers that are kept for a repeated POST (contract 1).

``begin`` claims the key in the operation's own transaction, ``keep`` stores the answer there: two statements more
than without a key. A twin waits in ``begin`` on the unique key (on SQLite, for the write lock). A refusal rolls the
claim back with everything else, and so does a crash.
"""

import hashlib
import logging
import time
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import DatabaseError, connection

from chief_project.shared.errors import Conflict
from chief_project.shared.models import KeptAnswer

logger = logging.getLogger("chief.http")

KEPT_FOR = timedelta(hours=24)
PURGE_EVERY_SECONDS = 3600
PURGE_AT_MOST = 1000

_TABLE = KeptAnswer._meta.db_table
# An expired key is taken over as if it had never been; a live one yields no row.
_CLAIM = (
    f"INSERT INTO {_TABLE} (principal, key, request_hash, status, answer, created_at)"  # noqa: S608  # our own name
    " VALUES (%s, %s, %s, NULL, NULL, %s) ON CONFLICT (principal, key) DO UPDATE SET"
    " request_hash = excluded.request_hash, status = NULL, answer = NULL, created_at = excluded.created_at"
    f" WHERE {_TABLE}.created_at <= %s RETURNING id"
)
_KEEP = f"UPDATE {_TABLE} SET status = %s, answer = %s WHERE id = %s"  # noqa: S608
_next_purge = time.monotonic() + PURGE_EVERY_SECONDS


@dataclass(frozen=True, slots=True)
class Kept:
    """The answer that was given: its status and its JSON."""

    status: int
    answer: bytes


def fingerprint(*, method: str, path: str, body: bytes) -> str:
    """What makes two requests the same: method, path with query string, and the body's bytes."""
    return hashlib.sha256(
        b"\n".join([method.encode(), path.encode("utf-8", "surrogatepass"), body])
    ).hexdigest()


def begin(*, principal: str, key: str, request_hash: str, at: datetime) -> int | Kept:
    """Claim ``key``: the claim's id, to be given to ``keep``, or the answer that was kept for the same request.

    Must run inside the operation's transaction. Raises ``Conflict`` if the key was used for another request.
    """
    moment = connection.ops.adapt_datetimefield_value(at)
    cutoff = connection.ops.adapt_datetimefield_value(at - KEPT_FOR)
    with connection.cursor() as cursor:
        cursor.execute(_CLAIM, [principal, key, request_hash, moment, cutoff])
        claimed = cursor.fetchone()
    if claimed is not None:
        return int(claimed[0])
    kept = KeptAnswer.objects.values_list("request_hash", "status", "answer").get(
        principal=principal, key=key
    )
    if kept[0] != request_hash:
        raise Conflict(
            "this Idempotency-Key was used for another method, path or body: use a new key for a new request"
        )
    return Kept(status=kept[1] or 200, answer=(kept[2] or "").encode())


def keep(claim: int, *, status: int, answer: bytes) -> None:
    """Store the answer beside its key, in the same transaction."""
    with connection.cursor() as cursor:
        cursor.execute(_KEEP, [status, answer.decode(), claim])


def purge(*, at: datetime, at_most: int | None = None) -> int:
    """Delete answers that are kept no longer (the oldest ``at_most``); how many went."""
    expired = KeptAnswer.objects.filter(created_at__lte=at - KEPT_FOR)
    if at_most is not None:
        expired = KeptAnswer.objects.filter(
            pk__in=list(expired.order_by("created_at").values_list("pk", flat=True)[:at_most])
        )
    return expired.delete()[0]


def purge_now_and_then(*, at: datetime) -> None:
    """A bounded purge once an hour per process, and soon again while there is more; call it outside a transaction."""
    global _next_purge
    moment = time.monotonic()
    if moment >= _next_purge:
        _next_purge = moment + PURGE_EVERY_SECONDS
        try:
            if purge(at=at, at_most=PURGE_AT_MOST) == PURGE_AT_MOST:
                _next_purge = moment + 1
        except DatabaseError:  # the answer is given already: housekeeping may fail, and is tried again
            logger.warning("expired answers were not purged", exc_info=True)
