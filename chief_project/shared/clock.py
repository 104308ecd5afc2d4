"""The time, as Chief tells it: UTC, whole milliseconds (contract 1)."""

from datetime import UTC, datetime


def now() -> datetime:
    """The present, cut to the millisecond, so that what is stored is what is answered."""
    moment = datetime.now(UTC)
    return moment.replace(microsecond=moment.microsecond // 1000 * 1000)


def iso(moment: datetime) -> str:
    """ISO 8601 in UTC with milliseconds and ``Z``."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
