"""What every view of a workflow begins with: the head, the banner and the tabs; and its notes."""

from typing import Any

from django.urls import reverse
from django.utils.translation import gettext as _

from amendments.selectors.proposal import pending_of_workflow
from chief_project.shared.caller import Caller, Right
from chief_project.web.addresses import link
from chief_project.web.change_words import phrases
from workflows.selectors.review import Review

Context = dict[str, Any]

TABS = {
    "graph": "workflow",
    "outline": "workflow-outline",
    "changes": "workflow-changes",
    "notes": "workflow-notes",
    "runs": "workflow-runs",
    "history": "workflow-history",
}
"""The name of each view's address."""
KEPT = {"graph": "workflow-kept", "outline": "workflow-kept-outline"}
"""Those of a revision or version as it was."""


def tab_of(workflow_id: str, name: str) -> str:
    """One of the workflow's pages, by its name in ``TABS``."""
    return reverse(TABS[name], kwargs={"workflow_id": workflow_id})


def kept_of(workflow_id: str, name: str, tab: str = "graph", step: str = "") -> str:
    """A revision (``r3``) or version (``v2``) as it was, with a step beside it."""
    return link(reverse(KEPT[tab], kwargs={"workflow_id": workflow_id, "kept": name}), step=step)


def frame_of(review: Review, caller: Caller, tab: str) -> Context:
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
        "here": tab_of(workflow_id, tab if tab in ("graph", "outline") else "graph"),
        "tabs": [
            {"name": name, "label": label_, "n": counts.get(name), "href": tab_of(workflow_id, name)}
            for name, label_ in labels.items()
        ],
        "state": head["review"]["state"]
        if draft and head["review"]["state"] == "sent_back"
        else head["status"],
        "amendments": pending_of_workflow(caller=caller, workflow_id=workflow_id) if review.runs else [],
        "since": phrases(review.since["counts"]) if review.since else [],
        "open_count": len(review.open_notes),
        "moved": link(
            reverse("workflow-moved", kwargs={"workflow_id": workflow_id}),
            etag=str(review.etag),
            was=standing(review),
        ),
        "can_decide": draft and caller.may(Right.DECIDE),
        "can_send_back": draft and head["review"]["state"] == "waiting" and caller.may(Right.REVIEW),
        "can_reopen": head["status"] == "approved" and not review.runs and caller.may(Right.DECIDE),
        "can_edit": draft and caller.may(Right.WORK),
        "waits": draft and head["review"]["state"] == "waiting",
    }


def standing(review: Review) -> str:
    """What a reader must be told of when it changes: another text, a decision. Notes and labels are not among it."""
    head = review.head
    state = head["review"]["state"] if head["review"] else ""
    return f"{head['revision']}.{head['version']}.{head['status']}.{state}"


def notes_of(review: Review) -> list[Context]:
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
