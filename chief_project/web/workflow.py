"""A workflow under review and after: its plan drawn and outlined, what changed, what people said, and the decision."""

from collections import Counter
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.urls import path, reverse
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from amendments.selectors.deletion import get_deletion
from amendments.selectors.proposal import pending_of_workflow
from amendments.services.delete_workflow import delete_workflow
from chief_project.shared.caller import Caller, Right
from chief_project.shared.errors import ValidationFailed
from chief_project.shared.paging import Paging
from chief_project.web.change_words import FAILURE_RULES, TYPES, phrases
from chief_project.web.differences import changed_label, entries_of, text_of
from chief_project.web.forms import name, number, text
from chief_project.web.graph import draw_plan
from chief_project.web.outline import nested, outline_of
from chief_project.web.pages import action, page
from runs.selectors.of_workflow import runs_of_workflow
from workflows.domain.plan import Plan, Step
from workflows.selectors import list_projects, list_revisions, list_versions, workflow_etag
from workflows.selectors.review import Review, get_changes, get_review
from workflows.services.add_review_note import add_review_note
from workflows.services.approve_workflow import approve_workflow
from workflows.services.archive_workflow import archive_workflow
from workflows.services.clone_workflow import clone_workflow
from workflows.services.label_workflow import label_workflow
from workflows.services.mark_seen import mark_seen
from workflows.services.reopen_workflow import reopen_workflow
from workflows.services.resolve_review_note import resolve_review_note
from workflows.services.send_back_workflow import send_back_workflow

Context = dict[str, Any]
EVERY = Paging(limit=1000)
MOST_OPENED = 50
MOST_CHANGES = 300
MOST_TWICE = 150  # steps that the graph's page tells as an outline, too, for narrow screens
TABS = {
    "graph": "workflow",
    "outline": "workflow-outline",
    "changes": "workflow-changes",
    "notes": "workflow-notes",
    "runs": "workflow-runs",
    "history": "workflow-history",
}


# -- Pages -------------------------------------------------------------------------------------------


@page("pages/workflow.html", parts=("panel",))
def workflow_page(request: HttpRequest, caller: Caller, workflow_id: str) -> Context:
    """The graph, and beside it a step or the plan's own thread."""
    return _bench(request, caller, workflow_id, "graph")


@page("pages/workflow.html", parts=("panel",))
def outline_page(request: HttpRequest, caller: Caller, workflow_id: str) -> Context:
    """The same as a nested list: the graph's twin for whoever reads or hears."""
    return _bench(request, caller, workflow_id, "outline")


@page("pages/workflow_changes.html")
def changes_page(request: HttpRequest, caller: Caller, workflow_id: str) -> Context:
    """Any two revisions or versions compared; after a refused decision, what that decision had not seen."""
    review = get_review(caller=caller, workflow_id=workflow_id)
    before, after = request.GET.get("from") or None, request.GET.get("to") or None
    if request.method == "POST":
        before, after = _missed(request, review), None
    changes = get_changes(caller=caller, workflow_id=workflow_id, before=before, after=after)
    here = _tab(workflow_id, "graph")
    plan = review.kept.plan
    entries = entries_of(
        changes["diff"],
        link=lambda step_id: _link(here, step=[step_id]) if step_id in plan.by_id else "",
        notes=changes["beside"],
        dependents=plan.dependents,
    )
    shown = len(entries) if request.GET.get("all") else MOST_CHANGES
    return _frame(review, caller, "changes") | {
        "changes": changes,
        "phrases": phrases(changes["counts"]),
        "entries": entries[:shown],
        "hidden": max(0, len(entries) - shown),
        "all_href": _link(
            _tab(workflow_id, "changes"), **{"from": [changes["from"]], "to": [changes["to"]], "all": ["1"]}
        ),
        "later_is_older": changes["to"] != f"r{review.head['revision']}",
        "seen_name": f"r{review.seen['revision']}" if review.seen else "",
    }


@page("pages/workflow_notes.html")
def notes_page(request: HttpRequest, caller: Caller, workflow_id: str) -> Context:
    """Every thread: the plan's own, each step's in the order of the plan, and those whose step is gone."""
    review = get_review(caller=caller, workflow_id=workflow_id)
    notes = _told(review)
    order = _reading_order(review.kept.plan)
    by_step: dict[str, list[Context]] = {}
    for note in notes:
        if note["step_id"] is not None and not note["orphaned"]:
            by_step.setdefault(note["step_id"], []).append(note)
    return _frame(review, caller, "notes") | {
        "on_plan": [note for note in notes if note["step_id"] is None],
        "on_steps": [
            {"step": review.kept.plan.by_id[step_id], "notes": by_step[step_id]}
            for step_id in order
            if step_id in by_step
        ],
        "orphaned": [note for note in notes if note["orphaned"]],
    }


@page("pages/workflow_runs.html")
def runs_page(request: HttpRequest, caller: Caller, workflow_id: str) -> Context:
    """The workflow's runs, the newest first; without any, how a harness begins one."""
    review = get_review(caller=caller, workflow_id=workflow_id)
    paging = Paging(limit=50, cursor=request.GET.get("cursor") or None)
    runs = runs_of_workflow(caller=caller, workflow_id=workflow_id, paging=paging)
    return _frame(review, caller, "runs") | {
        "runs": runs,
        "register_url": request.build_absolute_uri(f"/v1/workflows/{workflow_id}/runs"),
    }


@page("pages/workflow_history.html")
def history_page(request: HttpRequest, caller: Caller, workflow_id: str) -> Context:
    """Every revision and version, the newest first: who, through which door, and why."""
    review = get_review(caller=caller, workflow_id=workflow_id)
    revisions = list_revisions(caller=caller, workflow_id=workflow_id, paging=EVERY)
    versions = list_versions(caller=caller, workflow_id=workflow_id, paging=EVERY)
    kept = [{"kind": "revision", "name": f"r{each['n']}", **each} for each in revisions.rows]
    kept += [{"kind": "version", "name": f"v{each['n']}", **each} for each in versions.rows]
    kept.sort(key=lambda each: each["at"], reverse=True)
    return _frame(review, caller, "history") | {"kept": kept}


@page("parts/review_moved.html")
def moved_page(request: HttpRequest, caller: Caller, workflow_id: str) -> Context | HttpResponse:
    """What became of the workflow while a page of it was open, in a line; nothing while it stands as it was shown."""
    if str(workflow_etag(caller=caller, workflow_id=workflow_id)) == request.GET.get("etag"):
        return HttpResponse(status=204)
    review = get_review(caller=caller, workflow_id=workflow_id)
    if _standing(review) == request.GET.get("was"):
        return HttpResponse(status=204)
    shown = request.GET.get("was", "").split(".")[0]
    return {"review": review, "head": review.head, "workflow_id": workflow_id, "shown": shown}


@page("pages/workflow_ask.html")
def label_page(request: HttpRequest, caller: Caller, workflow_id: str) -> Context:
    """Title, project and directory."""
    caller.must(Right.REVIEW, "label a workflow")
    review = get_review(caller=caller, workflow_id=workflow_id)
    projects = list_projects(caller=caller, paging=EVERY).rows
    names = [each["project"] for each in projects if each["project"]]
    return _frame(review, caller, "") | {"ask": "label", "projects": names}


@page("pages/workflow_ask.html")
def archive_page(request: HttpRequest, caller: Caller, workflow_id: str) -> Context:
    """Before a draft is discarded, or an approved workflow put away."""
    caller.must(Right.DECIDE, "archive a workflow")
    return _frame(get_review(caller=caller, workflow_id=workflow_id), caller, "") | {"ask": "archive"}


@page("pages/workflow_ask.html")
def reopen_page(request: HttpRequest, caller: Caller, workflow_id: str) -> Context:
    """Before an approved workflow becomes a draft again."""
    caller.must(Right.DECIDE, "reopen a workflow")
    return _frame(get_review(caller=caller, workflow_id=workflow_id), caller, "") | {"ask": "reopen"}


@page("pages/workflow_ask.html")
def delete_page(request: HttpRequest, caller: Caller, workflow_id: str) -> Context:
    """Before a workflow is deleted: what goes, and what stays."""
    review = get_review(caller=caller, workflow_id=workflow_id)
    told = get_deletion(caller=caller, workflow_id=workflow_id)
    return _frame(review, caller, "") | {
        "ask": "delete",
        "deletion": told,
        "goes": [each for kind, n in told["removes"].items() if (each := _goes(kind, n))],
    }


# -- Decisions ---------------------------------------------------------------------------------------


@action(changes_page)
def approve(request: HttpRequest, caller: Caller, workflow_id: str) -> str:
    """Only the revision that was on the screen."""
    done = approve_workflow(
        caller=caller,
        workflow_id=workflow_id,
        reason=text(request, "reason"),
        revision=_revision_read(request),
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
    return _tab(workflow_id, "graph")


@action(reopen_page)
def reopen(request: HttpRequest, caller: Caller, workflow_id: str) -> str:
    """Approved, not run yet, and to be changed after all."""
    done = reopen_workflow(caller=caller, workflow_id=workflow_id, reason=text(request, "reason"))
    messages.success(request, _("A draft again: version %(n)d waits for review.") % {"n": done["version"]})
    return _tab(workflow_id, "graph")


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
    return _tab(workflow_id, "graph")


@action(workflow_page)
def clone(request: HttpRequest, caller: Caller, workflow_id: str) -> str:
    """A new draft that says the same."""
    made = clone_workflow(caller=caller, workflow_id=workflow_id, run_id=text(request, "run"))
    messages.success(request, _("This is the copy: a draft of its own, with no notes and no runs."))
    return _tab(made["workflow_id"], "graph")


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


# -- Notes -------------------------------------------------------------------------------------------


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


urlpatterns = [
    path("workflows/<id:workflow_id>", workflow_page, name="workflow"),
    path("workflows/<id:workflow_id>/outline", outline_page, name="workflow-outline"),
    path("workflows/<id:workflow_id>/changes", changes_page, name="workflow-changes"),
    path("workflows/<id:workflow_id>/notes", notes_page, name="workflow-notes"),
    path("workflows/<id:workflow_id>/runs", runs_page, name="workflow-runs"),
    path("workflows/<id:workflow_id>/history", history_page, name="workflow-history"),
    path("workflows/<id:workflow_id>/moved", moved_page, name="workflow-moved"),
    path("workflows/<id:workflow_id>/label", label_page, name="workflow-label"),
    path("workflows/<id:workflow_id>/label/save", label, name="workflow-label-save"),
    path("workflows/<id:workflow_id>/archive", archive_page, name="workflow-archive"),
    path("workflows/<id:workflow_id>/archive/do", archive, name="workflow-archive-do"),
    path("workflows/<id:workflow_id>/reopen", reopen_page, name="workflow-reopen"),
    path("workflows/<id:workflow_id>/reopen/do", reopen, name="workflow-reopen-do"),
    path("workflows/<id:workflow_id>/delete", delete_page, name="workflow-delete"),
    path("workflows/<id:workflow_id>/delete/do", delete, name="workflow-delete-do"),
    path("workflows/<id:workflow_id>/approve", approve, name="workflow-approve"),
    path("workflows/<id:workflow_id>/send-back", send_back, name="workflow-send-back"),
    path("workflows/<id:workflow_id>/clone", clone, name="workflow-clone"),
    path("workflows/<id:workflow_id>/seen", seen, name="workflow-seen"),
    path("workflows/<id:workflow_id>/notes/add", add_note, name="workflow-note-add"),
    path("workflows/<id:workflow_id>/notes/<id:note_id>", resolve_note, name="workflow-note"),
]


# -- What pages share --------------------------------------------------------------------------------


def _tab(workflow_id: str, name: str) -> str:
    return reverse(TABS[name], kwargs={"workflow_id": workflow_id})


def _back(request: HttpRequest, workflow_id: str) -> str:
    """The view that the form was on, with the step that was selected."""
    name, step = request.POST.get("tab", ""), text(request, "step")
    there = _tab(workflow_id, name if name in TABS else "graph")
    if name in TABS and name not in ("graph", "outline"):
        return there
    return _link(there, open=request.POST.getlist("open"), step=[step] if step else [])


def _needed(request: HttpRequest, name: str, otherwise: str) -> str:
    given = text(request, name)
    if given is None:
        raise ValidationFailed(otherwise, field=name)
    return given


def _revision_read(request: HttpRequest) -> int:
    """The revision that was on the screen: a page decides on no other, and so never without saying which."""
    revision = number(request, "revision")
    if revision is None:
        raise ValidationFailed(
            "the form doesn't say which revision you have read: open the workflow again", field="revision"
        )
    return revision


def _missed(request: HttpRequest, review: Review) -> str | None:
    """After a refused decision: the revision that it was about, where there is a newer one now."""
    given = request.POST.get("revision", "")
    number_ = int(given) if given.isascii() and given.isdigit() and len(given) < 10 else 0
    return f"r{number_}" if 0 < number_ < review.head["revision"] else None


def _frame(review: Review, caller: Caller, tab: str) -> Context:
    """What the head, the banner and the tabs of every view need."""
    head = review.head
    workflow_id = head["workflow_id"]
    draft = head["status"] == "draft"
    counts = {
        "outline": len(review.kept.plan.steps),
        "changes": review.since["places"] if review.since else None,
        "notes": len(review.notes),
        "runs": review.runs,
        "history": head["revision"] + review.versions,
    }
    labels = {
        "graph": _("Graph"),
        "outline": _("Outline"),
        "changes": _("Changes"),
        "notes": _("Notes"),
        "runs": _("Runs"),
        "history": _("History"),
    }
    return {
        "section": "workflows",
        "review": review,
        "head": head,
        "workflow_id": workflow_id,
        "tab": tab,
        "here": _tab(workflow_id, tab if tab in ("graph", "outline") else "graph"),
        "tabs": [
            {"name": name, "label": label_, "n": counts.get(name), "href": _tab(workflow_id, name)}
            for name, label_ in labels.items()
        ],
        "state": head["review"]["state"]
        if draft and head["review"]["state"] == "sent_back"
        else head["status"],
        "amendments": pending_of_workflow(caller=caller, workflow_id=workflow_id) if review.runs else [],
        "since": phrases(review.since["counts"]) if review.since else [],
        "open_count": len(review.open_notes),
        "moved": _link(
            reverse("workflow-moved", kwargs={"workflow_id": workflow_id}),
            etag=[str(review.etag)],
            was=[_standing(review)],
        ),
        "can_decide": draft and caller.may(Right.DECIDE),
        "can_send_back": draft and head["review"]["state"] == "waiting" and caller.may(Right.REVIEW),
        "can_reopen": head["status"] == "approved" and not review.runs and caller.may(Right.DECIDE),
        "can_edit": draft and caller.may(Right.WORK),
        "waits": draft and head["review"]["state"] == "waiting",
    }


def _standing(review: Review) -> str:
    """What a reader must be told of when it changes: another text, a decision. Notes and labels are not among it."""
    head = review.head
    state = head["review"]["state"] if head["review"] else ""
    return f"{head['revision']}.{head['version']}.{head['status']}.{state}"


def _bench(request: HttpRequest, caller: Caller, workflow_id: str, tab: str) -> Context:
    review = get_review(caller=caller, workflow_id=workflow_id)
    plan = review.kept.plan
    wanted = request.POST.get("step") or request.GET.get("step", "")
    step = plan.by_id.get(wanted)
    frame = _frame(review, caller, tab)
    here = frame["here"]
    notes = _told(review)
    open_by_step = Counter(note["step_id"] for note in review.open_notes if note["step_id"] is not None)
    opened = (request.POST or request.GET).getlist("open")[:MOST_OPENED]
    order = _reading_order(plan)
    whole = _link(here, open=opened)
    context = frame | {
        "in_part": "HX-Request" in request.headers,
        "opened": opened,
        "whole": whole,
        "pick": f"{whole}{'&' if opened else '?'}step=",
        "step": step,
        "no_step": wanted if wanted and step is None else "",
        "thread": [note for note in notes if note["step_id"] == (step.id if step else None)],
        "marks": _marks(review),
        "first": order[0],
    }
    if tab == "graph":
        context["graph"] = draw_plan(
            plan,
            key=review.kept.key,
            href=lambda step_id: _link(here, open=opened, step=[step_id]),
            selected=step.id if step else None,
            opened=frozenset(opened),
            open_href=lambda fold: _link(here, open=[*opened, fold], step=[step.id] if step else []),
            notes=open_by_step,
            marks={step_id: mark.lower() for step_id, mark in context["marks"].items()},
        )
        context["folds"] = [
            (title, _link(here, open=[each for each in opened if each != fold]))
            for fold, title in context["graph"].unfolded
        ]
    if tab == "outline" or len(plan.steps) <= MOST_TWICE:
        context["outline"] = outline_of(
            plan,
            link=lambda each: f"{_link(here, open=opened, step=[each.id])}#panel",
            selected=step.id if step else None,
            notes=open_by_step,
        )
    if step is not None:
        return context | _around(plan, step, order) | {"mark": context["marks"].get(step.id)}
    return context | {
        "open_steps": [
            {"step": plan.by_id[step_id], "n": open_by_step[step_id]}
            for step_id in order
            if step_id in open_by_step
        ],
        "orphaned": [note for note in notes if note["orphaned"]],
        "groups": plan.groups,
        "types": _types(plan),
    }


def _link(here: str, **parameters: list[str]) -> str:
    """An address with lists of parameters, empty ones left out."""
    query = urlencode({name: values for name, values in parameters.items() if values}, doseq=True)
    return f"{here}?{query}" if query else here


def _types(plan: Plan) -> str:
    """``11 tasks, 1 checkpoint``."""
    n = Counter(step.type for step in plan.steps)
    said = {
        "task": ngettext("%(n)d task", "%(n)d tasks", n["task"]),
        "checkpoint": ngettext("%(n)d checkpoint", "%(n)d checkpoints", n["checkpoint"]),
        "loop": ngettext("%(n)d loop", "%(n)d loops", n["loop"]),
        "parallel": ngettext("%(n)d parallel", "%(n)d parallels", n["parallel"]),
        "workflow_ref": ngettext("%(n)d workflow", "%(n)d workflows", n["workflow_ref"]),
    }
    return ", ".join(each % {"n": n[type_]} for type_, each in said.items() if n[type_])


def _reading_order(plan: Plan) -> list[str]:
    """Every step as the outline tells them: bodies after their constructs."""
    bodies = {step.id: step.body for step in plan.steps if step.body}
    return [step_id for step_id, _depth, _ends in nested(plan.top_level, bodies)]


def _told(review: Review) -> list[Context]:
    """The notes, each with whether its step says something else by now."""
    steps = review.kept.plan.by_id
    return [
        note
        | {
            "was_reworded": note["step_id"] is not None
            and (note["orphaned"] or steps[note["step_id"]].goal != note["step_goal"])
        }
        for note in review.notes
    ]


def _marks(review: Review) -> dict[str, str]:
    """What became of each step since this person looked, in a word or two: there is no room for more in a box."""
    if review.since is None:
        return {}
    diff = review.since["diff"]
    found = {step["step_id"]: _mark(step["fields"]) for step in diff["changed"]}
    return found | {step["id"]: _("New") for step in diff["added"]}


def _mark(fields: Context) -> str:
    if len(fields) > 1:
        return _("Reworded") if "goal" in fields else _("Changed")
    return _("Reworded") if "goal" in fields else changed_label(fields)


def _around(plan: Plan, step: Step, order: list[str]) -> Context:
    """A step's neighbours, both ways, and what it holds."""
    at = order.index(step.id)
    holder = plan.by_id.get(plan.container.get(step.id, ""))
    return {
        "previous_step": order[at - 1] if at else None,
        "next_step": order[at + 1] if at + 1 < len(order) else None,
        "holder": holder,
        "then": plan.dependents.get(step.id, ()),
        "after_holder": plan.dependents.get(holder.id, ()) if holder else (),
        "step_type": TYPES.get(step.type, step.type),
        "failure_rule": FAILURE_RULES.get(step.on_instance_failure or "", ""),
        "inputs": [(name, text_of(value)) for name, value in step.inputs.items()],
        "outputs": [(name, text_of(value)) for name, value in step.outputs.items()],
    }


def _goes(kind: str, n: int) -> str:
    """``3 runs``; nothing for none, and for what nobody counts by."""
    said = {
        "runs": ngettext("%(n)d run", "%(n)d runs", n),
        "reports": ngettext("%(n)d report", "%(n)d reports", n),
        "artifacts": ngettext("%(n)d artifact", "%(n)d artifacts", n),
        "comments": ngettext("%(n)d comment on artifacts", "%(n)d comments on artifacts", n),
        "questions": ngettext("%(n)d question", "%(n)d questions", n),
        "amendments": ngettext("%(n)d amendment", "%(n)d amendments", n),
        "notes": ngettext("%(n)d review note", "%(n)d review notes", n),
        "versions": ngettext("%(n)d approved version", "%(n)d approved versions", n),
        "revisions": ngettext("%(n)d revision", "%(n)d revisions", n),
    }
    return said[kind] % {"n": n} if n and kind in said else ""
