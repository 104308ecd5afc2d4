"""The one family of refusals (contract 1).

A service raises one of these; one table in ``shared.http`` turns it into an answer. ``details`` is JSON-ready
and says where (a JSON pointer) and what else the caller needs to mend the call.
"""

from typing import Any, ClassVar


class ChiefError(Exception):
    """A refusal with a stable ``code``, a sentence for people and optional JSON ``details``."""

    code: ClassVar[str] = "internal"
    status: ClassVar[int] = 500

    def __init__(self, message: str, **details: Any) -> None:
        super().__init__(message)
        self.message = message
        self.details = details


class ValidationFailed(ChiefError):
    """The document or a field is malformed, whatever the moment."""

    code = "validation_failed"
    status = 422


class NotFound(ChiefError):
    """Nothing has that id."""

    code = "not_found"
    status = 404


class InvalidTransition(ChiefError):
    """A legal document at the wrong moment: the status forbids it."""

    code = "invalid_transition"
    status = 409


class InvariantViolation(ChiefError):
    """A rule other than the status forbids it."""

    code = "invariant_violation"
    status = 409


class Conflict(ChiefError):
    """An id or index in use, an idempotency key used otherwise, a sibling run in the way."""

    code = "conflict"
    status = 409


class Unauthenticated(ChiefError):
    """No principal, or a credential that is not valid (any more)."""

    code = "unauthenticated"
    status = 401


class Forbidden(ChiefError):
    """The principal is known and may not do this."""

    code = "forbidden"
    status = 403


class PreconditionFailed(ChiefError):
    """``If-Match``, ``revision`` or ``based_on`` names a state that is no longer the newest."""

    code = "precondition_failed"
    status = 412


class TooLarge(ChiefError):
    """The body is over the configured size."""

    code = "too_large"
    status = 413


class RateLimited(ChiefError):
    """Too many tries in too short a time."""

    code = "rate_limited"
    status = 429


class Unavailable(ChiefError):
    """The database can't be reached, or is not migrated."""

    code = "unavailable"
    status = 503
