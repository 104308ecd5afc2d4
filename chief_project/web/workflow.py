"""A workflow under review and after: its plan drawn and outlined, what changed, what people said, and its history."""

from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.urls import path
from django.utils.translation import ngettext

from amendments.selectors.deletion import get_deletion
from chief_project.shared.caller import Caller, Right
from chief_project.shared.paging import Paging
from chief_project.web.addresses import link, paging
from chief_project.web.change_words import phrases
from chief_project.web.differences import entries_of
from chief_project.web.forms import number_in
from chief_project.web.labels import labels_in_use
from chief_project.web.outline import reading_order
from chief_project.web.pages import page
from chief_project.web.workflow_frame import frame_of, kept_of, notes_of, standing, tab_of
from chief_project.web.workflow_panel import bench
from runs.selectors.of_workflow import runs_of_workflow
from workflows.selectors import list_revisions, list_versions, workflow_etag
from workflows.selectors.review import Review, get_changes, get_review

Context = dict[str, Any]
EVERY = Paging(limit=1000)
MOST_CHANGES = 300
LISTED = 50


@page("pages/workflow.html", parts=("panel",))
def workflow_page(request: HttpRequest, caller: Caller, workflow_id: str) -> Context:
    """The graph, and beside it a step or the plan's own thread."""
    return bench(request, caller, workflow_id, "graph")


@page("pages/workflow.html", parts=("panel",))
def outline_page(request: HttpRequest, caller: Caller, workflow_id: str) -> Context:
    """The same as a nested list: the graph's twin for whoever reads or hears."""
    return bench(request, caller, workflow_id, "outline")


@page("pages/workflow_changes.html")
def changes_page(request: HttpRequest, caller: Caller, workflow_id: str) -> Context:
    """Any two revisions or versions compared; after a refused decision, what that decision had not seen."""
    review = get_review(caller=caller, workflow_id=workflow_id)
    before, after = request.GET.get("from") or None, request.GET.get("to") or None
    if request.method == "POST":
        before, after = _missed(request, review), None
    changes = get_changes(caller=caller, workflow_id=workflow_id, before=before, after=after)
    here = tab_of(workflow_id, "graph")
    plan = review.kept.plan
    entries = entries_of(
        changes["diff"],
        link=lambda step_id: (
            link(here, step=step_id)
            if step_id in plan.by_id
            else kept_of(workflow_id, changes["to"], step=step_id)
        ),
        gone=lambda step_id: kept_of(workflow_id, changes["from"], step=step_id),
        notes=changes["beside"],
        dependents=plan.dependents,
    )
    shown = len(entries) if request.GET.get("all") else MOST_CHANGES
    return frame_of(review, caller, "changes") | {
        "changes": changes,
        "compared": [
            each | {"href": kept_of(workflow_id, each["name"])}
            for each in (changes["former"], changes["later"])
        ],
        "phrases": phrases(changes["counts"]),
        "entries": entries[:shown],
        "hidden": max(0, len(entries) - shown),
        "all_href": link(
            tab_of(workflow_id, "changes"), **{"from": changes["from"], "to": changes["to"], "all": "1"}
        ),
        "later_is_older": changes["to"] != f"r{review.head['revision']}",
        "seen_name": f"r{review.seen['revision']}" if review.seen else "",
    }


@page("pages/workflow_notes.html")
def notes_page(request: HttpRequest, caller: Caller, workflow_id: str) -> Context:
    """Every thread: the plan's own, each step's in the order of the plan, and those whose step is gone."""
    review = get_review(caller=caller, workflow_id=workflow_id)
    notes = notes_of(review)
    order = reading_order(review.kept.plan)
    by_step: dict[str, list[Context]] = {}
    for note in notes:
        if note["step_id"] is not None and not note["orphaned"]:
            by_step.setdefault(note["step_id"], []).append(note)
    return frame_of(review, caller, "notes") | {
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
    runs = runs_of_workflow(caller=caller, workflow_id=workflow_id, paging=paging(request, LISTED))
    return frame_of(review, caller, "runs") | {
        "runs": runs,
        "register_url": f"{settings.CHIEF_URL}/v1/workflows/{workflow_id}/runs",
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
    return frame_of(review, caller, "history") | {"kept": kept}


@page("parts/review_moved.html")
def moved_page(request: HttpRequest, caller: Caller, workflow_id: str) -> Context | HttpResponse:
    """What became of the workflow while a page of it was open, in a line; nothing while it stands as it was shown."""
    if str(workflow_etag(caller=caller, workflow_id=workflow_id)) == request.GET.get("etag"):
        return HttpResponse(status=204)
    review = get_review(caller=caller, workflow_id=workflow_id)
    if standing(review) == request.GET.get("was"):
        return HttpResponse(status=204)
    shown = request.GET.get("was", "").split(".")[0]
    return {"review": review, "head": review.head, "workflow_id": workflow_id, "shown": shown}


@page("pages/workflow_ask.html")
def label_page(request: HttpRequest, caller: Caller, workflow_id: str) -> Context:
    """Title, project and directory."""
    caller.must(Right.REVIEW, "label a workflow")
    review = get_review(caller=caller, workflow_id=workflow_id)
    return frame_of(review, caller, "") | {"ask": "label", "projects": labels_in_use(caller)}


@page("pages/workflow_ask.html")
def archive_page(request: HttpRequest, caller: Caller, workflow_id: str) -> Context:
    """Before a draft is discarded, or an approved workflow put away."""
    caller.must(Right.DECIDE, "archive a workflow")
    return frame_of(get_review(caller=caller, workflow_id=workflow_id), caller, "") | {"ask": "archive"}


@page("pages/workflow_ask.html")
def reopen_page(request: HttpRequest, caller: Caller, workflow_id: str) -> Context:
    """Before an approved workflow becomes a draft again."""
    caller.must(Right.DECIDE, "reopen a workflow")
    return frame_of(get_review(caller=caller, workflow_id=workflow_id), caller, "") | {"ask": "reopen"}


@page("pages/workflow_ask.html")
def delete_page(request: HttpRequest, caller: Caller, workflow_id: str) -> Context:
    """Before a workflow is deleted: what goes, and what stays."""
    review = get_review(caller=caller, workflow_id=workflow_id)
    told = get_deletion(caller=caller, workflow_id=workflow_id)
    return frame_of(review, caller, "") | {
        "ask": "delete",
        "deletion": told,
        "goes": [each for kind, n in told["removes"].items() if (each := _goes(kind, n))],
    }


def _missed(request: HttpRequest, review: Review) -> str | None:
    """After a refused decision: the revision that it was about, where there is a newer one now."""
    read = number_in(request.POST.get("revision", "")) or 0
    return f"r{read}" if 0 < read < review.head["revision"] else None


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


urlpatterns = [
    path("workflows/<id:workflow_id>", workflow_page, name="workflow"),
    path("workflows/<id:workflow_id>/outline", outline_page, name="workflow-outline"),
    path("workflows/<id:workflow_id>/changes", changes_page, name="workflow-changes"),
    path("workflows/<id:workflow_id>/notes", notes_page, name="workflow-notes"),
    path("workflows/<id:workflow_id>/runs", runs_page, name="workflow-runs"),
    path("workflows/<id:workflow_id>/history", history_page, name="workflow-history"),
    path("workflows/<id:workflow_id>/moved", moved_page, name="workflow-moved"),
    path("workflows/<id:workflow_id>/label", label_page, name="workflow-label"),
    path("workflows/<id:workflow_id>/archive", archive_page, name="workflow-archive"),
    path("workflows/<id:workflow_id>/reopen", reopen_page, name="workflow-reopen"),
    path("workflows/<id:workflow_id>/delete", delete_page, name="workflow-delete"),
]
