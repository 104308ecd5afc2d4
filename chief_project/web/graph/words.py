"""What the drawing says in words, in the reader's language."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.formats import number_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop, ngettext

from chief_project.shared.text.states import look

STATES = ("waiting", "failed", "running", "pending", "skipped", "completed")
"""What is looked at first stands first."""

TOLD = ("completed", "running", "waiting", "failed", "skipped", "pending")
"""The order in which counts are told."""


@dataclass(frozen=True, slots=True)
class Voice:
    """How states are told to one reader: ``yours`` says whether what waits for a person waits for this one."""

    yours: bool

    def state(self, state: str) -> str:
        """As a box says it."""
        if state == "waiting":
            return _("Waiting for you") if self.yours else look("waiting_on_human").word
        return look(state).word

    def counted(self, state: str) -> str:
        """After its count: "14 running"."""
        if state == "waiting":
            return _("waiting for you") if self.yours else _("waiting for a person")
        return _(_COUNTED.get(state, state))

    def inside(self, count: int) -> str:
        """How many wait for a person inside a construct."""
        if self.yours:
            said = ngettext("%(count)s waits for you", "%(count)s wait for you", count)
        else:
            said = ngettext("%(count)s waits for a person", "%(count)s wait for a person", count)
        return said % {"count": count}


_COUNTED = {
    "pending": gettext_noop("pending"),
    "running": gettext_noop("running"),
    "completed": gettext_noop("completed"),
    "failed": gettext_noop("failed"),
    "skipped": gettext_noop("skipped"),
}


def number(count: int) -> str:
    """``12,304``, or as the reader's language writes it."""
    return number_format(count, use_l10n=True, force_grouping=True)


def steps_word(count: int) -> str:
    """So many steps."""
    return ngettext("%(count)s step", "%(count)s steps", count) % {"count": number(count)}


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
    return ngettext("and %(count)s more", "and %(count)s more", count) % {"count": number(count)}


def lane_per(names: Sequence[str]) -> str:
    """How many lanes a parallel will have."""
    if names:
        return _("one lane per %(names)s") % {"names": ", ".join(names)}
    return _("one lane per branch")


def again_until(condition: str | None) -> str:
    """A loop's return edge."""
    return _("again until %(condition)s") % {"condition": condition} if condition else _("again")


def note(level: str, boxes: int, hidden: int, implied: int) -> str | None:
    """What the drawing leaves out, in a sentence or a few; None where it leaves out nothing."""
    said = []
    if hidden:
        said += [
            _HOW.get(level, _by_words)(),
            ngettext("%(count)s step is folded.", "%(count)s steps are folded.", hidden)
            % {"count": number(hidden)},
            ngettext("%(boxes)s box is drawn.", "%(boxes)s boxes are drawn.", boxes) % {"boxes": boxes},
            _("Open a box to see its steps."),
        ]
    if implied:
        said.append(_("Dependencies that others imply have no line here; a step lists all of its own."))
    return " ".join(said) or None


def _alike() -> str:
    return _("Steps that stand alike share a box.")


def _by_group() -> str:
    return _("Steps that stand alike, and steps of one group, share a box.")


def _closed() -> str:
    return _("Steps that stand alike or in one group share a box; loops and parallels are closed.")


def _by_words() -> str:
    return _("Steps are folded by rank and by the first words of their goals.")


def _by_rank() -> str:
    return _("Steps that follow one another are folded by rank.")


_HOW = {
    "many alike": _alike,
    "alike": _alike,
    "group": _by_group,
    "outer group": _by_group,
    "closed": _closed,
    "band": _by_rank,
    "rank": _by_rank,
}
