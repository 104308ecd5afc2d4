"""What a card says: what waits for a person, as it is shown, or what became of it."""

from pathlib import PurePosixPath
from typing import Any

from django.urls import reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from chief_project.web.addresses import link
from chief_project.web.amendment_words import sentence
from chief_project.web.change_words import code, codes, what_changed
from chief_project.web.graph.parts import filled

Context = dict[str, Any]

KINDS = {
    "draft": gettext_lazy("Draft to approve"),
    "amendment": gettext_lazy("Amendment"),
    "checkpoint": gettext_lazy("Checkpoint"),
    "question": gettext_lazy("Question"),
    "failed_run": gettext_lazy("Failed run"),
}
NOUNS = KINDS | {"draft": gettext_lazy("Draft")}
"""What it was, once nobody has to approve it."""
_ICONS = {"failed_run": "failed"}
_NAMED = 6
_ENDED = {
    "approved": gettext_lazy("Approved by %(by)s"),
    "rejected": gettext_lazy("Rejected by %(by)s"),
    "sent_back": gettext_lazy("Sent back by %(by)s"),
    "archived": gettext_lazy("Archived by %(by)s"),
    "revised": gettext_lazy("Revised by %(by)s"),
    "withdrawn": gettext_lazy("Withdrawn by %(by)s"),
    "answered": gettext_lazy("Answered by %(by)s"),
    "acknowledged": gettext_lazy("Left failed by %(by)s"),
    "cancelled": gettext_lazy("The run was cancelled by %(by)s"),
    "went_on": gettext_lazy("No longer waits"),
    "gone": gettext_lazy("No longer there: it was deleted"),
}
_DOORS = {
    "web": gettext_lazy("in the browser"),
    "rest": gettext_lazy("over REST"),
    "mcp": gettext_lazy("over MCP"),
    "admin": gettext_lazy("in the administration"),
    "cli": gettext_lazy("on the command line"),
}


def dressed(card: Context) -> Context:
    """A card that waits, with the links and sentences that its kind needs."""
    kind = card["kind"]
    run = reverse("run", kwargs={"run_id": card["run_id"]}) if "run_id" in card else ""
    more = {"draft": _draft, "amendment": _amendment, "failed_run": _failed_run}.get(kind, _step_that_waits)
    shared = {
        "icon": _ICONS.get(kind, kind),
        "word": KINDS[kind],
        "decide": reverse("needs-you-decide", kwargs={"card": card["card"]}),
        "run_url": run,
    }
    return card | shared | more(card, run)


def _draft(card: Context, _run: str) -> Context:
    seen = card["seen"]
    of = {"workflow_id": card["workflow_id"]}
    compared = link(
        reverse("workflow-changes", kwargs=of),
        **({"from": f"r{seen['revision']}", "to": f"r{card['revision']}"} if seen else {}),
    )
    return {
        "href": reverse("workflow", kwargs=of),
        "outline": reverse("workflow-outline", kwargs=of),
        "holds_text": _holds(card),
        "not_told": card["top"] - len(card["begins"]),
        "lines": _since(card["changes"]) if card["changes"] else [],
        "changes_url": compared if card["changes"] else "",
    }


def _amendment(card: Context, _run: str) -> Context:
    return {
        "href": reverse("amendment", kwargs={"amendment_id": card["amendment_id"]}),
        "sentences": [sentence(told) for told in card["told"]],
        "edits_html": codes(card["edits"][:_NAMED]),
    }


def _failed_run(card: Context, run: str) -> Context:
    for failure in card["failures"]:
        failure["goal"] = filled(failure["goal"] or "", failure["parameters"])
        failure["href"] = link(run, step=failure["path"])
        _name_files(failure["artifacts"], card["run_id"])
    first = card["failures"][0]["href"] if card["failures"] else run
    return {"href": run, "first": first, "of": sum(card["counts"].values())}


def _step_that_waits(card: Context, run: str) -> Context:
    """A checkpoint or a question."""
    for evidence in card["evidence"]:
        evidence["href"] = link(run, step=evidence["path"])
        _name_files(evidence["artifacts"], card["run_id"])
        if evidence["counts"] is not None:
            evidence["of"] = sum(evidence["counts"].values())
    _name_files(card["artifacts"], card["run_id"])
    return {
        "goal": filled(card["goal"] or "", card["parameters"]),
        "href": link(run, step=card["path"]),
        "asks": card["fields"] or ([{"name": "text"}] if card["kind"] == "question" else []),
    }


def gone(became: Context) -> Context:
    """A card that was decided, or that nobody can decide any more."""
    kind = became["kind"]
    return became | {
        "gone": True,
        "href": place_of(became),
        "icon": _ICONS.get(kind, kind) if kind in KINDS else "info",
        "word": NOUNS.get(kind, ""),
        "ended": _ENDED.get(became["what"] or "", _ENDED["went_on"]) % {"by": became["by"] or _("somebody")},
        "door": _DOORS.get(became["via"] or "", ""),
        "good": became["what"] in ("approved", "answered"),
    }


def place_of(about: Context) -> str:
    """The page of what was decided."""
    if about["amendment_id"]:
        return reverse("amendment", kwargs={"amendment_id": about["amendment_id"]})
    if about["run_id"]:
        run = reverse("run", kwargs={"run_id": about["run_id"]})
        return link(run, step=about["path"])
    if about["workflow_id"]:
        return reverse("workflow", kwargs={"workflow_id": about["workflow_id"]})
    return reverse("needs-you")


def _name_files(artifacts: list[Context], run_id: str) -> None:
    """Give each its address and a name; changes them in place."""
    for artifact in artifacts:
        where = {"run_id": run_id, "artifact_id": artifact["artifact_id"]}
        artifact["href"] = reverse("artifact", kwargs=where)
        name = PurePosixPath(artifact["ref"] or "").name
        artifact["name"] = name or artifact["description"] or artifact["artifact_id"]


def _holds(card: Context) -> str:
    """``15 steps: 1 loop, 2 parallels, 1 checkpoint``."""
    types = card["types"]
    parts = [
        ngettext("%(n)d loop", "%(n)d loops", types["loop"]) % {"n": types["loop"]}
        if "loop" in types
        else "",
        ngettext("%(n)d parallel", "%(n)d parallels", types["parallel"]) % {"n": types["parallel"]}
        if "parallel" in types
        else "",
        ngettext("%(n)d checkpoint", "%(n)d checkpoints", types["checkpoint"]) % {"n": types["checkpoint"]}
        if "checkpoint" in types
        else "",
    ]
    whole = ngettext("%(n)d step", "%(n)d steps", card["steps"]) % {"n": card["steps"]}
    special = ", ".join(part for part in parts if part)
    return _("%(steps)s: %(kinds)s") % {"steps": whole, "kinds": special} if special else whole


def _since(since: Context) -> list[tuple[str, SafeString]]:
    """What changed, as ``(icon, sentence)``."""
    lines: list[tuple[str, SafeString]] = []
    if since["title"]:
        lines.append(("edit", format_html("{}", _("Another title"))))
    for icon, steps, said in (
        (
            "plusop",
            since["added"],
            ngettext("{n} step added: {steps}", "{n} steps added: {steps}", len(since["added"])),
        ),
        (
            "minusop",
            since["removed"],
            ngettext("{n} step removed: {steps}", "{n} steps removed: {steps}", len(since["removed"])),
        ),
    ):
        if steps:
            lines.append((icon, format_html(said, n=len(steps), steps=_named(steps))))
    changed = since["changed"]
    for change in changed[:_NAMED]:
        told = {"step": code(change["step_id"]), "what": what_changed(change["fields"])}
        lines.append(("edit", format_html(_("Changed in {step}: {what}"), **told)))
    if len(changed) > _NAMED:
        more = len(changed) - _NAMED
        lines.append(
            ("edit", format_html(ngettext("{n} more step changed", "{n} more steps changed", more), n=more))
        )
    if since["groups"]:
        lines.append(("edit", format_html("{}", _("Groups changed"))))
    return lines


def _named(steps: list[str]) -> SafeString:
    """The first few ids, and how many more."""
    named = format_html_join(", ", "{}", ((code(step_id),) for step_id in steps[:_NAMED]))
    more = len(steps) - _NAMED
    if more <= 0:
        return named
    return format_html(ngettext("{named} and {n} more", "{named} and {n} more", more), named=named, n=more)
