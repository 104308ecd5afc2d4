"""What people decide about a run: checkpoints, questions, stale marks, and its end."""

from django.contrib import messages
from django.http import HttpRequest
from django.urls import path, reverse
from django.utils.translation import gettext as _

from amendments.services.cancel_run import cancel_run
from chief_project.shared.caller import Caller
from chief_project.shared.errors import ValidationFailed
from chief_project.web.forms import declared, pressed, text
from chief_project.web.pages import action
from chief_project.web.run import cancel_page, run_page
from chief_project.web.run_links import step_of
from runs.domain.paths import Path
from runs.services.acknowledge_run import acknowledge_run
from runs.services.answer_question import answer_question
from runs.services.mark_stale import mark_instance_stale, mark_step_stale
from runs.services.resolve_checkpoint import resolve_checkpoint


@action(run_page)
def resolve(request: HttpRequest, caller: Caller, run_id: str, where: Path) -> str:
    """Approve or reject a checkpoint, with what it asks for."""
    decision = pressed(request, "approved", "rejected")
    resolve_checkpoint(
        caller=caller,
        run_id=run_id,
        path=where,
        resolution={
            "decision": decision,
            "response": declared(request),
            "note": text(request, "note"),
        },
    )
    messages.success(
        request,
        _("Approved. The harness may go on.")
        if decision == "approved"
        else _("Rejected. What waited for it is skipped."),
    )
    return step_of(run_id, where)


@action(run_page)
def answer(request: HttpRequest, caller: Caller, run_id: str, where: Path) -> str:
    """Answer the open question of a step, which goes on at once."""
    question_id = text(request, "question_id") or ""
    answer_question(
        caller=caller,
        run_id=run_id,
        path=where,
        answer={"question_id": question_id, "response": declared(request)},
    )
    messages.success(request, _("Answered. The step goes on."))
    return step_of(run_id, where)


@action(run_page)
def mark_stale(request: HttpRequest, caller: Caller, run_id: str, where: Path) -> str:
    """Say that something ran but doesn't count, or take that back."""
    clear = "clear" in request.POST
    reason = None if clear else text(request, "reason")
    if reason is None and not clear:
        raise ValidationFailed("a mark needs a reason: say why this doesn't count", field="reason")
    mark = mark_step_stale if len(where) % 2 else mark_instance_stale
    mark(caller=caller, run_id=run_id, path=where, mark={"reason": reason})
    messages.success(request, _("It counts again.") if clear else _("Marked as stale. Nothing else changed."))
    return step_of(run_id, where)


@action(cancel_page)
def cancel(request: HttpRequest, caller: Caller, run_id: str) -> str:
    """End a run that nobody will finish."""
    cancel_run(caller=caller, run_id=run_id, reason=text(request, "reason"))
    messages.success(request, _("Cancelled. What it did stays on record."))
    return reverse("run", kwargs={"run_id": run_id})


@action(run_page)
def acknowledge(request: HttpRequest, caller: Caller, run_id: str) -> str:
    """Seen, and left failed."""
    acknowledge_run(caller=caller, run_id=run_id)
    messages.success(request, _("Left failed. It no longer waits for anybody."))
    return reverse("run", kwargs={"run_id": run_id})


urlpatterns = [
    path("runs/<id:run_id>/cancel/do", cancel, name="run-cancel-do"),
    path("runs/<id:run_id>/resolve/<statepath:where>", resolve, name="run-resolve"),
    path("runs/<id:run_id>/answer/<statepath:where>", answer, name="run-answer"),
    path("runs/<id:run_id>/stale/<statepath:where>", mark_stale, name="run-stale"),
    path("runs/<id:run_id>/acknowledge", acknowledge, name="run-acknowledge"),
]
