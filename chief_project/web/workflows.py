"""Workflows: one list of plans and their runs."""

from typing import Any

from django.http import HttpRequest
from django.urls import path, reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext, pgettext_lazy

from amendments.selectors.overview import SORTS, STATES, Sort, list_overview
from chief_project.shared.caller import Caller
from chief_project.web.addresses import asked, paging
from chief_project.web.labels import label_of, query_of, value_of
from chief_project.web.pages import page

Context = dict[str, Any]

ROWS = 50

PLURALS = {
    "draft": gettext_lazy("Drafts"),
    "sent_back": gettext_lazy("Sent back"),
    "waiting": gettext_lazy("Waiting"),
    "running": gettext_lazy("Running"),
    "failed": gettext_lazy("Failed"),
    "approved": gettext_lazy("Approved"),
    "completed": gettext_lazy("Completed"),
    "cancelled": gettext_lazy("Cancelled"),
    "archived": gettext_lazy("Archived"),
}
"""The states of the list, for buttons that keep it to one."""

_HAPPENED = {
    "workflow.created": pgettext_lazy("last change", "submitted by %(by)s"),
    "workflow.cloned": pgettext_lazy("last change", "cloned by %(by)s"),
    "workflow.revised": pgettext_lazy("last change", "revised by %(by)s"),
    "workflow.approved": pgettext_lazy("last change", "approved by %(by)s"),
    "workflow.archived": pgettext_lazy("last change", "archived by %(by)s"),
    "workflow.reopened": pgettext_lazy("last change", "made a draft again by %(by)s"),
    "workflow.sent_back": pgettext_lazy("last change", "sent back by %(by)s"),
    "workflow.labelled": pgettext_lazy("last change", "labelled by %(by)s"),
    "workflow.note_added": pgettext_lazy("last change", "note by %(by)s"),
    "workflow.note_resolved": pgettext_lazy("last change", "note resolved by %(by)s"),
    "workflow.note_reopened": pgettext_lazy("last change", "note opened again by %(by)s"),
    "run.registered": pgettext_lazy("last change", "run begun by %(by)s"),
    "run.cancelled": pgettext_lazy("last change", "cancelled by %(by)s"),
    "run.acknowledged": pgettext_lazy("last change", "left failed by %(by)s"),
    "step.updated": pgettext_lazy("last change", "reported by %(by)s"),
    "instance.registered": pgettext_lazy("last change", "reported by %(by)s"),
    "instance.updated": pgettext_lazy("last change", "reported by %(by)s"),
    "checkpoint.resolved": pgettext_lazy("last change", "checkpoint decided by %(by)s"),
    "step.question_asked": pgettext_lazy("last change", "asked by %(by)s"),
    "step.question_answered": pgettext_lazy("last change", "question answered by %(by)s"),
    "step.question_withdrawn": pgettext_lazy("last change", "question withdrawn by %(by)s"),
    "stale.marked": pgettext_lazy("last change", "marked stale by %(by)s"),
    "stale.cleared": pgettext_lazy("last change", "stale mark cleared by %(by)s"),
    "artifact.commented": pgettext_lazy("last change", "comment by %(by)s"),
    "amendment.proposed": pgettext_lazy("last change", "amendment proposed by %(by)s"),
    "amendment.approved": pgettext_lazy("last change", "amendment approved by %(by)s"),
    "amendment.rejected": pgettext_lazy("last change", "amendment rejected by %(by)s"),
    "amendment.withdrawn": pgettext_lazy("last change", "amendment withdrawn by %(by)s"),
}


@page("pages/workflows.html", parts=("list",))
def workflows_page(request: HttpRequest, caller: Caller) -> Context:
    """The list, kept to a state, a project and words of it, and sorted."""
    project = label_of(request)
    state = request.GET.get("state", "")
    state = state if state in STATES else ""
    q = asked(request, "q")
    sort: Sort = next((each for each in SORTS if each == request.GET.get("sort")), "changed")
    wanted = paging(request, ROWS)
    found = list_overview(
        caller=caller,
        paging=wanted,
        state=state or None,
        project=project,
        q=q,
        sort=sort,
    )
    chosen: Context = {"q": q, "state": state, "sort": "" if sort == "changed" else sort}
    counts = found.extra["states"]
    return {
        "section": "workflows",
        "rows": [_dressed(row, caller) for row in found.rows],
        "total": found.total,
        "anything": bool(found.extra["projects"]),
        "projects": [
            {"label": label, "count": count, "value": value_of("" if label is None else label)}
            for label, count in found.extra["projects"]
        ],
        "project": value_of(project),
        "q": q,
        "state": state,
        "sort": sort,
        "chips": [
            {
                "state": each,
                "word": PLURALS[each],
                "count": counts.get(each, 0),
                "query": query_of(project, **chosen | {"state": each}),
            }
            for each in STATES
            if counts.get(each) or each == state
        ],
        "all_states": sum(counts.values()),
        "every_query": query_of(project, **chosen | {"state": ""}),
        "sorts": {
            each: query_of(project, **chosen | {"sort": "" if each == "changed" else each}) for each in SORTS
        },
        "filtered": bool(q or state or project is not None),
        "next": query_of(project, **chosen, cursor=found.next_cursor) if found.next_cursor else "",
        "first": query_of(project, **chosen) if wanted.cursor else None,
    }


def _dressed(row: Context, caller: Caller) -> Context:
    """A row with its links and words."""
    plan = reverse("workflow", kwargs={"workflow_id": row["workflow_id"]})
    runs = [run | {"href": reverse("run", kwargs={"run_id": run["run_id"]})} for run in row["runs"]]
    for run in runs:
        run["of"] = sum(run["counts"].values())
        run["shown_state"] = "paused" if run["status"] == "paused_for_approval" else run["state"]
    lead, others = (runs[0], runs[1:]) if runs else (None, [])
    by_run = lead is not None and row["state"] in ("waiting", "running", "failed", "completed", "cancelled")
    changed = row["changed"]
    return row | {
        "href": lead["href"] if lead is not None and by_run else plan,
        "plan_url": plan,
        "shown_state": lead["shown_state"] if lead is not None and by_run else row["state"],
        "lead": lead,
        "others": others,
        "more_runs": row["all_runs"] - len(runs),
        "runs_url": reverse("workflow-runs", kwargs={"workflow_id": row["workflow_id"]}),
        "waits_for": _waits_for(row["waits"]),
        "happened": "" if changed is None else _happened(changed, caller),
    }


def _waits_for(waits: Context | None) -> str:
    """What is waited for, in words; whom for says the template."""
    if waits is None:
        return ""
    count = waits["count"]
    match waits["kind"]:
        case "draft":
            return _("approval")
        case "amendment":
            return _("amendment")
        case "checkpoint":
            return ngettext("checkpoint", "%(n)d checkpoints", count) % {"n": count}
        case "question":
            return ngettext("question", "%(n)d questions", count) % {"n": count}
        case "failed_run":
            return ngettext("failed run", "%(n)d failed runs", count) % {"n": count}
        case "revise":
            if not count:
                return _("to revise it")
            return ngettext("to revise: %(n)d note", "to revise: %(n)d notes", count) % {"n": count}
        case _:
            return _("to start it")


def _happened(changed: Context, caller: Caller) -> str:
    by = _("you") if changed["by"] == caller.actor else changed["by"]
    said = _HAPPENED.get(changed["event"])
    return str(said) % {"by": by} if said else f"{changed['event']}, {by}"


urlpatterns = [path("workflows", workflows_page, name="workflows")]
