"""Secrets that are shown once: how they are made, recognised and kept (contract 9).

256 random bits can't be guessed, so a plain SHA-256 is enough to keep them by, and finding one by its digest tells
an observer of the time nothing about any other.
"""

import hashlib
import re
import secrets

TOKEN_PREFIX = "chf_"  # noqa: S105 - what every token begins with, so that scanners and people recognise one
SHOWN_LENGTH = 12  # how much of a token is kept for display: `chf_` and 8 of its 64 digits
_TOKEN = re.compile(r"chf_[0-9a-f]{64}", re.ASCII)


def new_token() -> str:
    """An API token: ``chf_`` and 256 random bits in hex."""
    return TOKEN_PREFIX + secrets.token_hex(32)


def looks_like_token(text: str) -> bool:
    """Whether ``text`` has a token's shape; says nothing about its being known."""
    return _TOKEN.fullmatch(text) is not None


def new_link_secret() -> str:
    """The secret of a one-time sign-in link: 256 random bits that stand in a URL as they are."""
    return secrets.token_hex(32)


def digest(secret: str) -> str:
    """What is stored instead of the secret: SHA-256 in hex."""
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()
