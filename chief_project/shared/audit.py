"""The append-only log, chained per stream (contract 8).

``compose`` is pure and makes an entry; ``record`` writes one and moves the head of its stream. Services are the only
callers. A stream's head is a row that the operation has locked anyway (its run or its workflow), so writers of
different runs never wait for each other.
"""

import hashlib
import json
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any

from django.db import connection

from chief_project.shared import rows
from chief_project.shared.caller import Caller
from chief_project.shared.clock import iso
from chief_project.shared.models import AuditedRow, AuditEntry, AuditStream

REST_STREAM = "rest"


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry before it is a row. ``text`` is canonical: sorted keys, UTF-8, numbers as received."""

    stream: str
    position: int
    at: datetime
    event: str
    workflow_id: str | None
    run_id: str | None
    amendment_id: str | None
    actor: str
    via: str
    text: str
    prev_hash: str
    hash: str


def stream_name(*, workflow_id: str | None, run_id: str | None) -> str:
    """Where an entry belongs: its run's stream, else its workflow's, else the rest."""
    if run_id is not None:
        return f"run:{run_id}"
    return REST_STREAM if workflow_id is None else f"workflow:{workflow_id}"


def chain_hash(prev_hash: str, text: str) -> str:
    """SHA-256, in hex, over the previous hash and the entry's text."""
    return hashlib.sha256(prev_hash.encode() + text.encode()).hexdigest()


def compose(
    *,
    caller: Caller,
    event: str,
    at: datetime,
    detail: dict[str, Any],
    head: tuple[int, str],
    workflow_id: str | None = None,
    run_id: str | None = None,
    amendment_id: str | None = None,
    stream: str | None = None,
) -> Entry:
    """The entry that follows ``head`` (length of the stream, its last hash). ``detail.via`` names the door too."""
    length, prev_hash = head
    body = {
        "actor": caller.actor,
        "amendment_id": amendment_id,
        "at": iso(at),
        "detail": detail | {"via": caller.via},
        "event": event,
        "run_id": run_id,
        "via": caller.via,
        "workflow_id": workflow_id,
    }
    text = json.dumps(body, sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=_plain)
    return Entry(
        stream=stream or stream_name(workflow_id=workflow_id, run_id=run_id),
        position=length + 1,
        at=at,
        event=event,
        workflow_id=workflow_id,
        run_id=run_id,
        amendment_id=amendment_id,
        actor=caller.actor,
        via=caller.via,
        text=text,
        prev_hash=prev_hash,
        hash=chain_hash(prev_hash, text),
    )


def record(
    *,
    caller: Caller,
    event: str,
    at: datetime,
    detail: dict[str, Any],
    head: AuditedRow | None = None,
    workflow_id: str | None = None,
    run_id: str | None = None,
    amendment_id: str | None = None,
) -> None:
    """Append an entry and move its stream's head.

    ``head`` is the locked ``Run`` (for an entry with a ``run_id``) or ``Workflow``; ``None`` means the rest, whose
    head is locked here. Must run inside the operation's transaction.
    """
    stream = None
    if head is None:
        head = lock_rest()
        stream = REST_STREAM
    entry = compose(
        caller=caller,
        event=event,
        at=at,
        detail=detail,
        head=(head.audit_length, head.audit_hash),
        workflow_id=workflow_id,
        run_id=run_id,
        amendment_id=amendment_id,
        stream=stream,
    )
    rows.insert(AuditEntry(**{name: getattr(entry, name) for name in Entry.__slots__}))
    head.audit_length, head.audit_hash = entry.position, entry.hash
    with connection.cursor() as cursor:
        cursor.execute(_move_head(type(head)), [entry.position, entry.hash, head.pk])


@cache
def _move_head(kind: type[AuditedRow]) -> str:
    table, key = kind._meta.db_table, kind._meta.pk.column
    return f'UPDATE "{table}" SET audit_length = %s, audit_hash = %s WHERE "{key}" = %s'  # noqa: S608 - our own names


def lock_rest() -> AuditStream:
    """Lock and return the head of the rest. Early in an operation, it makes others of its kind wait their turn."""
    AuditStream.objects.get_or_create(name=REST_STREAM)
    return AuditStream.objects.select_for_update().get(name=REST_STREAM)


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return iso(value)
    if isinstance(value, set | frozenset | tuple):
        return sorted(value)
    raise TypeError(f"{type(value).__name__} can't stand in the audit log")
