"""The time, as Chief tells it: UTC, whole milliseconds (contract 1)."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime

_told: ContextVar[datetime | None] = ContextVar("told", default=None)


def now() -> datetime:
    """The present, cut to the millisecond, so that what is stored is what is answered."""
    return _cut(_told.get() or datetime.now(UTC))


@contextmanager
def telling(moment: datetime) -> Iterator[None]:
    """Within the block, ``moment`` is the present. For the demo alone, whose work lies days back."""
    before = _told.set(moment)
    try:
        yield
    finally:
        _told.reset(before)


def iso(moment: datetime) -> str:
    """ISO 8601 in UTC with milliseconds and ``Z``."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _cut(moment: datetime) -> datetime:
    return moment.replace(microsecond=moment.microsecond // 1000 * 1000)
