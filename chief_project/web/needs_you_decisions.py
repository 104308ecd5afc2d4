"""What people decide about what waits for them, card by card."""

from collections.abc import Callable
from typing import Any
from urllib.parse import quote

from django.contrib import messages
from django.http import HttpRequest, HttpResponseBase
from django.urls import path, reverse
from django.utils.translation import gettext as _

from amendments.services.approve_amendment import approve_amendment
from amendments.services.reject_amendment import reject_amendment
from chief_project.shared.caller import Caller
from chief_project.shared.errors import NotFound
from chief_project.web.forms import declared, number_in, pressed, text
from chief_project.web.needs_you import card_page
from chief_project.web.pages import action, show_again
from runs.domain.paths import any_path
from runs.services.acknowledge_run import acknowledge_run
from runs.services.answer_question import answer_question
from runs.services.resolve_checkpoint import resolve_checkpoint
from workflows.services.approve_workflow import approve_workflow
from workflows.services.send_back_workflow import send_back_workflow

Context = dict[str, Any]


@action(card_page)
def decide(request: HttpRequest, caller: Caller, card: str) -> str | HttpResponseBase:
    """Decide on one card: with htmx it alone is answered, else the list is shown at the card after it."""
    kind, _colon, name = card.partition(":")
    if kind not in _DECIDE:
        raise NotFound(f"'{card[:80]}' is nothing that waits: open the list again")
    said = _DECIDE[kind](request, caller, name)
    if "HX-Request" in request.headers:
        return show_again(card_page, request, caller, card=card)
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
    if pressed(request, "approved", "sent_back") == "approved":
        done = approve_workflow(**asked, unless_sent_back=True)
        return _("Approved: %(title)s") % {"title": done["title"]}
    done = send_back_workflow(**asked)
    return _("Sent back: %(title)s") % {"title": done["title"]}


def _decide_amendment(request: HttpRequest, caller: Caller, name: str) -> str:
    asked: Context = {"caller": caller, "amendment_id": name, "reason": text(request, "reason")}
    if pressed(request, "approved", "rejected") == "approved":
        approve_amendment(**asked)
        return _("Amendment approved. The run goes on.")
    reject_amendment(**asked)
    return _("Amendment rejected. The run goes on as planned.")


def _decide_checkpoint(request: HttpRequest, caller: Caller, name: str) -> str:
    run_id, _at, place = name.partition("@")
    decision = pressed(request, "approved", "rejected")
    resolution = {"decision": decision, "response": declared(request), "note": text(request, "note")}
    resolve_checkpoint(caller=caller, run_id=run_id, path=any_path(place), resolution=resolution)
    return _("Checkpoint approved.") if decision == "approved" else _("Checkpoint rejected.")


def _answer(request: HttpRequest, caller: Caller, name: str) -> str:
    answer_question(
        caller=caller,
        run_id=text(request, "run_id") or "",
        path=any_path(text(request, "path") or ""),
        answer={"question_id": name, "response": declared(request)},
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


urlpatterns = [
    path("needs-you/decide/<card:card>", decide, name="needs-you-decide"),
]
