"""What the drawing says in words, in the reader's language."""

from collections.abc import Sequence

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop, ngettext

STATES = ("waiting", "failed", "running", "pending", "skipped", "completed")
"""What is looked at first stands first."""

TOLD = ("completed", "running", "waiting", "failed", "skipped", "pending")
"""The order in which counts are told."""

_WORDS = {
    "pending": gettext_noop("Pending"),
    "running": gettext_noop("Running"),
    "waiting": gettext_noop("Waiting for you"),
    "completed": gettext_noop("Completed"),
    "failed": gettext_noop("Failed"),
    "skipped": gettext_noop("Skipped"),
    "stale": gettext_noop("Stale"),
}
_COUNTED = {
    "pending": gettext_noop("pending"),
    "running": gettext_noop("running"),
    "waiting": gettext_noop("waiting for you"),
    "completed": gettext_noop("completed"),
    "failed": gettext_noop("failed"),
    "skipped": gettext_noop("skipped"),
}


def state_word(state: str) -> str:
    """A state as a box says it."""
    return _(_WORDS[state])


def counted_word(state: str) -> str:
    """A state after its count: "14 running"."""
    return _(_COUNTED[state])


def steps_word(count: int) -> str:
    """So many steps."""
    return ngettext("%(count)s step", "%(count)s steps", count) % {"count": f"{count:,}"}


def facts_word(count: int) -> str:
    """How much metadata there is."""
    return ngettext("%(count)s fact", "%(count)s facts", count) % {"count": count}


def notes_word(count: int) -> str:
    """How many open notes there are."""
    return ngettext("%(count)s open note", "%(count)s open notes", count) % {"count": count}


def iterations_word(count: int) -> str:
    """How often a loop ran."""
    return ngettext("%(count)s iteration", "%(count)s iterations", count) % {"count": count}


def branches_word(count: int, names: Sequence[str]) -> str:
    """What a parallel's total counts: "branches, by ref"."""
    if names:
        return ngettext("branch, by %(names)s", "branches, by %(names)s", count) % {"names": ", ".join(names)}
    return ngettext("branch", "branches", count)


def waits_word(count: int) -> str:
    """How many wait for a person inside a construct."""
    return ngettext("%(count)s waits for you", "%(count)s wait for you", count) % {"count": count}


def waiting_on(run_id: str) -> str:
    """A step that is done by another run."""
    return _("Waiting on %(run)s") % {"run": run_id}


def with_failures(word: str, count: int) -> str:
    """A state with the failures it tolerated."""
    return _("%(state)s, %(count)s failed") % {"state": word, "count": count}


def change_word(kind: str, fields: frozenset[str]) -> str:
    """What an amendment does to a step, in a word or two."""
    if kind == "added":
        return _("Added")
    if kind == "removed":
        return _("Removed")
    if "goal" in fields:
        return _("Reworded")
    if "criteria" in fields:
        return _("Criteria changed")
    if "depends_on" in fields:
        return _("Waits differently")
    return _("Changed")


def again_word() -> str:
    """A step that is done once more."""
    return _("Runs again")


def amendment_label(kinds: Sequence[str], again: int) -> str:
    """What the drawing of an amendment shows, for whoever hears it."""
    return _(
        "Plan graph with the proposed changes: %(added)s added, %(changed)s changed, %(removed)s removed, %(again)s run"
        " again"
    ) % {
        "added": kinds.count("added"),
        "changed": kinds.count("changed"),
        "removed": kinds.count("removed"),
        "again": again,
    }


def more_word(count: int) -> str:
    """What isn't named."""
    return ngettext("and %(count)s more", "and %(count)s more", count) % {"count": f"{count:,}"}


def lane_per(names: Sequence[str]) -> str:
    """How many lanes a parallel will have."""
    if names:
        return _("one lane per %(names)s") % {"names": ", ".join(names)}
    return _("one lane per branch")


def again_until(condition: str | None) -> str:
    """A loop's return edge."""
    return _("again until %(condition)s") % {"condition": condition} if condition else _("again")


def folded_note(level: str, boxes: int, hidden: int) -> str | None:
    """A sentence that says what was folded, or None."""
    if not hidden:
        return None
    how = {
        "many alike": _("Steps that stand alike share a box."),
        "alike": _("Steps that stand alike share a box."),
        "group": _("Steps that stand alike, and steps of one group, share a box."),
        "outer group": _("Steps that stand alike, and steps of one group, share a box."),
        "closed": _("Steps that stand alike or in one group share a box; loops and parallels are closed."),
        "band": _("Steps that follow one another are folded by rank."),
        "rank": _("Steps are folded by rank."),
    }.get(level, _("Steps are folded by rank and by the first words of their goals."))
    shown = ngettext("%(boxes)s box.", "%(boxes)s boxes.", boxes) % {"boxes": boxes}
    told = ngettext("%(count)s step is folded.", "%(count)s steps are folded.", hidden) % {
        "count": f"{hidden:,}"
    }
    return f"{how} {told} {shown} " + _("Open a box to see its steps.")
