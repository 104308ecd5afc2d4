"""A plan to be read, whoever's it is: drawn or outlined (``parts/plan_canvas.html``), and beside it one of its steps, or
what it is made of (``parts/plan_panel.html``)."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from django.http import HttpRequest
from django.utils.translation import ngettext

from chief_project.web.addresses import link
from chief_project.web.change_words import FAILURE_RULES, TYPES
from chief_project.web.differences import text_of
from chief_project.web.graph import draw_plan
from chief_project.web.outline import outline_of, reading_order
from workflows.domain.plan import KeptPlan, Plan, Step

Context = dict[str, Any]

MOST_OPENED = 50
MOST_TWICE = 150  # steps that the graph's page tells as an outline, too, for narrow screens


def bench_of(
    request: HttpRequest,
    kept: KeptPlan,
    here: str,
    *,
    outlined: bool,
    carried: Mapping[str, str] | None = None,
    notes: Mapping[str, int] | None = None,
    marks: Mapping[str, str] | None = None,
) -> Context:
    """The plan as a graph or an outline, and the step that is asked for.

    ``here``: the page's address, ``carried`` what of its parameters every link on it keeps; ``notes``: how many are
    open by step id; ``marks``: a word or two on a step that are told in its box.
    """
    plan, keep = kept.plan, carried or {}
    wanted = request.POST.get("step") or request.GET.get("step", "")
    step = plan.by_id.get(wanted)
    opened = (request.POST or request.GET).getlist("open")[:MOST_OPENED]
    order = reading_order(plan)
    whole = link(here, **keep, open=opened)
    context: Context = {
        "in_part": "HX-Request" in request.headers,
        "outlined": outlined,
        "opened": opened,
        "whole": whole,
        "pick": f"{whole}{'&' if '?' in whole else '?'}step=",
        "step": step,
        "no_step": wanted if wanted and step is None else "",
        "first": order[0],
    }
    if not outlined:
        graph = draw_plan(
            plan,
            key=kept.key,
            href=lambda step_id: link(here, **keep, open=opened, step=step_id),
            selected=step.id if step else None,
            opened=frozenset(opened),
            open_href=lambda fold: link(here, **keep, open=[*opened, fold], step=step.id if step else ""),
            notes=notes or {},
            marks={step_id: mark.lower() for step_id, mark in (marks or {}).items()},
        )
        context |= {
            "graph": graph,
            "folds": [
                (title, link(here, **keep, open=[each for each in opened if each != fold]))
                for fold, title in graph.unfolded
            ],
        }
    if outlined or len(plan.steps) <= MOST_TWICE:
        context["outline"] = outline_of(
            plan,
            link=lambda each: f"{link(here, **keep, open=opened, step=each.id)}#panel",
            selected=step.id if step else None,
            notes=notes,
        )
    return context | (_around(plan, step, order) if step else {"groups": plan.groups, "types": _types(plan)})


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
