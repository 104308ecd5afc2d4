"""An amendment: what it would change, in words first, then drawn, then operation by operation; and the decision."""

from collections.abc import Iterator
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.urls import path, reverse
from django.utils.translation import gettext as _

from amendments.domain.words import Told, together
from amendments.selectors.amendments import get_amendment
from amendments.selectors.proposal import Proposal, get_proposal
from amendments.services.approve_amendment import approve_amendment
from amendments.services.reject_amendment import reject_amendment
from chief_project.shared.caller import Caller, Right
from chief_project.web.addresses import link
from chief_project.web.amendment_words import sentence
from chief_project.web.differences import Row, changed_rows, step_rows
from chief_project.web.forms import text
from chief_project.web.graph import draw_amendment
from chief_project.web.pages import action, page
from chief_project.web.run_links import definition_of
from runs.selectors.runs import get_run
from workflows.domain.changes import criteria_changes
from workflows.domain.diff import plan_diff, step_document
from workflows.domain.plan import Plan, Step

Context = dict[str, Any]
VIEWS = ("before", "both", "after")
_SHOWN = 6


@page("pages/amendment.html")
def amendment_page(request: HttpRequest, caller: Caller, amendment_id: str) -> Context:
    """While it is pending with the run's states, and with how its targets stand; afterwards as a record."""
    proposal = get_proposal(caller=caller, amendment_id=amendment_id)
    run = get_run(caller=caller, run_id=proposal.run["run_id"]) if proposal.pending else None
    view = next((each for each in VIEWS if each == request.GET.get("view")), "both")
    opened = request.GET.getlist("open")[:_SHOWN]
    place = proposal.place
    here = reverse("amendment", kwargs={"amendment_id": amendment_id})
    graph = draw_amendment(
        proposal.before.plan,
        proposal.after.plan,
        key=("amendment", amendment_id, proposal.before.key, proposal.after.key),
        operations=proposal.amendment["operations"],
        href=lambda place: f"#{_anchor(proposal, place.split('/')[-1])}",
        view=view,
        run=run,
        opened=frozenset(opened),
        open_href=lambda fold: f"{link(here, view=view, open=[*opened, fold])}#graph",
        yours=caller.may(Right.DECIDE),
    )
    finished = {told.step.id for told in proposal.told if told.standing and told.standing.finished}
    return {
        "section": "workflows",
        "proposal": proposal,
        "amendment": proposal.amendment,
        "run": proposal.run,
        "workflow": proposal.workflow,
        "workflow_id": proposal.workflow["workflow_id"],
        "here": here,
        "view": view,
        "views": [("before", _("Before")), ("both", _("Both")), ("after", _("After"))],
        "graph": graph,
        "sentences": [
            (sentence(told), _is_alone(told, proposal.after.plan)) for told in together(proposal.told)
        ],
        "operations": list(_operations(proposal)),
        "history": proposal.amendment["kind"] == "history_edit",
        "finished": sorted(finished),
        "differs": list(_differs(proposal)),
        "running": proposal.running[:_SHOWN],
        "more_running": max(0, len(proposal.running) - _SHOWN),
        "former": proposal.former[:_SHOWN],
        "next_version": proposal.workflow["version"] + 1,
        "plan_before": definition_of(proposal.run["run_id"], place - 1 if place else None),
        "plan_after": definition_of(proposal.run["run_id"], place),
    }


@page("parts/amendment_moved.html")
def moved_page(request: HttpRequest, caller: Caller, amendment_id: str) -> Context | HttpResponse:
    """Who decided while the page was open, in a line; nothing while it waits."""
    amendment = get_amendment(caller=caller, amendment_id=amendment_id)
    if amendment["status"] == "pending_approval":
        return HttpResponse(status=204)
    return {"amendment": amendment}


@action(amendment_page)
def approve(request: HttpRequest, caller: Caller, amendment_id: str) -> str:
    """It is tried on the live run once more; what no longer fits is refused, and nothing is applied."""
    done = approve_amendment(caller=caller, amendment_id=amendment_id, reason=text(request, "reason")).full()
    messages.success(
        request,
        _("Approved. The run goes on under the new plan, version %(n)d.")
        % {"n": done["resulting_workflow_version"]},
    )
    return reverse("amendment", kwargs={"amendment_id": amendment_id})


@action(amendment_page)
def reject(request: HttpRequest, caller: Caller, amendment_id: str) -> str:
    """The plan stays as it is."""
    reject_amendment(caller=caller, amendment_id=amendment_id, reason=text(request, "reason"))
    messages.success(request, _("Rejected. The plan stays as it is, and the run goes on."))
    return reverse("amendment", kwargs={"amendment_id": amendment_id})


urlpatterns = [
    path("amendments/<id:amendment_id>", amendment_page, name="amendment"),
    path("amendments/<id:amendment_id>/moved", moved_page, name="amendment-moved"),
    path("amendments/<id:amendment_id>/approve", approve, name="amendment-approve"),
    path("amendments/<id:amendment_id>/reject", reject, name="amendment-reject"),
]


def _operations(proposal: Proposal) -> Iterator[Context]:
    """Each operation as it was proposed: the step before and after, field by field, and what is kept of its work."""
    kept: set[tuple[str, str | None]] = set()
    for told in proposal.told:
        standing = told.standing
        once = told.keeps and (told.step.id, told.path) not in kept
        if told.keeps:
            kept.add((told.step.id, told.path))
        yield {
            "told": told,
            "keeps": once and proposal.pending,
            "n": told.operation + 1,
            "anchor": f"op-{told.operation + 1}",
            "step": told.step,
            "look": sentence(told).look if told.op != "update_step" else "mod",
            "icon": {"insert_after": "plusop", "insert_before": "plusop", "update_step": "edit",
                     "remove_step": "minusop", "replay_step": "replay"}[told.op],
            "label": {"insert_after": _("Insert"), "insert_before": _("Insert"), "update_step": _("Update"),
                      "remove_step": _("Remove"), "replay_step": _("Run again")}[told.op],
            "rows": _rows(told, proposal.after.plan),
            "alone": told.op == "replay_step" and told.path is not None,  # the standing is that of all its copies
            "states": list(standing.counts.items()) if standing and told.op != "update_step" else [],
            "copies": sum(standing.counts.values()) if standing else 0,
            "finished": bool(standing and standing.finished) and told.op != "insert_after",
            "finished_at": standing.finished_at if standing and told.path is None else None,
            "unanswered": _unanswered(told),
        }  # fmt: skip


def _rows(told: Told, after: Plan) -> list[Row]:
    if told.was is None:
        assert told.now is not None
        return step_rows(step_document(told.now), "+", then=after.dependents.get(told.now.id, ()))
    if told.now is None:
        return step_rows(step_document(told.was), "-")
    if told.op != "update_step":
        return []
    return _changed(told.was, told.now)


def _changed(was: Step, now: Step) -> list[Row]:
    changed = plan_diff(Plan((was,)), Plan((now,)))["changed"]
    return changed_rows(changed[0]["fields"], goal=now.goal) if changed else []


def _unanswered(told: Told) -> list[str]:
    """The criteria whose answers stop counting: reworded, or gone."""
    if told.op != "update_step" or told.was is None or told.now is None or not told.keeps:
        return []
    told_of = criteria_changes(
        {"before": step_document(told.was)["criteria"], "after": step_document(told.now)["criteria"]}
    )
    gone = [each["id"] for each in told_of["removed"]] + [old["id"] for old, _new in told_of["reworded"]]
    return sorted(gone, key=lambda each: (len(each), each))


def _is_alone(told: Told, after: Plan) -> bool:
    """A new step that no other waits for: an insert rewires nothing, and the rest may go past it."""
    return told.code == "inserts" and told.step.id in after.by_id and not after.dependents.get(told.step.id)


def _anchor(proposal: Proposal, step_id: str) -> str:
    """The operation that a box of the graph leads to; without one, the graph itself."""
    for told in proposal.told:
        if told.step.id == step_id:
            return f"op-{told.operation + 1}"
    return "graph"


def _differs(proposal: Proposal) -> Iterator[Context]:
    """The steps of this set that the workflow's own plan tells differently from the run's."""
    for each in proposal.head["differs"]:
        step_id = each["step_id"]
        own = proposal.before.plan.by_id.get(step_id)
        shared = proposal.shared.plan.by_id.get(step_id)
        yield {
            "step_id": step_id,
            "gone": shared is None,
            "rows": _changed(own, shared) if own is not None and shared is not None else [],
        }
