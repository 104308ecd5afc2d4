"""The look and the word of every state that a page tells: icon, word and colour together, never one alone."""

from __future__ import annotations

from typing import NamedTuple

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy


class Look(NamedTuple):
    name: str  # of the class: ``state--NAME``
    icon: str
    word: str


_LOOKS: dict[str, tuple[str, str, str | Promise]] = {
    "pending": ("pending", "pending", gettext_lazy("Pending")),
    "running": ("running", "running", gettext_lazy("Running")),
    "completed": ("completed", "completed", gettext_lazy("Completed")),
    "failed": ("failed", "failed", gettext_lazy("Failed")),
    "skipped": ("skipped", "skipped", gettext_lazy("Skipped")),
    "stale": ("stale", "stale", pgettext_lazy("state", "Stale")),
    "cancelled": ("cancelled", "cancelled", gettext_lazy("Cancelled")),
    "waiting": ("waiting", "waiting", gettext_lazy("Waiting")),
    # A step is blocked by nothing but a person's answer.
    "blocked": ("waiting", "waiting", gettext_lazy("Waiting")),
    "waiting_on_human": ("waiting", "waiting", gettext_lazy("Waiting for a person")),
    "paused": ("waiting", "paused", gettext_lazy("Paused")),
    "paused_for_approval": ("waiting", "paused", gettext_lazy("Paused for approval")),
    "draft": ("draft", "draft", pgettext_lazy("state", "Draft")),
    "sent_back": ("sent_back", "replay", gettext_lazy("Sent back")),
    "approved": ("approved", "approved", gettext_lazy("Approved")),
    "archived": ("archived", "archived", gettext_lazy("Archived")),
    "rejected": ("cancelled", "x", gettext_lazy("Rejected")),
    "withdrawn": ("cancelled", "cancelled", gettext_lazy("Withdrawn")),
    "answered": ("completed", "completed", gettext_lazy("Answered")),
    "open": ("waiting", "waiting", pgettext_lazy("state", "Open")),
    "closed": ("cancelled", "cancelled", pgettext_lazy("state", "Closed")),
    "resolved": ("completed", "completed", gettext_lazy("Resolved")),
    "expected": ("pending", "pending", gettext_lazy("Expected")),
}  # fmt: skip


def look(code: str) -> Look:
    """Of a state's code; one that is not known is shown by its own name."""
    name, icon, word = _LOOKS.get(code) or ("pending", "info", code.replace("_", " ").capitalize())
    return Look(name, icon, str(word))


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
