"""The look and the word of every state that a page tells: icon, word and colour together, never one alone."""

from __future__ import annotations

from typing import NamedTuple

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy


class Look(NamedTuple):
    name: str  # of the class: ``state--NAME``
    icon: str
    word: str  # lazily translated


_LOOKS = {
    "pending": Look("pending", "pending", gettext_lazy("Pending")),
    "running": Look("running", "running", gettext_lazy("Running")),
    "completed": Look("completed", "completed", gettext_lazy("Completed")),
    "failed": Look("failed", "failed", gettext_lazy("Failed")),
    "skipped": Look("skipped", "skipped", gettext_lazy("Skipped")),
    "stale": Look("stale", "stale", pgettext_lazy("state", "Stale")),
    "cancelled": Look("cancelled", "cancelled", gettext_lazy("Cancelled")),
    "waiting": Look("waiting", "waiting", gettext_lazy("Waiting")),
    # A step is blocked by nothing but a person's answer.
    "blocked": Look("waiting", "waiting", gettext_lazy("Waiting")),
    "waiting_on_human": Look("waiting", "waiting", gettext_lazy("Waiting for a person")),
    "paused": Look("waiting", "paused", gettext_lazy("Paused")),
    "paused_for_approval": Look("waiting", "paused", gettext_lazy("Paused for approval")),
    "draft": Look("draft", "draft", pgettext_lazy("state", "Draft")),
    "sent_back": Look("sent_back", "replay", gettext_lazy("Sent back")),
    "approved": Look("approved", "approved", gettext_lazy("Approved")),
    "archived": Look("archived", "archived", gettext_lazy("Archived")),
    "rejected": Look("cancelled", "x", gettext_lazy("Rejected")),
    "withdrawn": Look("cancelled", "cancelled", gettext_lazy("Withdrawn")),
    "answered": Look("completed", "completed", gettext_lazy("Answered")),
    "open": Look("waiting", "waiting", pgettext_lazy("state", "Open")),
    "closed": Look("cancelled", "cancelled", pgettext_lazy("state", "Closed")),
    "resolved": Look("completed", "completed", gettext_lazy("Resolved")),
    "expected": Look("pending", "pending", gettext_lazy("Expected")),
}  # fmt: skip


def look(code: str) -> Look:
    """Of a state's code; one that is not known is shown by its own name."""
    return _LOOKS.get(code) or Look("pending", "info", str(code).replace("_", " ").capitalize())


# What a gauge tells, in its order, and how a count of each is said.
GAUGE = ("completed", "running", "failed", "waiting", "skipped", "pending")


def counted(state: str, count: int) -> str:
    """``197 completed``: one state of ``GAUGE`` and how many there are."""
    said = {
        "completed": _("%(count)d completed"),
        "running": _("%(count)d running"),
        "failed": _("%(count)d failed"),
        "waiting": _("%(count)d waiting"),
        "skipped": _("%(count)d skipped"),
        "pending": _("%(count)d pending"),
    }
    return said[state] % {"count": count}
