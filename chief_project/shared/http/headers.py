"""What request headers mean: ``If-Match``, ``If-None-Match``, ``Prefer``, ``Accept``, ``Idempotency-Key``."""

import re

from rest_framework.exceptions import NotAcceptable

from chief_project.shared.errors import PreconditionFailed, ValidationFailed

_TAG = re.compile(r'\s*(?:W/)?"([^"]*)"\s*')
_PLAIN_ACCEPT = frozenset({"", "*/*", "application/json", "application/json, */*", "application/*"})
JSON = "application/json"
EVENTS = "text/event-stream"
_HOW = 'use the ETag of the newest answer, such as "12"'


def entity_tag(number: int) -> str:
    """The ``ETag`` of revision ``number``."""
    return f'"{number}"'


def _tags(header: str) -> list[str] | None:
    """The tags of a list without their quotes, weak ones too (proxies weaken them); ``None`` if it isn't a list."""
    tags = []
    at = 0
    while True:
        match = _TAG.match(header, at)
        if match is None:
            return None
        tags.append(match[1])
        at = match.end()
        if at == len(header):
            return tags
        if header[at] != ",":
            return None
        at += 1


def if_match(header: str | None) -> int | None:
    """The revision that ``If-Match`` demands; ``None`` without one, or for ``*`` (that it exists is enough).

    Raises ``ValidationFailed`` for a header that isn't a list of tags or names several revisions, and
    ``PreconditionFailed`` for tags that no revision ever had.
    """
    if header is None or header.strip() == "*":
        return None
    tags = _tags(header)
    if tags is None:
        raise ValidationFailed(f"If-Match {header[:80]!r} is not an entity tag: {_HOW}", header="If-Match")
    numbers = {int(tag) for tag in tags if tag.isascii() and tag.isdigit() and len(tag) < 19}
    if not numbers:
        raise PreconditionFailed(f"If-Match {header[:80]!r} names no revision: {_HOW}", header="If-Match")
    if len(numbers) > 1:
        raise ValidationFailed(f"If-Match names several revisions: {_HOW}", header="If-Match")
    return numbers.pop()


def none_match(header: str | None, number: int) -> bool:
    """Whether ``If-None-Match`` says that the client holds revision ``number`` already."""
    if header is None:
        return False
    if header.strip() == "*":
        return True
    return str(number) in (_tags(header) or ())


def prefers_minimal(header: str | None) -> bool:
    """Whether ``Prefer`` asks for ``return=minimal``."""
    if not header:
        return False
    if header == "return=minimal":
        return True
    wishes = [wish.split(";")[0].replace(" ", "").replace('"', "").lower() for wish in header.split(",")]
    return next((wish for wish in wishes if wish.startswith("return=")), "") == "return=minimal"


def must_accept(header: str | None, offered: str = JSON) -> None:
    """Raise ``NotAcceptable`` if ``Accept`` rules ``offered`` out. Unreadable entries count for nothing."""
    if header is None or (offered == JSON and header in _PLAIN_ACCEPT):
        return
    ranges = {offered: 2, f"{offered.partition('/')[0]}/*": 1, "*/*": 0}
    best: tuple[int, float] = (-1, 0.0)
    for entry in header.split(","):
        kind, *parameters = (part.strip().lower() for part in entry.split(";"))
        closeness = ranges.get(kind, -1)
        quality = 1.0
        for parameter in parameters:
            if parameter.startswith("q="):
                try:
                    quality = float(parameter[2:])
                except ValueError:
                    quality = 0.0
        if closeness > best[0]:
            best = (closeness, quality)
    if not (best[0] >= 0 and best[1] > 0):
        raise NotAcceptable(f"only {offered} is offered here: accept that, or */*")


def idempotency_key(header: str | None) -> str | None:
    """The key, if one was sent; raises ``ValidationFailed`` unless it is 1 to 200 printable ASCII characters."""
    if header is None:
        return None
    if not (1 <= len(header) <= 200 and header.isascii() and header.isprintable() and header.strip()):
        raise ValidationFailed(
            "Idempotency-Key must be 1 to 200 printable ASCII characters: a random UUID is a good one",
            header="Idempotency-Key",
        )
    return header
