"""Needs you: everything that waits for a person, oldest first, and the decisions on it."""

import re
from collections.abc import Callable
from itertools import pairwise
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import quote

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.urls import path, register_converter, reverse
from django.utils.html import format_html, format_html_join
from django.utils.http import urlencode
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from amendments.selectors.decided import decided_lately, what_became_of
from amendments.selectors.needs_you import needs_you, read_card, waiting_cards
from amendments.selectors.overview import list_project_states
from amendments.selectors.waiting import count_waiting_by_project
from amendments.services.approve_amendment import approve_amendment
from amendments.services.reject_amendment import reject_amendment
from chief_project.shared.caller import Caller
from chief_project.shared.errors import NotFound, ValidationFailed
from chief_project.shared.paging import Paging
from chief_project.web.amendment_words import sentence
from chief_project.web.change_words import code, codes, what_changed
from chief_project.web.connect import lines_for
from chief_project.web.forms import number_in, text
from chief_project.web.graph.parts import filled
from chief_project.web.labels import chips_of, label_of, query_of
from chief_project.web.pages import action, page
from runs.domain.paths import any_path
from runs.services.acknowledge_run import acknowledge_run
from runs.services.answer_question import answer_question
from runs.services.resolve_checkpoint import resolve_checkpoint
from workflows.services.approve_workflow import approve_workflow
from workflows.services.send_back_workflow import send_back_workflow

Context = dict[str, Any]

CARDS = 50
_NAMED = 6
_LATELY = 8
_FIELD = "field:"

KINDS = {
    "draft": gettext_lazy("Draft to approve"),
    "amendment": gettext_lazy("Amendment"),
    "checkpoint": gettext_lazy("Checkpoint"),
    "question": gettext_lazy("Question"),
    "failed_run": gettext_lazy("Failed run"),
}
_NOUNS = KINDS | {"draft": gettext_lazy("Draft")}
_ICONS = {"failed_run": "failed"}


class CardConverter:
    """The name of a card, ``kind:id`` (``card_of``)."""

    regex = r"[a-z_]{1,20}:[A-Za-z0-9_.:@/\-]+"

    def to_python(self, value: str) -> str:
        """As it stands."""
        return value

    def to_url(self, value: str) -> str:
        """As it stands."""
        return value


register_converter(CardConverter, "card")


# -- Pages -------------------------------------------------------------------------------------------


@page("pages/needs_you.html", parts=("queue",))
def needs_you_page(request: HttpRequest, caller: Caller) -> Context:
    """Every card, or those of one project."""
    project = label_of(request)
    paging = Paging(limit=CARDS, cursor=request.GET.get("cursor") or None)
    waiting = needs_you(caller=caller, paging=paging, project=project)
    counts = count_waiting_by_project(caller=caller)
    cards = [_dressed(card) for card in waiting.rows]
    for card, later in pairwise(cards):
        card["next"] = later["card"]
    return {
        "section": "needs-you",
        "cards": cards,
        "total": waiting.total,
        "chips": chips_of(counts, project),
        "everything": sum(counts.values()),
        "project": project,
        "query": query_of(project),
        "more": f"?{query_of(project, cursor=waiting.next_cursor)}" if waiting.next_cursor else "",
        "earlier": paging.cursor is not None,
        **({} if cards else _nothing_waits(caller)),
    }


def _nothing_waits(caller: Caller) -> Context:
    """What an empty page says instead: what is under way, what was decided lately, and how the first plan comes."""
    states = [row["states"] for row in list_project_states(caller=caller)]
    return {
        "any_workflow": bool(states),
        "under_way": sum(each.get("running", 0) for each in states),
        "lately": [
            each
            | {
                "href": _place(each),
                "word": _NOUNS[each["kind"]],
                "own": each["by"] == caller.actor,
            }
            for each in decided_lately(caller=caller, limit=_LATELY)
        ],
        "lines": lines_for(url=settings.CHIEF_URL, token="chf_…", kind="harness"),  # noqa: S106 - a placeholder
    }


@page("pages/needs_you_card.html", parts=("card",))
def card_page(request: HttpRequest, caller: Caller, card: str) -> Context:
    """One card alone: what waits, or what became of it."""
    found = read_card(caller=caller, card=card)
    became = what_became_of(caller=caller, cards=[card])[card]
    shown = _gone(became) if found is None else _dressed(found)
    for asked in shown.get("asks", ()):
        asked["typed"] = request.POST.get(f"{_FIELD}{asked['name']}", "")
    return {
        "section": "needs-you",
        "card": shown
        | {
            "next": request.POST.get("next", ""),
            "moved_on": found is not None and found["card"] != card,
        },
        "written": _written(request),
        "query": request.POST.get("query", ""),
    }


@page("pages/needs_you_news.html")
def news_page(request: HttpRequest, caller: Caller) -> Context:
    """What became of the cards that are shown, how old the others are, and how many wait that aren't shown: a fragment
    for the script.
    """
    cards = request.GET.getlist("card")[: 2 * CARDS]
    shown = [card for card in cards if re.fullmatch(CardConverter.regex, card)]
    became = what_became_of(caller=caller, cards=shown)
    project = label_of(request)
    waiting = waiting_cards(caller=caller, paging=Paging(limit=CARDS), project=project)
    return {
        "gone": [_gone(each) for each in became.values() if not each["open"]],
        "waiting": waiting.rows,
        "new": len({each["card"] for each in waiting.rows} - set(shown)),
        "total": waiting.total,
        "project": project,
    }


# -- Decisions ---------------------------------------------------------------------------------------


@action(card_page)
def decide(request: HttpRequest, caller: Caller, card: str) -> str | HttpResponse:
    """Decide on one card: with htmx it alone is answered, else the list is shown at the card after it."""
    kind, _colon, name = card.partition(":")
    if kind not in _DECIDE:
        raise NotFound(f"'{card[:80]}' is nothing that waits: open the list again")
    said = _DECIDE[kind](request, caller, name)
    if "HX-Request" in request.headers:
        screen = card_page.screen  # type: ignore[attr-defined]
        answer: HttpResponse = screen.show(request, caller, {"card": card})
        return answer
    messages.success(request, said)
    query, next_card = request.POST.get("query", ""), request.POST.get("next", "")
    place = f"?{query}" if query else ""
    return f"{reverse('needs-you')}{place}{'#' + quote(next_card, safe='@:/') if next_card else ''}"


def _decide_draft(request: HttpRequest, caller: Caller, name: str) -> str:
    workflow_id, _at, revision = name.rpartition("@")
    asked: Context = {
        "caller": caller,
        "workflow_id": workflow_id,
        "revision": number_in(revision) or 0,
        "reason": text(request, "reason"),
    }
    if _decision(request, "approved", "sent_back") == "approved":
        done = approve_workflow(**asked)
        return _("Approved: %(title)s") % {"title": done["title"]}
    done = send_back_workflow(**asked)
    return _("Sent back: %(title)s") % {"title": done["title"]}


def _decide_amendment(request: HttpRequest, caller: Caller, name: str) -> str:
    asked: Context = {"caller": caller, "amendment_id": name, "reason": text(request, "reason")}
    if _decision(request, "approved", "rejected") == "approved":
        approve_amendment(**asked)
        return _("Amendment approved. The run goes on.")
    reject_amendment(**asked)
    return _("Amendment rejected. The run goes on as planned.")


def _decide_checkpoint(request: HttpRequest, caller: Caller, name: str) -> str:
    run_id, _at, place = name.partition("@")
    decision = _decision(request, "approved", "rejected")
    resolution = {"decision": decision, "response": _response(request), "note": text(request, "note")}
    resolve_checkpoint(caller=caller, run_id=run_id, path=any_path(place), resolution=resolution)
    return _("Checkpoint approved.") if decision == "approved" else _("Checkpoint rejected.")


def _answer(request: HttpRequest, caller: Caller, name: str) -> str:
    answer_question(
        caller=caller,
        run_id=text(request, "run_id") or "",
        path=any_path(text(request, "path") or ""),
        answer={"question_id": name, "response": _response(request)},
    )
    return _("Answered. The step goes on.")


def _leave_failed(request: HttpRequest, caller: Caller, name: str) -> str:
    acknowledge_run(caller=caller, run_id=name)
    return _("Left as it is: failed.")


_DECIDE: dict[str, Callable[[HttpRequest, Caller, str], str]] = {
    "draft": _decide_draft,
    "amendment": _decide_amendment,
    "checkpoint": _decide_checkpoint,
    "question": _answer,
    "failed_run": _leave_failed,
}


def _decision(request: HttpRequest, *known: str) -> str:
    """Which button was pressed."""
    decision = request.POST.get("decision", "")
    if decision not in known:
        raise ValidationFailed("say which: press one of the buttons", field="decision")
    return decision


def _written(request: HttpRequest) -> list[str]:
    """Every text that was typed: shown where the card it was meant for is decided already."""
    names = [name for name in request.POST if name in ("reason", "note") or name.startswith(_FIELD)]
    return [written for name in names if (written := text(request, name))]


def _response(request: HttpRequest) -> dict[str, str]:
    """The fields that were filled in, by name."""
    given = {
        name.removeprefix(_FIELD): text(request, name) for name in request.POST if name.startswith(_FIELD)
    }
    return {name: value for name, value in given.items() if value is not None}


# -- What a card says --------------------------------------------------------------------------------


def _dressed(card: Context) -> Context:
    """A card that waits, with the links and sentences that its kind needs."""
    kind = card["kind"]
    run = reverse("run", kwargs={"run_id": card["run_id"]}) if "run_id" in card else ""
    dressed = card | {
        "icon": _ICONS.get(kind, kind),
        "word": KINDS[kind],
        "decide": reverse("needs-you-decide", kwargs={"card": card["card"]}),
        "run_url": run,
    }
    if kind == "draft":
        plan = reverse("workflow", kwargs={"workflow_id": card["workflow_id"]})
        seen = card["seen"]
        changes = reverse("workflow-changes", kwargs={"workflow_id": card["workflow_id"]})
        compared = urlencode({"from": f"r{seen['revision']}", "to": f"r{card['revision']}"}) if seen else ""
        return dressed | {
            "href": plan,
            "holds_text": _holds(card),
            "lines": _since(card["changes"]) if card["changes"] else [],
            "changes_url": f"{changes}?{compared}" if card["changes"] else "",
        }
    if kind == "amendment":
        return dressed | {
            "href": reverse("amendment", kwargs={"amendment_id": card["amendment_id"]}),
            "sentences": [sentence(told) for told in card["told"]],
            "edits_html": codes(card["edits"][:_NAMED]),
        }
    if kind == "failed_run":
        for failure in card["failures"]:
            failure["goal"] = filled(failure["goal"] or "", failure["parameters"])
            failure["href"] = _step(run, failure["path"])
            _name_files(failure["artifacts"], card["run_id"])
        first = card["failures"][0]["href"] if card["failures"] else run
        return dressed | {"href": run, "first": first, "of": sum(card["counts"].values())}
    dressed["goal"] = filled(card["goal"] or "", card["parameters"])
    for evidence in card["evidence"]:
        evidence["href"] = _step(run, evidence["path"])
        _name_files(evidence["artifacts"], card["run_id"])
        if evidence["counts"] is not None:
            evidence["of"] = sum(evidence["counts"].values())
    _name_files(card["artifacts"], card["run_id"])
    return dressed | {
        "href": _step(run, card["path"]),
        "asks": card["fields"] or ([{"name": "text"}] if kind == "question" else []),
    }


def _place(about: Context) -> str:
    """The page of what was decided."""
    if about["amendment_id"]:
        return reverse("amendment", kwargs={"amendment_id": about["amendment_id"]})
    if about["run_id"]:
        run = reverse("run", kwargs={"run_id": about["run_id"]})
        return _step(run, about["path"]) if about["path"] else run
    if about["workflow_id"]:
        return reverse("workflow", kwargs={"workflow_id": about["workflow_id"]})
    return reverse("needs-you")


def _step(run: str, place: str) -> str:
    return f"{run}?{urlencode({'step': place})}"


def _name_files(artifacts: list[Context], run_id: str) -> None:
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


def _gone(became: Context) -> Context:
    """A card that was decided, or that nobody can decide any more."""
    kind = became["kind"]
    return became | {
        "gone": True,
        "href": _place(became),
        "icon": _ICONS.get(kind, kind) if kind in KINDS else "info",
        "word": _NOUNS.get(kind, ""),
        "ended": _ENDED.get(became["what"] or "", _ENDED["went_on"]) % {"by": became["by"] or _("somebody")},
        "door": _DOORS.get(became["via"] or "", ""),
        "good": became["what"] in ("approved", "answered"),
    }


urlpatterns = [
    path("", needs_you_page, name="needs-you"),
    path("", needs_you_page, name="home"),
    path("needs-you/news", news_page, name="needs-you-news"),
    path("needs-you/decide/<card:card>", decide, name="needs-you-decide"),
    path("needs-you/<card:card>", card_page, name="needs-you-card"),
]
