"""A workflow's plan to be read: drawn or outlined, and beside it one step, or the plan's own thread."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from django.http import HttpRequest
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from chief_project.shared.caller import Caller
from chief_project.web.addresses import link
from chief_project.web.change_words import FAILURE_RULES, TYPES
from chief_project.web.differences import changed_label, text_of
from chief_project.web.graph import draw_plan
from chief_project.web.outline import outline_of, reading_order
from chief_project.web.workflow_frame import frame_of, notes_of
from workflows.domain.plan import Plan, Step
from workflows.selectors.review import Review, get_review

Context = dict[str, Any]

MOST_OPENED = 50
MOST_TWICE = 150  # steps that the graph's page tells as an outline, too, for narrow screens


def bench(request: HttpRequest, caller: Caller, workflow_id: str, tab: str) -> Context:
    """The plan as a graph or (``tab``) an outline, and beside it a step or the plan's own thread."""
    review = get_review(caller=caller, workflow_id=workflow_id)
    plan = review.kept.plan
    wanted = request.POST.get("step") or request.GET.get("step", "")
    step = plan.by_id.get(wanted)
    frame = frame_of(review, caller, tab)
    here = frame["here"]
    notes = notes_of(review)
    open_by_step = Counter(note["step_id"] for note in review.open_notes if note["step_id"] is not None)
    opened = (request.POST or request.GET).getlist("open")[:MOST_OPENED]
    order = reading_order(plan)
    whole = link(here, open=opened)
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
        context |= _drawn(review, here, opened, step.id if step else "", open_by_step, context["marks"])
    if tab == "outline" or len(plan.steps) <= MOST_TWICE:
        context["outline"] = outline_of(
            plan,
            link=lambda each: f"{link(here, open=opened, step=each.id)}#panel",
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


def _drawn(
    review: Review,
    here: str,
    opened: list[str],
    selected: str,
    notes: Mapping[str, int],
    marks: Mapping[str, str],
) -> Context:
    """The graph, and what of it can be folded again, as ``[(title, address)]``."""
    graph = draw_plan(
        review.kept.plan,
        key=review.kept.key,
        href=lambda step_id: link(here, open=opened, step=step_id),
        selected=selected or None,
        opened=frozenset(opened),
        open_href=lambda fold: link(here, open=[*opened, fold], step=selected),
        notes=notes,
        marks={step_id: mark.lower() for step_id, mark in marks.items()},
    )
    folds = [
        (title, link(here, open=[each for each in opened if each != fold])) for fold, title in graph.unfolded
    ]
    return {"graph": graph, "folds": folds}


def _types(plan: Plan) -> str:
    """``11 tasks, 1 checkpoint``."""
    n = Counter(step.type for step in plan.steps)
    said = {
        "task": ngettext("%(n)d task", "%(n)d tasks", n["task"]),
        "checkpoint": ngettext("%(n)d checkpoint", "%(n)d checkpoints", n["checkpoint"]),
        "loop": ngettext("%(n)d loop", "%(n)d loops", n["loop"]),
        "parallel": ngettext("%(n)d parallel", "%(n)d parallels", n["parallel"]),
    }
    return ", ".join(each % {"n": n[type_]} for type_, each in said.items() if n[type_])


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
