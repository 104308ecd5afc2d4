"""Counted changes in words, and the names of a step's parts: one place, so that every page says the same."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from django.utils.functional import Promise
from django.utils.html import conditional_escape, format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext, pgettext_lazy

from chief_project.shared.text.plain import breakable


class Phrase(NamedTuple):
    """``2 steps added``; ``look`` is ``add``, ``del`` or empty."""

    text: str
    look: str = ""


def phrases(counts: Mapping[str, int]) -> list[Phrase]:
    """What ``count_changes`` counted, each kind as a phrase, in its order."""
    return [
        Phrase(_said(kind, count), {"steps_added": "add", "steps_removed": "del"}.get(kind, ""))
        for kind, count in counts.items()
    ]


def _said(kind: str, n: int) -> str:
    said = {
        "steps_added": ngettext("%(n)d step added", "%(n)d steps added", n),
        "steps_removed": ngettext("%(n)d step removed", "%(n)d steps removed", n),
        "titles": _("title changed"),
        "goals": ngettext("%(n)d goal reworded", "%(n)d goals reworded", n),
        "criteria_added": ngettext("%(n)d criterion added", "%(n)d criteria added", n),
        "criteria_removed": ngettext("%(n)d criterion removed", "%(n)d criteria removed", n),
        "criteria_reworded": ngettext("%(n)d criterion reworded", "%(n)d criteria reworded", n),
        "criteria_moved": ngettext(
            "criteria of %(n)d step in another order", "criteria of %(n)d steps in another order", n
        ),
        "dependencies": ngettext("%(n)d step rewired", "%(n)d steps rewired", n),
        "bodies": ngettext("%(n)d body changed", "%(n)d bodies changed", n),
        "types": ngettext("%(n)d type changed", "%(n)d types changed", n),
        "inputs": ngettext("inputs of %(n)d step changed", "inputs of %(n)d steps changed", n),
        "outputs": ngettext("outputs of %(n)d step changed", "outputs of %(n)d steps changed", n),
        "harnesses": ngettext("%(n)d step given to another", "%(n)d steps given to another", n),
        "exits": ngettext("%(n)d end of a loop changed", "%(n)d ends of loops changed", n),
        "failure_rules": ngettext("%(n)d rule for failures changed", "%(n)d rules for failures changed", n),
        "parameters": ngettext("parameters of %(n)d step changed", "parameters of %(n)d steps changed", n),
        "fields": ngettext("questions of %(n)d checkpoint changed", "questions of %(n)d checkpoints changed", n),
        "groups": ngettext("%(n)d group changed", "%(n)d groups changed", n),
    }  # fmt: skip
    return said[kind] % {"n": n}


LABELS: dict[str, Promise] = {
    "title": gettext_lazy("Title"),
    "goal": gettext_lazy("Goal"),
    "type": gettext_lazy("Type"),
    "depends_on": gettext_lazy("Waits for"),
    "then": pgettext_lazy("what comes after a step", "Then"),
    "harness": gettext_lazy("Done by"),
    "criteria": gettext_lazy("Criteria"),
    "inputs": gettext_lazy("Inputs"),
    "outputs": gettext_lazy("Outputs"),
    "body": gettext_lazy("Body"),
    "exit_when": gettext_lazy("Again until"),
    "on_instance_failure": gettext_lazy("If one fails"),
    "instance_params": gettext_lazy("Parameters"),
    "fields": gettext_lazy("Asks for"),
    "group": gettext_lazy("Group"),
    "groups": gettext_lazy("Groups"),
}
"""The names of a step's parts, as labels."""

_INSIDE: dict[str, Promise] = {
    "goal": gettext_lazy("the goal"),
    "type": gettext_lazy("the type"),
    "depends_on": gettext_lazy("what it waits for"),
    "harness": gettext_lazy("who does it"),
    "criteria": gettext_lazy("the criteria"),
    "inputs": gettext_lazy("the inputs"),
    "outputs": gettext_lazy("the outputs"),
    "body": gettext_lazy("the body"),
    "exit_when": gettext_lazy("when it ends"),
    "on_instance_failure": gettext_lazy("what a failure means"),
    "instance_params": gettext_lazy("the parameters"),
    "fields": gettext_lazy("what it asks for"),
    "group": gettext_lazy("the group"),
}

TYPES: dict[str, Promise] = {
    "task": gettext_lazy("Task"),
    "loop": gettext_lazy("Loop"),
    "parallel": gettext_lazy("Parallel"),
    "checkpoint": gettext_lazy("Checkpoint"),
}

FAILURE_RULES: dict[str, Promise] = {
    "fail_fast": gettext_lazy("the whole fails"),
    "continue": gettext_lazy("the others go on"),
}


def what_changed(fields: Iterable[str]) -> str:
    """``the goal and the criteria``: names of fields as a diff has them, in the middle of a sentence."""
    return str(listed([str(_INSIDE.get(name, name)) for name in fields]))


def listed(things: Sequence[str]) -> SafeString:
    """``a, b and c`` as HTML; what isn't marked safe is escaped."""
    parts = [conditional_escape(each) for each in things]
    if len(parts) < 2:
        return mark_safe("".join(parts))  # noqa: S308 (every part was escaped)
    return format_html(_("{first} and {last}"), first=mark_safe(", ".join(parts[:-1])), last=parts[-1])  # noqa: S308


def code(step_id: str) -> SafeString:
    """An id within a sentence."""
    return format_html('<code class="id">{}</code>', breakable(step_id))


def codes(step_ids: Iterable[str]) -> SafeString:
    """Several ids within a sentence."""
    return listed([code(each) for each in step_ids])
