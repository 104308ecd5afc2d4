"""The plan that a run goes by, or went by after its first amendments, to be read; what became of it is the run's page."""

from typing import Any

from django.http import HttpRequest
from django.urls import path
from django.utils.translation import gettext as _

from chief_project.shared.caller import Caller
from chief_project.web.addresses import asked, link
from chief_project.web.forms import number_in
from chief_project.web.pages import page
from chief_project.web.plan_bench import bench_of
from chief_project.web.run_frame import frame_of
from chief_project.web.run_links import definition_of, step_of, table_of
from runs.selectors.runs import plan_of_run

Context = dict[str, Any]

_NONE = -1  # refused as every number is that is out of range


@page("pages/run_definition.html", parts=("panel",))
def definition_page(request: HttpRequest, caller: Caller, run_id: str) -> Context:
    """The graph, and beside it a step as it was planned."""
    return _read(request, caller, run_id, "graph")


@page("pages/run_definition.html", parts=("panel",))
def definition_outline_page(request: HttpRequest, caller: Caller, run_id: str) -> Context:
    """The same as a nested list."""
    return _read(request, caller, run_id, "outline")


def _read(request: HttpRequest, caller: Caller, run_id: str, view: str) -> Context:
    """The run's frame around the plan after ``?applied=``, or after all amendments so far; and how it came to be."""
    frame = frame_of(caller, run_id, "")
    ids = frame["run"]["applied_amendment_ids"]
    wanted = asked(request, "applied")
    number = number_in(wanted)
    at = len(ids) if not wanted else _NONE if number is None else number
    kept = plan_of_run(caller=caller, run_id=run_id, applied=at)
    applied = at if wanted else None
    shown = bench_of(
        request,
        kept,
        definition_of(run_id, view=view),
        outlined=view == "outline",
        carried={"applied": wanted and str(at)},
    )
    step = shown["step"].id if shown["step"] else ""
    told = {each["amendment_id"]: each for each in frame["amendments"]}
    labels = {"graph": _("Graph"), "outline": _("Outline")}
    return frame | shown | {
        "at": at,
        "of": len(ids),
        "plans": [
            {
                "n": n,
                "amendment": told.get(ids[n - 1], {"amendment_id": ids[n - 1]}) if n else None,
                "href": definition_of(run_id, n if n < len(ids) else None, view=view, step=step),
            }
            for n in range(len(ids) + 1)
        ],
        "view": view,
        "views": [(name, word, definition_of(run_id, applied, view=name, step=step)) for name, word in labels.items()],
        "outline_href": definition_of(run_id, applied, view="outline"),
        "as_json": link(f"/v1/runs/{run_id}/definition", applied=wanted and str(at)),
        "became": table_of(run_id, "", step) if step in kept.plan.container else step_of(run_id, (step,)),
    }  # fmt: skip


urlpatterns = [
    path("runs/<id:run_id>/definition", definition_page, name="run-definition"),
    path("runs/<id:run_id>/definition/outline", definition_outline_page, name="run-definition-outline"),
]
