"""A run: its graph with live states, when it ran and waited, everything in it as a table, and what it left behind."""

from datetime import datetime
from typing import Any

from django.http import HttpRequest
from django.urls import path
from django.utils.functional import SimpleLazyObject
from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from chief_project.shared.caller import Caller, Right
from chief_project.shared.clock import iso
from chief_project.shared.paging import Page
from chief_project.shared.selectors import list_audit
from chief_project.web import timeline as drawn_timeline
from chief_project.web.addresses import asked, link, moment, paging
from chief_project.web.audit import in_row
from chief_project.web.forms import number_in
from chief_project.web.graph import Drawing, draw_run
from chief_project.web.pages import page
from chief_project.web.run_frame import frame_of
from chief_project.web.run_links import panel_of, tab_of, table_of
from chief_project.web.run_panel import beside, outline, overview
from chief_project.web.run_rows import artifact_row, question_row, report_row, table_row
from runs.domain.paths import Path, any_path
from runs.selectors.board import LOOKS, Head, get_board, get_table, get_timeline
from runs.selectors.kept import list_artifacts, list_questions
from runs.selectors.places import get_place
from runs.selectors.runs import get_run, list_updates, plan_of_run

Context = dict[str, Any]

MOST_OPENED = 20
LISTED = 50
_CHIPS = {
    "waiting": lambda: pgettext("states", "Waiting"),
    "running": lambda: pgettext("states", "Running"),
    "failed": lambda: pgettext("states", "Failed"),
    "completed": lambda: pgettext("states", "Completed"),
    "pending": lambda: pgettext("states", "Pending"),
    "skipped": lambda: pgettext("states", "Skipped"),
}


@page("pages/run.html", parts=("panel",))
def run_page(request: HttpRequest, caller: Caller, run_id: str, where: Path | None = None) -> Context:
    """The graph, and beside it a step, a branch, or the run itself. ``where`` is that of a form that was refused."""
    frame = frame_of(caller, run_id, "graph")
    here, wanted = frame["here"], "/".join(where) if where else asked(request, "step")
    opened = request.GET.getlist("open")[:MOST_OPENED]
    # Read and drawn when the template comes to it: the panel alone needs neither the tree nor the drawing.
    nodes: Any = SimpleLazyObject(lambda: get_board(caller=caller, run_id=run_id))
    panel = (
        beside(request, caller, run_id, get_place(caller=caller, run_id=run_id, path=any_path(wanted)))
        if wanted
        else overview(caller, run_id, nodes, here)
    )
    graph = SimpleLazyObject(lambda: _drawn(caller, run_id, here, wanted, opened))
    return (
        frame
        | {
            "graph": graph,
            "folds": SimpleLazyObject(
                lambda: [
                    (name, link(here, step=wanted, open=[each for each in opened if each != fold]))
                    for fold, name in graph.unfolded
                ]
            ),
            "outline": SimpleLazyObject(lambda: outline(nodes, here, wanted, run_id)),
        }
        | panel
    )


@page("pages/run_timeline.html")
def timeline_page(request: HttpRequest, caller: Caller, run_id: str) -> Context:
    """When each step and branch ran, and when it waited for a person: of the whole run, or ``from`` and ``to`` a moment."""
    frame = frame_of(caller, run_id, "timeline")
    head: Head = frame["head"]
    only = request.GET.get("waits") == "1"
    began, now = head.run["created_at"], frame["as_of"]
    window = drawn_timeline.window_of(
        moment(asked(request, "from"), "from"),
        moment(asked(request, "to"), "to", last=True),
        began=began,
        last=now if head.ended_at is None or head.run["status"] == "failed" else head.ended_at,
    )
    course = get_timeline(
        caller=caller, run_id=run_id, waits_only=only, since=window.since, until=window.until
    )
    # A failed run isn't over while anything in it goes on.
    ended = None if head.run["status"] == "failed" and course.going else head.ended_at
    drawn = drawn_timeline.draw(
        course,
        head.spans,
        frame["pauses"],
        began=began,
        ended=ended,
        now=now,
        window=window,
        href=lambda where: panel_of(frame["here"], "/".join(where)),
        more_href=lambda around: table_of(run_id, "", "/".join(around)),
        window_href=lambda there: f"{timeline_of(run_id, there, only=only)}#when",
    )
    return frame | {
        "only": only,
        "others": course.others,
        "everything": timeline_of(run_id, window, only=False),
        "waits_only": timeline_of(run_id, window, only=True),
        "timeline": drawn,
        "ways": [
            (drawn.ways["earlier"], "[", "", _("Earlier")),
            (drawn.ways["later"], "]", "", _("Later")),
            (drawn.ways["out"], "-", "minus", _("Zoom out")),
            (drawn.ways["in"], "+", "plus", _("Zoom in")),
            (drawn.ways["whole"], "0", "", _("Whole run")),
        ],
    }


def timeline_of(run_id: str, window: drawn_timeline.Window, *, only: bool) -> str:
    """The timeline within a window, of everything or of what waited alone."""
    return link(
        tab_of(run_id, "timeline"),
        **{"waits": "1" if only else "", "from": _said(window.since), "to": _said(window.until)},
    )


def _said(moment: datetime | None) -> str:
    return "" if moment is None else iso(moment).replace(".000Z", "Z")


@page("pages/run_table.html")
def table_page(request: HttpRequest, caller: Caller, run_id: str) -> Context:
    """Every step and branch, to be narrowed down: what the graph tells, in words."""
    state, q = asked(request, "state"), asked(request, "q")
    stale = state == "stale"
    table = get_table(
        caller=caller,
        run_id=run_id,
        state=state if state in LOOKS else None,
        stale=stale,
        q=q or None,
        page=number_in(request.GET.get("page", "")) or 1,
    )
    frame = frame_of(caller, run_id, "table")
    chips = [("", pgettext("states", "All"), table.total)]
    chips += [(name, _CHIPS[name](), table.counts.get(name, 0)) for name in LOOKS]
    chips.append(("stale", pgettext("states", "Stale"), table.stale))
    return frame | {
        "table": table,
        "rows": [table_row(each, frame) for each in table.rows],
        "q": q,
        "state": state,
        "chips": [
            {
                "state": name,
                "word": word,
                "n": n,
                "href": table_of(run_id, name, q),
                "current": name == state,
            }
            for name, word, n in chips
            if n or name in ("", state)
        ],
        "previous": table_of(run_id, state, q, table.page - 1) if table.page > 1 else "",
        "next": table_of(run_id, state, q, table.page + 1) if table.page < table.pages else "",
    }


@page("pages/run_reports.html")
def reports_page(request: HttpRequest, caller: Caller, run_id: str) -> Context:
    """Every report as it was sent, the newest first."""
    below = asked(request, "path")
    reports = list_updates(
        caller=caller,
        run_id=run_id,
        paging=paging(request, LISTED),
        path=any_path(below) if below else None,
        newest_first=True,
    )
    frame = frame_of(caller, run_id, "reports")
    return frame | {
        "page": reports.map(lambda report: report_row(report, frame["here"])),
        "below": below,
        **_pager(reports, frame, path=below),
    }


@page("pages/run_artifacts.html")
def artifacts_page(request: HttpRequest, caller: Caller, run_id: str) -> Context:
    """Everything the run produced, the newest first."""
    q = asked(request, "q")
    made = list_artifacts(caller=caller, run_id=run_id, paging=paging(request, LISTED), q=q or None)
    frame = frame_of(caller, run_id, "artifacts")
    return frame | {
        "page": made.map(lambda artifact: artifact_row(artifact, run_id, frame["here"])),
        "q": q,
        **_pager(made, frame, q=q),
    }


@page("pages/run_amendments.html")
def amendments_page(request: HttpRequest, caller: Caller, run_id: str) -> Context:
    """Every change to the plan of this run that was proposed, and what became of it."""
    frame = frame_of(caller, run_id, "amendments")
    places = {amendment_id: n for n, amendment_id in enumerate(frame["run"]["applied_amendment_ids"], 1)}
    return frame | {
        "amendments": [each | {"place": places.get(each["amendment_id"])} for each in frame["amendments"]],
    }


@page("pages/run_questions.html")
def questions_page(request: HttpRequest, caller: Caller, run_id: str) -> Context:
    """Everything the harness asked, with the answers."""
    found = list_questions(caller=caller, run_id=run_id, paging=paging(request, LISTED))
    frame = frame_of(caller, run_id, "questions")
    return frame | {
        "page": found.map(lambda question: question_row(question, frame["here"])),
        **_pager(found, frame),
    }


@page("pages/run_audit.html")
def audit_page(request: HttpRequest, caller: Caller, run_id: str) -> Context:
    """The run's chain, the newest entry first."""
    frame = frame_of(caller, run_id, "audit")
    entries = list_audit(caller=caller, paging=paging(request, LISTED), newest_first=True, run_id=run_id)
    return frame | {
        "page": entries.map(in_row),
        **_pager(entries, frame),
    }


@page("pages/run_ask.html")
def cancel_page(request: HttpRequest, caller: Caller, run_id: str) -> Context:
    """Before a run is ended: what becomes of what is under way."""
    caller.must(Right.DECIDE, "cancel a run")
    return frame_of(caller, run_id, "")


def _drawn(caller: Caller, run_id: str, here: str, wanted: str, opened: list[str]) -> Drawing:
    kept = plan_of_run(caller=caller, run_id=run_id)
    return draw_run(
        kept.plan,
        get_run(caller=caller, run_id=run_id),
        key=kept.key,
        href=lambda where: link(here, step=where, open=opened),
        selected=wanted or None,
        opened=frozenset(opened),
        open_href=lambda fold: link(here, step=wanted, open=[*opened, fold]),
        table_href=lambda where, state: table_of(
            run_id, state, where if where.partition("/")[0] in kept.plan.by_id else ""
        ),
        yours=caller.may(Right.DECIDE),
    )


def _pager(shown: Page, frame: Context, **kept: str) -> Context:
    """Where a view's pager leads, narrowed down as this page of its list is; ``older`` is "" after the last."""
    here = tab_of(frame["run_id"], frame["tab"])
    older = link(here, **kept, cursor=shown.next_cursor) if shown.next_cursor else ""
    return {"newest": link(here, **kept), "older": older}


urlpatterns = [
    path("runs/<id:run_id>", run_page, name="run"),
    path("runs/<id:run_id>/timeline", timeline_page, name="run-timeline"),
    path("runs/<id:run_id>/table", table_page, name="run-table"),
    path("runs/<id:run_id>/reports", reports_page, name="run-reports"),
    path("runs/<id:run_id>/artifacts", artifacts_page, name="run-artifacts"),
    path("runs/<id:run_id>/amendments", amendments_page, name="run-amendments"),
    path("runs/<id:run_id>/questions", questions_page, name="run-questions"),
    path("runs/<id:run_id>/audit", audit_page, name="run-audit"),
    path("runs/<id:run_id>/cancel", cancel_page, name="run-cancel"),
]
