"""What an amendment's operations do, in sentences: HTML whose ids and texts are escaped."""

from typing import NamedTuple

from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from amendments.domain.words import Told
from chief_project.web.change_words import code, codes, what_changed


class Sentence(NamedTuple):
    """One operation told: ``look`` is ``add``, ``del``, ``redo`` or ``mod``, with the icon that goes with it."""

    html: SafeString
    look: str
    icon: str


def sentence(told: Told) -> Sentence:
    """``Runs eval again with another goal, and keeps its old result.``"""
    if told.code == "inserts":
        return Sentence(_inserts(told), "add", "plusop")
    if told.code == "removes":
        return Sentence(_removes(told), "del", "minusop")
    if told.again or told.op == "replay_step":
        return Sentence(_reruns(told), "redo", "replay")
    return Sentence(_changes(told), "mod", "edit")


def _inserts(told: Told) -> SafeString:
    step, where = told.step, code(told.beside or "")
    if told.side == "after":
        said = (
            _("Adds the checkpoint {step} after {where}")
            if step.type == "checkpoint"
            else _("Adds {step} after {where}")
        )
    else:
        said = (
            _("Adds the checkpoint {step} before {where}")
            if step.type == "checkpoint"
            else _("Adds {step} before {where}")
        )
    html = format_html(said, step=code(step.id), where=where)
    if told.within is not None:
        html = format_html(_("{what}, inside {construct}"), what=html, construct=code(told.within))
    return format_html(_("{what}: {goal}"), what=html, goal=step.goal)


def _removes(told: Told) -> SafeString:
    step = told.step
    said = _("Removes the checkpoint {step}") if step.type == "checkpoint" else _("Removes {step}")
    html = _tail(format_html(said, step=code(step.id)), told)
    if step.type == "checkpoint":
        return format_html(_("{what} Nobody is asked there any more."), what=html)
    return html


def _changes(told: Told) -> SafeString:
    step = code(told.step.id)
    if told.code == "leaves":
        return format_html(_("Leaves {step} as it is."), step=step)
    if told.code == "rewires":
        came, went = codes(told.needs_added), codes(told.needs_removed)
        if told.needs_added and told.needs_removed:
            html = format_html(
                _("{step} waits for {came} instead of {went}."), step=step, came=came, went=went
            )
        elif told.needs_added:
            html = format_html(_("{step} waits for {came}, too."), step=step, came=came)
        else:
            html = format_html(_("{step} no longer waits for {went}."), step=step, went=went)
    else:
        html = format_html(_("Changes {what} of {step}."), what=what_changed(told.changed), step=step)
    return format_html("{} {}", html, _standing(told)) if _standing(told) else html


def _reruns(told: Told) -> SafeString:
    step = code(told.step.id)
    if told.code == "reruns_instance":
        place = code((told.path or "").split("/")[-1])
        return format_html(
            _("Runs {place} of {step} again, all of it, and keeps its old result."), place=place, step=step
        )
    html = format_html(_("Runs {step} again"), step=step)
    if told.path is not None:
        html = format_html(_("{what} in {place}"), what=html, place=code(told.path))
    copies = told.standing.finished if told.standing and told.path is None else 1
    if copies > 1:
        html = format_html(_("{what} in {n} places"), what=html, n=copies)
    if told.again and told.code != "leaves":
        html = format_html(
            _("{what}, after changing {fields},"), what=html, fields=what_changed(told.changed)
        )
    return format_html(
        ngettext("{what} and keeps its old result.", "{what} and keeps the old results.", copies), what=html
    )


def _standing(told: Told) -> str | SafeString:
    """After a change: what becomes of what the step reported; nothing where it has not begun."""
    if told.path is not None:
        return format_html(_("What it did in {place} is kept."), place=code(told.path))
    if told.standing is None or told.standing.word == "waiting":
        return ""
    finished = told.standing.finished
    if finished > 1:
        return format_html(_("It is finished in {n} places, and those results are kept."), n=finished)
    return {
        "finished": _("It is finished; its result is kept."),
        "blocked": _("It waits for a person."),
        "running": _("It is running."),
    }[told.standing.word]


def _tail(html: SafeString, told: Told) -> SafeString:
    """The end of a removal: how the step stands, and what becomes of what it reported."""
    if told.path is not None:
        return format_html(_("{what}; what it did in {place} is kept."), what=html, place=code(told.path))
    if told.standing is None:
        return format_html(_("{what}."), what=html)
    finished = told.standing.finished
    if finished > 1:
        return format_html(
            _("{what}; it is finished in {n} places, and those results are kept."), what=html, n=finished
        )
    return format_html(
        {
            "finished": _("{what}, which is finished; its result is kept."),
            "blocked": _("{what}, which waits for a person."),
            "running": _("{what}, which is running; what it reported is kept."),
            "waiting": _("{what}, which has not started."),
        }[told.standing.word],
        what=html,
    )
