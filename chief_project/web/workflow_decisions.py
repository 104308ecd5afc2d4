"""What people do with a workflow: decide on it, label it, copy it, delete it, and say what should change."""

from django.contrib import messages
from django.http import HttpRequest
from django.urls import path, reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from amendments.services.delete_workflow import delete_workflow
from chief_project.shared.caller import Caller
from chief_project.shared.errors import ValidationFailed
from chief_project.web.addresses import link
from chief_project.web.forms import flag, name, number, text
from chief_project.web.pages import action
from chief_project.web.workflow import (
    archive_page,
    changes_page,
    delete_page,
    label_page,
    reopen_page,
    workflow_page,
)
from chief_project.web.workflow_frame import TABS, tab_of
from workflows.services.add_review_note import add_review_note
from workflows.services.approve_workflow import approve_workflow
from workflows.services.archive_workflow import archive_workflow
from workflows.services.clone_workflow import clone_workflow
from workflows.services.label_workflow import label_workflow
from workflows.services.mark_seen import mark_seen
from workflows.services.reopen_workflow import reopen_workflow
from workflows.services.resolve_review_note import resolve_review_note
from workflows.services.send_back_workflow import send_back_workflow


@action(changes_page)
def approve(request: HttpRequest, caller: Caller, workflow_id: str) -> str:
    """Only what was on the screen: that revision, and if it waited there, one that still does."""
    done = approve_workflow(
        caller=caller,
        workflow_id=workflow_id,
        reason=text(request, "reason"),
        revision=_revision_read(request),
        unless_sent_back=flag(request, "waits"),
    )
    left = sum(not note["resolved"] for note in done["review_notes"])
    said = _("Revision %(n)d is approved. A harness can register a run of it now.") % {"n": done["revision"]}
    if left:
        said += " " + ngettext("%(n)d note is still open.", "%(n)d notes are still open.", left) % {"n": left}
    messages.success(request, said)
    return _back(request, workflow_id)


@action(changes_page)
def send_back(request: HttpRequest, caller: Caller, workflow_id: str) -> str:
    """With the open notes and a reason; its harness is told."""
    done = send_back_workflow(
        caller=caller,
        workflow_id=workflow_id,
        reason=text(request, "reason"),
        revision=_revision_read(request),
    )
    n = sum(not note["resolved"] for note in done["review_notes"])
    messages.success(
        request,
        ngettext(
            "Sent back with %(n)d open note. It waits for its harness now.",
            "Sent back with %(n)d open notes. It waits for its harness now.",
            n,
        )
        % {"n": n}
        if n
        else _("Sent back. It waits for its harness now."),
    )
    return _back(request, workflow_id)


@action(archive_page)
def archive(request: HttpRequest, caller: Caller, workflow_id: str) -> str:
    """A draft that nobody wants, or a plan that nobody may run any more."""
    archive_workflow(caller=caller, workflow_id=workflow_id, reason=text(request, "reason"))
    messages.success(request, _("Archived. Nothing of it is lost, and it can be cloned."))
    return tab_of(workflow_id, "graph")


@action(reopen_page)
def reopen(request: HttpRequest, caller: Caller, workflow_id: str) -> str:
    """Approved, not run yet, and to be changed after all."""
    done = reopen_workflow(caller=caller, workflow_id=workflow_id, reason=text(request, "reason"))
    messages.success(request, _("A draft again: version %(n)d waits for review.") % {"n": done["version"]})
    return tab_of(workflow_id, "graph")


@action(label_page)
def label(request: HttpRequest, caller: Caller, workflow_id: str) -> str:
    """Empty fields clear what they hold; a title is needed."""
    changes = {
        "title": _needed(request, "title", _("a workflow needs a title")),
        "project": name(request, "project"),
        "origin_dir": text(request, "origin_dir"),
    }
    label_workflow(caller=caller, workflow_id=workflow_id, changes=changes)
    messages.success(request, _("Saved."))
    return tab_of(workflow_id, "graph")


@action(workflow_page)
def clone(request: HttpRequest, caller: Caller, workflow_id: str) -> str:
    """A new draft that says the same."""
    made = clone_workflow(caller=caller, workflow_id=workflow_id, run_id=text(request, "run"))
    messages.success(request, _("This is the copy: a draft of its own, with no notes and no runs."))
    return tab_of(made["workflow_id"], "graph")


@action(delete_page)
def delete(request: HttpRequest, caller: Caller, workflow_id: str) -> str:
    """For good."""
    done = delete_workflow(caller=caller, workflow_id=workflow_id)
    messages.success(request, _("“%(title)s” is deleted.") % {"title": done["title"]})
    return reverse("workflows")


@action(workflow_page)
def seen(request: HttpRequest, caller: Caller, workflow_id: str) -> str:
    """This person has read the revision that was on the screen."""
    mark_seen(caller=caller, workflow_id=workflow_id, revision=number(request, "revision") or 0)
    return _back(request, workflow_id)


@action(workflow_page)
def add_note(request: HttpRequest, caller: Caller, workflow_id: str) -> str:
    """On a step, or on the plan."""
    add_review_note(
        caller=caller,
        workflow_id=workflow_id,
        body=_needed(request, "body", _("a note needs words: write what should change")),
        step_id=text(request, "step"),
    )
    return _back(request, workflow_id)


@action(workflow_page)
def resolve_note(request: HttpRequest, caller: Caller, workflow_id: str, note_id: str) -> str:
    """Resolve it, or open it again."""
    resolve_review_note(
        caller=caller,
        workflow_id=workflow_id,
        note_id=note_id,
        resolved=text(request, "resolved") is not None,
    )
    return _back(request, workflow_id)


def _back(request: HttpRequest, workflow_id: str) -> str:
    """The view that the form was on, with the step that was selected."""
    tab, step = request.POST.get("tab", ""), text(request, "step")
    there = tab_of(workflow_id, tab if tab in TABS else "graph")
    if tab in TABS and tab not in ("graph", "outline"):
        return there
    return link(there, open=request.POST.getlist("open"), step=step or "")


def _needed(request: HttpRequest, field: str, otherwise: str) -> str:
    """What was written in ``field``; without it ``ValidationFailed`` that says ``otherwise``."""
    given = text(request, field)
    if given is None:
        raise ValidationFailed(otherwise, field=field)
    return given


def _revision_read(request: HttpRequest) -> int:
    """The revision that was on the screen: a page decides on no other, and so never without saying which."""
    revision = number(request, "revision")
    if revision is None:
        raise ValidationFailed(
            "the form doesn't say which revision you have read: open the workflow again", field="revision"
        )
    return revision


urlpatterns = [
    path("workflows/<id:workflow_id>/label/save", label, name="workflow-label-save"),
    path("workflows/<id:workflow_id>/archive/do", archive, name="workflow-archive-do"),
    path("workflows/<id:workflow_id>/reopen/do", reopen, name="workflow-reopen-do"),
    path("workflows/<id:workflow_id>/delete/do", delete, name="workflow-delete-do"),
    path("workflows/<id:workflow_id>/approve", approve, name="workflow-approve"),
    path("workflows/<id:workflow_id>/send-back", send_back, name="workflow-send-back"),
    path("workflows/<id:workflow_id>/clone", clone, name="workflow-clone"),
    path("workflows/<id:workflow_id>/seen", seen, name="workflow-seen"),
    path("workflows/<id:workflow_id>/notes/add", add_note, name="workflow-note-add"),
    path("workflows/<id:workflow_id>/notes/<id:note_id>", resolve_note, name="workflow-note"),
]
