"""A workflow's plan as it stands, to be read and noted: what is marked in it, and the thread beside it."""

from collections import Counter
from typing import Any

from django.http import HttpRequest
from django.utils.translation import gettext as _

from chief_project.shared.caller import Caller
from chief_project.web.differences import changed_label
from chief_project.web.outline import reading_order
from chief_project.web.plan_bench import bench_of
from chief_project.web.workflow_frame import frame_of, notes_of, tab_of
from workflows.selectors.review import Review, get_review

Context = dict[str, Any]


def bench(request: HttpRequest, caller: Caller, workflow_id: str, tab: str) -> Context:
    """The plan as a graph or (``tab``) an outline, and beside it a step or the plan's own thread."""
    review = get_review(caller=caller, workflow_id=workflow_id)
    frame = frame_of(review, caller, tab)
    notes = notes_of(review)
    open_by_step = Counter(note["step_id"] for note in review.open_notes if note["step_id"] is not None)
    marks = _marks(review)
    shown = bench_of(
        request, review.kept, frame["here"], outlined=tab == "outline", notes=open_by_step, marks=marks
    )
    step = shown["step"]
    context = frame | shown | {
        "outline_href": tab_of(workflow_id, "outline"),
        "thread": [note for note in notes if note["step_id"] == (step.id if step else None)],
    }  # fmt: skip
    if step is not None:
        return context | {"mark": marks.get(step.id)}
    plan = review.kept.plan
    return context | {
        "open_steps": [
            {"step": plan.by_id[step_id], "n": open_by_step[step_id]}
            for step_id in reading_order(plan)
            if step_id in open_by_step
        ],
        "orphaned": [note for note in notes if note["orphaned"]],
    }


def _marks(review: Review) -> dict[str, str]:
    """What became of each step since this person looked, in a word or two: there is no room for more in a box."""
    if review.since is None:
        return {}
    diff = review.since["diff"]
    found = {step["step_id"]: _mark(step["fields"]) for step in diff["changed"]}
    return found | {step["id"]: _("New") for step in diff["added"]}


def _mark(fields: Context) -> str:
    """What became of one step; ``fields`` as a ``plan_diff`` has them."""
    if len(fields) > 1:
        return _("Reworded") if "goal" in fields else _("Changed")
    return _("Reworded") if "goal" in fields else changed_label(fields)
