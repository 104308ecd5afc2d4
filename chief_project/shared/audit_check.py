"""Whether the audit log is whole: every stream from its first entry to its head (contract 8).

A broken link is something that was changed, put in, moved or cut out behind Chief's back. What stays hidden is only
what a forger recomputed to the end, or took out whole, head included; whoever keeps a copy of the heads elsewhere
finds that too.

A check whose time is up answers its ``Place``, and another goes on from there. What the two have proven together: every
stream that there was when the first began was whole as it stood when its turn came, and followed on from what had been
read of it before. Entries that were added to a stream after its turn, and streams that are newer, may be unread. The
rest has its turn last: deletions in it vouch for the streams that they closed.
"""

import json
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import chain, islice
from time import monotonic
from typing import Any, NamedTuple

from django.db.models import CharField, Exists, F, OuterRef, QuerySet, Value
from django.db.models.functions import Concat

from chief_project.shared.audit import REST_STREAM, chain_hash, stream_name
from chief_project.shared.clock import iso, now
from chief_project.shared.models import AuditedRow, AuditEntry, AuditStream
from chief_project.shared.reading import one_moment

CHUNK = 1000  # streams and rows are looked at in chunks, so memory stays flat however long the log is
_LOOK = 100  # entries between two looks at the clock
_COLUMNS = ("event", "workflow_id", "run_id", "amendment_id", "actor", "via")


@dataclass(frozen=True, slots=True)
class Heads:
    """A table whose rows head streams called ``prefix`` and the value of ``field``."""

    model: type[AuditedRow]
    prefix: str
    field: str


REST_HEADS = Heads(model=AuditStream, prefix="", field="name")


class Place(NamedTuple):
    """Where a check stopped: the last entry that it read, how much it had read by then, and what there was to read (and
    when) as it began.
    """

    stream: str
    position: int
    hash: str
    workflow_id: str | None
    streams: int
    entries: int
    total: int
    began_at: datetime


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a check found: how much was read from its beginning on, and the first broken link in words, if there is one.

    With a ``place`` its time was up there, and what it had read until then was whole; ``total`` is how many entries
    there were when it began, and is counted only for a check that may stop.
    """

    streams: int
    entries: int
    total: int
    began_at: datetime
    ended_at: datetime
    broken: str | None = None
    place: Place | None = None

    @property
    def finished(self) -> bool:
        """Whether everything was read that there was to read, or that doesn't matter any more."""
        return self.place is None


class _End(NamedTuple):
    """Where a stream's entries end, as far as they were read."""

    stream: str
    length: int
    hash: str
    workflow_id: str | None


class _Broken(Exception):
    """The first broken link; caught below and nowhere else."""


def check_audit(
    *,
    heads: Iterable[Heads],
    streams: Collection[str] | None = None,
    seconds: float | None = None,
    after: Place | None = None,
) -> Verdict:
    """Check every stream, or those named, as of one moment, for at most about ``seconds``; ``after`` goes on from there.

    ``heads`` are the tables beside ``REST_HEADS`` whose rows head streams. A stream that was cut out whole is found
    where all are checked, or where it is named.
    """
    tables = [REST_HEADS, *heads]
    broken = None
    with one_moment():
        at = now()
        walk = _Walk(streams, after, at, None if seconds is None else monotonic() + seconds)
        ends = walk.ends()
        try:
            while part := list(islice(ends, CHUNK)):
                _check_ends(part, tables)
            if walk.place is None:
                _check_without_entries(streams, tables)
        except _Broken as problem:
            broken = str(problem)
    return Verdict(
        streams=walk.streams,
        entries=walk.entries,
        total=walk.total,
        began_at=walk.began_at,
        ended_at=at,
        broken=broken,
        place=walk.place if broken is None else None,
    )


class _Walk:
    """Through the entries, stream by stream, each checked against the one before it.

    ``place`` is set where the time is up, which is looked at between entries and not before the first: it always gets somewhere.
    """

    def __init__(
        self, streams: Collection[str] | None, after: Place | None, at: datetime, give_up: float | None
    ) -> None:
        self._rows = AuditEntry.objects.order_by("stream", "position").values(
            "stream", "position", "at", "text", "prev_hash", "hash", *_COLUMNS
        )
        if streams is not None:
            self._rows = self._rows.filter(stream__in=streams)
        self._after = after
        self._give_up = give_up
        self.place: Place | None = None
        self.streams, self.entries = (after.streams, after.entries) if after else (0, 0)
        self.began_at = after.began_at if after else at
        self.total = after.total if after else 0 if give_up is None else self._rows.count()

    def ends(self) -> Iterator[_End]:
        """Where each stream ends; of the one where the time is up, nothing yet."""
        after, end = self._after, None
        named = self._rows.exclude(stream=REST_STREAM)
        rest = self._rows.filter(stream=REST_STREAM)
        parts = [named, rest]
        if after is not None:
            end = _End(after.stream, after.position, after.hash, after.workflow_id)
            parts = [self._rows.filter(stream=after.stream, position__gt=after.position)]
            if after.stream != REST_STREAM:
                parts += [named.filter(stream__gt=after.stream), rest]
        rows = chain.from_iterable(part.iterator(chunk_size=CHUNK) for part in parts)
        for read, row in enumerate(rows):
            if (
                end
                and read
                and read % _LOOK == 0
                and self._give_up is not None
                and monotonic() > self._give_up
            ):
                self.place = Place(*end, self.streams, self.entries, self.total, self.began_at)
                return
            if end is not None and row["stream"] != end.stream:
                yield end
                end = None
            if end is None:
                self.streams += 1
                end = _End(row["stream"], 0, "", row["workflow_id"])
            self.entries += 1
            end = _check_entry(row, end)
        if end is not None:
            yield end


def _check_entry(row: dict[str, Any], before: _End) -> _End:
    where = f"{row['stream']}#{row['position']}"
    if row["position"] != before.length + 1:
        raise _Broken(
            f"{row['stream']}#{before.length + 1} is missing: the next entry there is #{row['position']}"
        )
    if row["prev_hash"] != before.hash:
        raise _Broken(f"{where} doesn't follow the entry before it: its prev_hash is another's")
    if row["hash"] != chain_hash(row["prev_hash"], row["text"]):
        raise _Broken(f"{where} was changed: its text doesn't give its hash")
    try:
        body = json.loads(row["text"])
        said = {name: body[name] for name in _COLUMNS} | {"at": body["at"]}
    except (ValueError, KeyError, TypeError):
        raise _Broken(f"{where} has a text that isn't an entry") from None
    for name, value in said.items():
        kept = iso(row["at"]) if name == "at" else row[name]
        if kept != value:
            raise _Broken(
                f"{where} was changed: its column {name} says {str(kept)[:80]!r}, its text {str(value)[:80]!r}"
            )
    if row["stream"] not in (
        REST_STREAM,
        stream_name(workflow_id=body["workflow_id"], run_id=body["run_id"]),
    ):
        raise _Broken(f"{where} stands in a stream that isn't its own")
    return _End(row["stream"], row["position"], row["hash"], row["workflow_id"])


def _check_ends(ends: list[_End], tables: list[Heads]) -> None:
    """Each stream's end must be its head's, or be kept by the deletion that closed it."""
    heads = {name: state for table in tables for name, state in _heads_of(table, ends)}
    headless = [end for end in ends if end.stream not in heads]
    closed = _closed(headless)
    for end in ends:
        found = (end.length, end.hash)
        if end.stream in heads:
            if heads[end.stream] != found:
                raise _Broken(_differs(end.stream, heads[end.stream], end.length, "its head"))
        elif end.stream not in closed:
            raise _Broken(f"{end.stream} has no head: its row is gone, and no deletion in the log closed it")
        elif closed[end.stream] != found:
            raise _Broken(_differs(end.stream, closed[end.stream], end.length, "the deletion that closed it"))


def _differs(stream: str, wanted: tuple[int, str], length: int, who: str) -> str:
    if length < wanted[0]:
        return f"{stream}#{length + 1} is missing: {who} counts {wanted[0]} entries"
    if length > wanted[0]:
        return f"{stream}#{wanted[0] + 1} was added: {who} counts {wanted[0]} entries"
    return f"{stream}#{length} was changed: {who} has another hash"


def _heads_of(table: Heads, ends: list[_End]) -> Iterator[tuple[str, tuple[int, str]]]:
    keys = [end.stream.removeprefix(table.prefix) for end in ends if end.stream.startswith(table.prefix)]
    rows = table.model._default_manager.filter(**{f"{table.field}__in": keys})
    for key, length, last in rows.values_list(table.field, "audit_length", "audit_hash"):
        yield table.prefix + key, (length, last)


def _closed(ends: list[_End]) -> dict[str, tuple[int, str]]:
    """What deletions say of the streams they closed (``detail.streams``), for these streams."""
    workflow_ids = {end.workflow_id for end in ends if end.workflow_id is not None}
    deletions = AuditEntry.objects.filter(
        stream=REST_STREAM, event="workflow.deleted", workflow_id__in=workflow_ids
    )
    closed: dict[str, tuple[int, str]] = {}
    for text in deletions.values_list("text", flat=True).iterator(chunk_size=CHUNK):
        for name, state in json.loads(text)["detail"].get("streams", {}).items():
            closed[name] = (state["length"], state["hash"])
    return closed


def _check_without_entries(streams: Collection[str] | None, tables: list[Heads]) -> None:
    """A head that counts entries must have them: a stream that was cut out whole leaves no entry to start from."""
    if streams is not None:
        begun = AuditEntry.objects.filter(stream__in=streams, position=1).values_list("stream", flat=True)
        ends = [_End(name, 0, "", None) for name in set(streams) - set(begun)]
        for table in tables:
            for name, (length, _) in _heads_of(table, ends):
                if length > 0:
                    raise _Broken(f"{name}#1 is missing: its head counts {length} entries")
        return
    for table in tables:
        for key, length in _heads_without_entries(table).values_list(table.field, "audit_length")[:1]:
            raise _Broken(f"{table.prefix}{key}#1 is missing: its head counts {length} entries")
    for name, length in _deletions_without_entries():
        raise _Broken(f"{name}#1 is missing: the deletion that closed it counts {length} entries")


def _heads_without_entries(table: Heads) -> QuerySet[Any]:
    # Annotated first, so that the name is put together by the database, in its own type.
    name = Concat(Value(table.prefix), F(table.field), output_field=CharField())
    rows = table.model._default_manager.filter(audit_length__gt=0).annotate(stream_of_it=name)
    entries = AuditEntry.objects.filter(stream=OuterRef("stream_of_it"), position=1)
    return rows.exclude(Exists(entries)).order_by("pk")


def _deletions_without_entries() -> Iterator[tuple[str, int]]:
    deletions = AuditEntry.objects.filter(stream=REST_STREAM, event="workflow.deleted").order_by("position")
    for text in deletions.values_list("text", flat=True).iterator(chunk_size=CHUNK):
        streams = json.loads(text)["detail"].get("streams", {})
        wanted = {name: state["length"] for name, state in streams.items() if state["length"] > 0}
        names = list(wanted)
        there: set[str] = set()
        for start in range(0, len(names), CHUNK):
            part = names[start : start + CHUNK]
            there |= set(
                AuditEntry.objects.filter(stream__in=part, position=1).values_list("stream", flat=True)
            )
        for name in names:
            if name not in there:
                yield name, wanted[name]
