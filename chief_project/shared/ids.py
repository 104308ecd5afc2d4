"""Identifiers: what a client may choose, and what Chief mints (contract 1)."""

import re
import secrets

from chief_project.shared.errors import ValidationFailed

MAX_LENGTH = 200
_ALLOWED = re.compile(r"[A-Za-z0-9_.:-]{1,200}", re.ASCII)


def is_valid(value: str) -> bool:
    """True for 1 to 200 ASCII letters, digits, ``_ - . :``, but not ``.`` and ``..`` (they vanish from URLs)."""
    return _ALLOWED.fullmatch(value) is not None and value not in {".", ".."}


def check(value: str, *, field: str) -> str:
    """Return ``value``; raise ``ValidationFailed`` that names ``field`` when it can't be an id."""
    if not is_valid(value):
        raise ValidationFailed(
            f"{field} {value[:80]!r} is not an id: use 1 to {MAX_LENGTH} ASCII letters, digits, '_', '-', '.' or ':'"
            " (not '.' or '..' alone)",
            pointer=f"/{field}",
        )
    return value


def mint(prefix: str) -> str:
    """A new id such as ``run_k3J…``: the prefix and a token of 96 random bits."""
    # token_urlsafe may begin with '-' or '_'; hex keeps ids easy to select with a double click and to read aloud.
    return f"{prefix}_{secrets.token_hex(12)}"
