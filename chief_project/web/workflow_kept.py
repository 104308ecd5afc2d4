"""A workflow's revision or approved version as it was, to be read and no more: nothing is decided or noted on it."""

from typing import Any

from django.http import HttpRequest
from django.urls import path

from chief_project.shared.caller import Caller
from chief_project.web.addresses import link
from chief_project.web.pages import page
from chief_project.web.plan_bench import bench_of
from chief_project.web.workflow_frame import frame_of, kept_of, tab_of
from workflows.selectors import plan_then
from workflows.selectors.review import get_review

Context = dict[str, Any]


@page("pages/workflow_kept.html", parts=("panel",))
def kept_page(request: HttpRequest, caller: Caller, workflow_id: str, kept: str) -> Context:
    """The graph of the plan that ``r3`` or ``v2`` names, and beside it a step with what was noted on it."""
    return _read(request, caller, workflow_id, kept, "graph")


@page("pages/workflow_kept.html", parts=("panel",))
def kept_outline_page(request: HttpRequest, caller: Caller, workflow_id: str, kept: str) -> Context:
    """The same as a nested list."""
    return _read(request, caller, workflow_id, kept, "outline")


def _read(request: HttpRequest, caller: Caller, workflow_id: str, name: str, tab: str) -> Context:
    """The workflow's frame around that plan. Its graph and outline are this plan's, its changes those since."""
    review = get_review(caller=caller, workflow_id=workflow_id)
    then = plan_then(caller=caller, workflow_id=workflow_id, name=name)
    frame = frame_of(review, caller, tab)
    kind, n = name[0], then.entry["n"]
    count = review.versions if kind == "v" else review.head["revision"]
    shown = bench_of(request, then.kept, kept_of(workflow_id, name, tab), outlined=tab == "outline")
    step = shown["step"]
    now = link(tab_of(workflow_id, tab), step=step.id if step else "")
    changes = link(tab_of(workflow_id, "changes"), **{"from": name, "to": review.stands})
    is_now = then.kept.key == review.kept.key
    instead = {
        "graph": {"href": kept_of(workflow_id, name, "graph")},
        "outline": {"href": kept_of(workflow_id, name, "outline"), "n": len(then.kept.plan.steps)},
        "changes": {} if is_now else {"href": changes, "n": None},
    }
    return frame | shown | {
        "tabs": [each | instead.get(each["name"], {}) for each in frame["tabs"]],
        "name": name,
        "kind": kind,
        "entry": then.entry,
        "title": then.kept.title,
        "count": count,
        # every number up to the newest was kept
        "before": kept_of(workflow_id, f"{kind}{n - 1}", tab) if n > 1 else "",
        "after": kept_of(workflow_id, f"{kind}{n + 1}", tab) if n < count else "",
        "now": now,
        "now_n": review.stands[1:],
        "is_now": is_now,
        "is_there": step is not None and step.id in review.kept.plan.by_id,
        "changes": changes,
        "outline_href": kept_of(workflow_id, name, "outline"),
        "thread": [
            note | {"orphaned": False, "was_reworded": step is not None and note["step_goal"] != step.goal}
            for note in review.notes
            if note["step_id"] == (step.id if step else None)
        ],
    }  # fmt: skip


urlpatterns = [
    path("workflows/<id:workflow_id>/plans/<id:kept>", kept_page, name="workflow-kept"),
    path(
        "workflows/<id:workflow_id>/plans/<id:kept>/outline", kept_outline_page, name="workflow-kept-outline"
    ),
]
