"""A run: its graph with live states, when it ran and waited, everything in it as a table, and what it left behind."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from django.contrib import messages
from django.http import HttpRequest
from django.urls import path, reverse
from django.utils.functional import SimpleLazyObject
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.utils.translation import ngettext, pgettext

from amendments.selectors.amendments import list_amendments
from amendments.services.cancel_run import cancel_run
from chief_project.shared.caller import Caller, Right
from chief_project.shared.clock import now
from chief_project.shared.errors import ValidationFailed
from chief_project.shared.paging import Paging
from chief_project.shared.selectors import list_audit
from chief_project.shared.text.moments import moment_of
from chief_project.shared.wire.rendering import dumps
from chief_project.web import timeline as drawn_timeline
from chief_project.web.audit import EVENTS
from chief_project.web.change_words import FAILURE_RULES, TYPES
from chief_project.web.forms import text
from chief_project.web.graph import Drawing, draw_run
from chief_project.web.pages import action, page
from runs.domain.board import Node, Row, Span, timeline, waited
from runs.domain.paths import Path, any_path
from runs.selectors.board import LOOKS, Head, get_board, get_run_head, get_table, get_timeline
from runs.selectors.kept import list_artifacts, list_questions
from runs.selectors.places import Place, get_place
from runs.selectors.runs import get_run, list_updates, plan_of_run
from runs.services.acknowledge_run import acknowledge_run
from runs.services.answer_question import answer_question
from runs.services.mark_stale import mark_instance_stale, mark_step_stale
from runs.services.resolve_checkpoint import resolve_checkpoint

Context = dict[str, Any]

TABS = {
    "graph": "run",
    "timeline": "run-timeline",
    "table": "run-table",
    "reports": "run-reports",
    "artifacts": "run-artifacts",
    "amendments": "run-amendments",
    "questions": "run-questions",
    "audit": "run-audit",
}
MOST_OPENED = 20
MOST_PAUSES = Paging(limit=1000)
LISTED = 50
FIELD = "f."  # before the names of declared fields in forms, whatever they are called
MOST_WHOLE = 40_000  # bytes of JSON that a panel shows whole, …
MOST_IN_ROW = 1_500  # … and a row of a long list
_SHORT = 120
_IN_REPORT = 10_000
_NAME = 60
_FACTS = 12
_NOTED = 8
_HEARD = 6


# -- Pages -------------------------------------------------------------------------------------------


@page("pages/run.html", parts=("panel",))
def run_page(request: HttpRequest, caller: Caller, run_id: str, where: Path | None = None) -> Context:
    """The graph, and beside it a step, a branch, or the run itself. ``where`` is that of a form that was refused."""
    frame = frame_of(caller, run_id, "graph")
    here, wanted = frame["here"], "/".join(where) if where else _asked(request, "step")
    opened = request.GET.getlist("open")[:MOST_OPENED]
    # Read and drawn when the template comes to it: the panel alone needs neither the tree nor the drawing.
    nodes: Any = SimpleLazyObject(lambda: get_board(caller=caller, run_id=run_id))
    beside = (
        _beside(request, caller, run_id, get_place(caller=caller, run_id=run_id, path=any_path(wanted)))
        if wanted
        else _overview(caller, run_id, nodes, here)
    )
    graph = SimpleLazyObject(lambda: _drawn(caller, run_id, here, wanted, opened))
    return (
        frame
        | {
            "graph": graph,
            "folds": SimpleLazyObject(
                lambda: [
                    (name, _link(here, step=wanted, open=[each for each in opened if each != fold]))
                    for fold, name in graph.unfolded
                ]
            ),
            "outline": SimpleLazyObject(lambda: _outline(nodes, here, wanted, run_id)),
        }
        | beside
    )


@page("pages/run_timeline.html")
def timeline_page(request: HttpRequest, caller: Caller, run_id: str) -> Context:
    """When each step and branch ran, and when it waited for a person."""
    frame = frame_of(caller, run_id, "timeline")
    only = request.GET.get("waits") == "1"
    rows = get_timeline(caller=caller, run_id=run_id, waits_only=only)
    head: Head = frame["head"]
    return frame | {
        "only": only,
        "timeline": drawn_timeline.draw(
            rows,
            frame["pauses"],
            began=head.run["created_at"],
            ended=head.ended_at if head.run["status"] != "failed" else _over(rows, head),
            now=frame["as_of"],
            href=lambda where: _panel(frame["here"], "/".join(where)),
            more_href=lambda around: _table(run_id, "", "/".join(around)),
        ),
    }


@page("pages/run_table.html")
def table_page(request: HttpRequest, caller: Caller, run_id: str) -> Context:
    """Every step and branch, to be narrowed down: what the graph tells, in words."""
    state, q = _asked(request, "state"), _asked(request, "q")
    stale = state == "stale"
    table = get_table(
        caller=caller,
        run_id=run_id,
        state=state if state in LOOKS else None,
        stale=stale,
        q=q or None,
        page=_number(request.GET.get("page", "")),
    )
    frame = frame_of(caller, run_id, "table")
    chips = [("", pgettext("states", "All"), table.total)]
    chips += [(name, _CHIPS[name](), table.counts.get(name, 0)) for name in LOOKS]
    chips.append(("stale", pgettext("states", "Stale"), table.stale))
    return frame | {
        "table": table,
        "rows": [_row(each, frame) for each in table.rows],
        "q": q,
        "state": state,
        "chips": [
            {
                "state": name,
                "word": word,
                "n": n,
                "href": _table(run_id, name, q),
                "current": name == state,
            }
            for name, word, n in chips
            if n or name in ("", state)
        ],
        "previous": _table(run_id, state, q, table.page - 1) if table.page > 1 else "",
        "next": _table(run_id, state, q, table.page + 1) if table.page < table.pages else "",
    }


@page("pages/run_reports.html")
def reports_page(request: HttpRequest, caller: Caller, run_id: str) -> Context:
    """Every report as it was sent, the newest first."""
    below = _asked(request, "path")
    reports = list_updates(
        caller=caller,
        run_id=run_id,
        paging=_paging(request),
        path=any_path(below) if below else None,
        newest_first=True,
    )
    frame = frame_of(caller, run_id, "reports")
    return frame | {
        "page": reports.map(lambda report: _report(report, frame["here"])),
        "below": below,
        "older": _older(reports.next_cursor, frame, path=below),
    }


@page("pages/run_artifacts.html")
def artifacts_page(request: HttpRequest, caller: Caller, run_id: str) -> Context:
    """Everything the run produced, the newest first."""
    q = _asked(request, "q")
    made = list_artifacts(caller=caller, run_id=run_id, paging=_paging(request), q=q or None)
    frame = frame_of(caller, run_id, "artifacts")
    return frame | {
        "page": made.map(lambda artifact: _artifact(artifact, run_id, frame["here"])),
        "q": q,
        "older": _older(made.next_cursor, frame, q=q),
    }


@page("pages/run_amendments.html")
def amendments_page(request: HttpRequest, caller: Caller, run_id: str) -> Context:
    """Every change to the plan of this run that was proposed, and what became of it."""
    return frame_of(caller, run_id, "amendments")


@page("pages/run_questions.html")
def questions_page(request: HttpRequest, caller: Caller, run_id: str) -> Context:
    """Everything the harness asked, with the answers."""
    asked = list_questions(caller=caller, run_id=run_id, paging=_paging(request))
    frame = frame_of(caller, run_id, "questions")
    return frame | {
        "page": asked.map(lambda question: _told(question, frame["here"])),
        "older": _older(asked.next_cursor, frame),
    }


@page("pages/run_audit.html")
def audit_page(request: HttpRequest, caller: Caller, run_id: str) -> Context:
    """The run's chain, the newest entry first."""
    frame = frame_of(caller, run_id, "audit")
    entries = list_audit(caller=caller, paging=_paging(request), newest_first=True, run_id=run_id)
    return frame | {
        "page": entries.map(lambda entry: entry | {"words": EVENTS.get(entry["event"], "")}),
        "older": _older(entries.next_cursor, frame),
    }


@page("pages/run_ask.html")
def cancel_page(request: HttpRequest, caller: Caller, run_id: str) -> Context:
    """Before a run is ended: what becomes of what is under way."""
    caller.must(Right.DECIDE, "cancel a run")
    return frame_of(caller, run_id, "")


# -- Decisions ---------------------------------------------------------------------------------------


@action(run_page)
def resolve(request: HttpRequest, caller: Caller, run_id: str, where: Path) -> str:
    """Approve or reject a checkpoint, with what it asks for."""
    decision = request.POST.get("decision", "")
    if decision not in ("approved", "rejected"):
        raise ValidationFailed("decide 'approved' or 'rejected'", field="decision")
    resolve_checkpoint(
        caller=caller,
        run_id=run_id,
        path=where,
        resolution={"decision": decision, "response": _response(request), "note": text(request, "note")},
    )
    messages.success(
        request,
        _("Approved. The harness may go on.")
        if decision == "approved"
        else _("Rejected. What waited for it is skipped."),
    )
    return _at(run_id, where)


@action(run_page)
def answer(request: HttpRequest, caller: Caller, run_id: str, where: Path) -> str:
    """Answer the open question of a step, which goes on at once."""
    question_id = text(request, "question_id") or ""
    answer_question(
        caller=caller,
        run_id=run_id,
        path=where,
        answer={"question_id": question_id, "response": _response(request)},
    )
    messages.success(request, _("Answered. The step goes on."))
    return _at(run_id, where)


@action(run_page)
def mark_stale(request: HttpRequest, caller: Caller, run_id: str, where: Path) -> str:
    """Say that something ran but doesn't count, or take that back."""
    clear = "clear" in request.POST
    reason = None if clear else text(request, "reason")
    if reason is None and not clear:
        raise ValidationFailed("a mark needs a reason: say why this doesn't count", field="reason")
    mark = mark_step_stale if len(where) % 2 else mark_instance_stale
    mark(caller=caller, run_id=run_id, path=where, mark={"reason": reason})
    messages.success(request, _("It counts again.") if clear else _("Marked as stale. Nothing else changed."))
    return _at(run_id, where)


@action(cancel_page)
def cancel(request: HttpRequest, caller: Caller, run_id: str) -> str:
    """End a run that nobody will finish."""
    cancel_run(caller=caller, run_id=run_id, reason=text(request, "reason"))
    messages.success(request, _("Cancelled. What it did stays on record."))
    return reverse("run", kwargs={"run_id": run_id})


@action(run_page)
def acknowledge(request: HttpRequest, caller: Caller, run_id: str) -> str:
    """Seen, and left failed."""
    acknowledge_run(caller=caller, run_id=run_id)
    messages.success(request, _("Left failed. It no longer waits for anybody."))
    return reverse("run", kwargs={"run_id": run_id})


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
    path("runs/<id:run_id>/cancel/do", cancel, name="run-cancel-do"),
    path("runs/<id:run_id>/resolve/<statepath:where>", resolve, name="run-resolve"),
    path("runs/<id:run_id>/answer/<statepath:where>", answer, name="run-answer"),
    path("runs/<id:run_id>/stale/<statepath:where>", mark_stale, name="run-stale"),
    path("runs/<id:run_id>/acknowledge", acknowledge, name="run-acknowledge"),
]


# -- What pages share --------------------------------------------------------------------------------


def frame_of(caller: Caller, run_id: str, tab: str) -> Context:
    """What the head, the bar and the tabs of every view need."""
    head = get_run_head(caller=caller, run_id=run_id)
    amendments = list_amendments(caller=caller, paging=MOST_PAUSES, run_id=run_id).rows
    run, at = head.run, now()
    pauses = [Span(each["created_at"], each["decided_at"], "amendment") for each in reversed(amendments)]
    spans = [*head.spans, *pauses]
    open_ = run["status"] not in ("completed", "cancelled")
    counts: dict[str, int | None] = {
        "table": head.rows,
        "reports": head.reports,
        "artifacts": head.artifacts,
        "amendments": len(amendments),
        "questions": head.questions,
        "audit": head.entries,
    }
    labels = {
        "graph": _("Graph"),
        "timeline": _("Timeline"),
        "table": _("Table"),
        "reports": _("Reports"),
        "artifacts": _("Artifacts"),
        "amendments": _("Amendments"),
        "questions": _("Questions"),
    }
    if caller.may(Right.OVERSEE):
        labels["audit"] = _("Audit")
    return {
        "section": "workflows",
        "head": head,
        "run": run,
        "run_id": run_id,
        "tab": tab,
        "here": reverse("run", kwargs={"run_id": run_id}),
        "tabs": [
            {"name": name, "label": label, "n": counts.get(name), "href": _tab(run_id, name)}
            for name, label in labels.items()
        ],
        "counts": [
            (state, _count_words(state, n, caller))
            for state in ("waiting", "running", "failed", "skipped", "pending")
            if (n := head.counts.get(state, 0))
        ],
        "facts": _facts(run["metadata"]),
        "as_of": at,
        "took": (head.ended_at or at) - run["created_at"],
        "waited": waited(spans, now=at) if spans else None,
        "pauses": pauses,
        "amendments": amendments,
        "pending": next((each for each in amendments if each["status"] == "pending_approval"), None),
        "events": _link(f"/v1/runs/{run_id}/events", since=str(run["revision"])),
        "can_cancel": open_ and caller.may(Right.DECIDE),
        "can_acknowledge": run["status"] == "failed"
        and run["acknowledged"] is None
        and caller.may(Right.REVIEW),
    }


def _count_words(state: str, n: int, caller: Caller) -> str:
    if state == "waiting" and caller.may(Right.DECIDE):
        return ngettext("%(n)d waits for you", "%(n)d wait for you", n) % {"n": n}
    said = {
        "waiting": ngettext("%(n)d waits for a person", "%(n)d wait for a person", n),
        "running": ngettext("%(n)d running", "%(n)d running", n),
        "failed": ngettext("%(n)d failed", "%(n)d failed", n),
        "skipped": ngettext("%(n)d skipped", "%(n)d skipped", n),
        "pending": ngettext("%(n)d pending", "%(n)d pending", n),
    }
    return said[state] % {"n": n}


_CHIPS = {
    "waiting": lambda: pgettext("states", "Waiting"),
    "running": lambda: pgettext("states", "Running"),
    "failed": lambda: pgettext("states", "Failed"),
    "completed": lambda: pgettext("states", "Completed"),
    "pending": lambda: pgettext("states", "Pending"),
    "skipped": lambda: pgettext("states", "Skipped"),
}


def _over(rows: Iterable[Row], head: Head) -> datetime | None:
    """When a failed run ended: not yet, while anything in it goes on."""
    going = any(row.node is not None and row.node.status in ("running", "blocked") for row in rows)
    return None if going else head.ended_at


def _tab(run_id: str, name: str) -> str:
    return reverse(TABS[name], kwargs={"run_id": run_id})


def _table(run_id: str, state: str, q: str, number: int = 1) -> str:
    return _link(_tab(run_id, "table"), state=state, q=q, page=str(number) if number > 1 else "")


def _at(run_id: str, where: Path) -> str:
    return _link(_tab(run_id, "graph"), step="/".join(where))


def _panel(here: str, where: str) -> str:
    """To a step beside the graph: where the panel stands below it, right to the panel."""
    return f"{_link(here, step=where)}#panel"


def _link(address: str, **parameters: str | Sequence[str]) -> str:
    """An address with parameters, or lists of them; empty ones left out."""
    query = urlencode({name: value for name, value in parameters.items() if value}, doseq=True)
    return f"{address}?{query}" if query else address


def _older(cursor: str | None, frame: Context, **kept: str) -> str:
    return _link(_tab(frame["run_id"], frame["tab"]), **kept, cursor=cursor) if cursor else ""


def _asked(request: HttpRequest, name: str) -> str:
    """A parameter of the address, without what no database can look for."""
    return request.GET.get(name, "").replace("\0", "").strip()


def _paging(request: HttpRequest) -> Paging:
    return Paging(limit=LISTED, cursor=request.GET.get("cursor") or None)


def _number(given: str) -> int:
    return int(given) if given.isascii() and given.isdigit() and len(given) < 7 else 1


def _response(request: HttpRequest) -> dict[str, str]:
    """What was written in the declared fields; what was left empty isn't an answer."""
    given = {name.removeprefix(FIELD): text(request, name) for name in request.POST if name.startswith(FIELD)}
    return {name: value for name, value in given.items() if value is not None}


def _drawn(caller: Caller, run_id: str, here: str, wanted: str, opened: list[str]) -> Drawing:
    kept = plan_of_run(caller=caller, run_id=run_id)
    return draw_run(
        kept.plan,
        get_run(caller=caller, run_id=run_id),
        key=kept.key,
        href=lambda where: _link(here, step=where, open=opened),
        selected=wanted or None,
        opened=frozenset(opened),
        open_href=lambda fold: _link(here, step=wanted, open=[*opened, fold]),
        table_href=lambda where, state: _table(
            run_id, state, where if where.partition("/")[0] in kept.plan.by_id else ""
        ),
    )


# -- Beside the graph --------------------------------------------------------------------------------


def _overview(caller: Caller, run_id: str, nodes: Sequence[Node], here: str) -> Context:
    """The run itself: what in it asks for attention, and what was heard last."""
    leaves = [node for node in nodes if node.kind == "step" and not node.inside]

    def told(status: str) -> Context:
        found = [node for node in leaves if node.status == status]
        return {"nodes": found[:_NOTED], "more": max(0, len(found) - _NOTED)}

    newest = list_updates(caller=caller, run_id=run_id, paging=Paging(limit=_HEARD), newest_first=True)
    return {
        "place": None,
        "waiting": told("blocked"),
        "failed": told("failed"),
        "running": told("running"),
        "heard": [_report(report, here) for report in newest.rows],
    }


def _beside(request: HttpRequest, caller: Caller, run_id: str, place: Place) -> Context:
    """A step or a branch, with what can be done there."""
    state = place.state
    step = place.step
    met = state.get("criteria_met") or {}
    criteria = (
        []
        if step is None or place.kind == "instance"
        else [{"id": each.id, "text": each.text, "proof": met.get(each.id)} for each in step.criteria]
    )
    total = sum(place.tally.values())
    here = _tab(run_id, "graph")
    return {
        "place": place,
        "where": "/".join(place.path),
        "look": "stale" if state["stale"] else state["status"],
        "type_word": _type_word(place),
        "failure_rule": FAILURE_RULES.get(step.on_instance_failure or "", "") if step else "",
        "ask": (ask := _ask(request, caller, place)),
        "unsent": _unsent(request, ask),
        "decided": _decided(place),
        "criteria": criteria,
        "met": sum(each["proof"] is not None for each in criteria),
        "place_facts": _facts(state["metadata"]),
        "brought": _facts(place.brought)["shown"] if len(place.path) > 1 else [],
        "artifacts": [_artifact(each, run_id, here) for each in state["artifacts"]],
        "questions": [_told(each, here) for each in state.get("questions") or ()],
        "past": [_past(each) for each in reversed(state["history"])],
        "members": place.members,
        "waits_inside": any(each.status == "blocked" for each in place.members),
        "member_total": total,
        "member_more": max(0, total - len(place.members)),
        "reports": [_report(each, here) for each in place.reports],
        "can_mark": caller.may(Right.DECIDE),
        "around": "/".join(place.path[:-1]),
        "inputs": _facts(step.inputs) if step is not None and place.kind == "step" else None,
    }


def _type_word(place: Place) -> str:
    if place.kind == "instance":
        return _("Iteration") if place.type == "iteration" else _("Branch")
    return str(TYPES.get(place.type, place.type))


def _ask(request: HttpRequest, caller: Caller, place: Place) -> Context | None:
    """What a person is asked here, with what was typed before it was refused."""
    if place.kind != "step" or place.state["status"] != "blocked":
        return None
    if place.type == "checkpoint":
        fields = [
            {"name": each.name, "label": each.label, "hint": each.hint, "required": each.required}
            for each in (place.step.fields if place.step else ())
        ]
        asked: Context = {"kind": "resolve", "since": place.state["started_at"]}
    else:
        question = next(
            (
                each
                for each in place.state["questions"]
                if each["answered_at"] is None and each["closed"] is None
            ),
            None,
        )
        if question is None:
            return None
        fields = [dict(each) for each in question["fields"]] or [
            {"name": "text", "label": _("Your answer"), "hint": None, "required": True}
        ]
        asked = {"kind": "answer", "since": question["asked_at"], "question": question}
    question_id = asked["question"]["question_id"] if "question" in asked else ""
    form = f"{asked['kind']}:{question_id}"
    typed: Mapping[str, Any] = request.POST if request.POST.get("form") == form else {}
    for field in fields:
        name = f"{FIELD}{field['name']}"
        field |= {"input": name, "value": typed.get(name, "")}
    return asked | {
        "form": form,
        "fields": fields,
        "note": typed.get("note", ""),
        "may": caller.may(Right.DECIDE),
    }


def _decided(place: Place) -> list[tuple[str, str]]:
    """What a decision said in each field, by the field's label."""
    made = place.state.get("checkpoint") or {}
    labels = {field.name: field.label for field in place.step.fields} if place.step else {}
    return [(labels.get(name) or name, value) for name, value in (made.get("response") or {}).items()]


def _unsent(request: HttpRequest, ask: Context | None) -> list[str]:
    """What was written for something that nobody asks any more: it is shown, so that it isn't lost."""
    form = request.POST.get("form", "")
    if form in ("", "stale") or (ask is not None and ask["form"] == form):
        return []
    names = [name for name in request.POST if name.startswith(FIELD) or name == "note"]
    return [value for name in names if (value := text(request, name)) is not None]


def _outline(nodes: Sequence[Node], here: str, selected: str, run_id: str) -> list[Context]:
    """The graph's twin in words: what a timeline lists, each with how it stands."""
    inside: dict[Path, Counter[str]] = {}
    for node in nodes:
        if node.kind == "instance":
            inside.setdefault(node.path[:-1], Counter())[node.look] += 1
    found: list[Context] = []
    for row in timeline(nodes):
        if row.node is None:
            found.append(
                {
                    "left_out": row.left_out,
                    "depth": min(len(row.around), 6),
                    "href": _table(run_id, "", "/".join(row.around)),
                }
            )
            continue
        node, where = row.node, "/".join(row.node.path)
        found.append(
            {
                "node": node,
                "name": drawn_timeline.called(node),
                "key": where,
                "depth": min(node.depth, 6),
                "href": _link(here, step=where),
                "selected": where == selected,
                "inside": sorted(inside.get(node.path, Counter()).items(), key=lambda each: -each[1]),
            }
        )
    return found


# -- Rows --------------------------------------------------------------------------------------------


def _row(each: Any, frame: Context) -> Context:
    node: Node = each.node
    began = node.started_at
    return {
        "key": "/".join(node.path),
        "node": node,
        "href": _panel(frame["here"], "/".join(node.path)),
        "shown": "/".join(node.names),
        "title": node.goal if node.kind == "step" else _branch_words(node),
        "summary": each.summary,
        "stale": each.stale,
        "took": None if began is None else (node.completed_at or frame["as_of"]) - began,
        "waited": waited(node.spans, now=frame["as_of"]) if node.spans else None,
        "met": each.met,
        "criteria": each.criteria,
        "files": each.files,
        "facts": _facts(each.facts, most=MOST_IN_ROW),
        "depth": min(each.depth, 3),
    }


def _branch_words(node: Node) -> str:
    said = (
        ngettext("Iteration with %(n)d step", "Iteration with %(n)d steps", node.inside)
        if node.type == "iteration"
        else ngettext("Branch with %(n)d step", "Branch with %(n)d steps", node.inside)
    )
    return said % {"n": node.inside}


def _report(report: Context, here: str) -> Context:
    payload = report["payload"]
    summary = payload.get("summary")
    return report | {
        "href": _panel(here, report["path"]),
        "status": payload.get("status"),
        "summary": summary if isinstance(summary, str) else "",
        "rest": [name for name in payload if name not in ("summary", "status")],
        "whole": _whole(payload, _IN_REPORT),
    }


def _artifact(artifact: Context, run_id: str, here: str) -> Context:
    comments = artifact.get("comments")
    return artifact | {
        "href": reverse("artifact", kwargs={"run_id": run_id, "artifact_id": artifact["artifact_id"]}),
        "icon": _icon(artifact["type"]),
        "title": artifact["description"] or artifact["ref"] or artifact["type"],
        "remarks": artifact["remarks"] if comments is None else len(comments),
        "step_href": _panel(here, artifact.get("path", "")),
        "data_facts": _facts(artifact["data"], most=MOST_IN_ROW)
        if isinstance(artifact["data"], dict)
        else None,
    }


def _icon(kind: str) -> str:
    if kind.startswith("image/"):
        return "image"
    return "table" if kind in ("text/csv", "application/json", "csv", "json") else "file"


def _told(question: Context, here: str) -> Context:
    """A question with its answer by field, and how long it took a person."""
    asked_at, over = question["asked_at"], question["closed"]
    ended = question["answered_at"] or (moment_of(over["at"]) if over else None)
    response = question["response"] or {}
    labels = {field["name"]: field["label"] or field["name"] for field in question["fields"]}
    return question | {
        "href": _panel(here, question.get("path", "")),
        "state": "answered" if question["answered_at"] else "closed" if over else "open",
        "answers": [(labels.get(name, ""), value) for name, value in response.items()],
        "ended": ended,
        "took": None if ended is None else ended - asked_at,
    }


def _past(kept: Context) -> Context:
    """An earlier result, for a line that opens."""
    return {
        "status": kept["status"],
        "summary": kept.get("summary"),
        "superseded_at": moment_of(kept["superseded_at"]),
        "completed_at": moment_of(kept.get("completed_at")),
        "amendment_id": kept.get("amendment_id"),
        "whole": _whole(kept),
    }


def _facts(metadata: Mapping[str, Any], *, most: int = MOST_WHOLE) -> Context:
    """Metadata as it is shown: short values in a line, and the whole, up to ``most`` bytes, for whoever wants it."""
    shown = []
    for name, value in list(metadata.items())[:_FACTS]:
        if isinstance(value, dict):
            said = ngettext("%(n)d entry", "%(n)d entries", len(value)) % {"n": len(value)}
        elif isinstance(value, list) and not all(isinstance(each, str | int | float) for each in value):
            said = ngettext("%(n)d item", "%(n)d items", len(value)) % {"n": len(value)}
        elif isinstance(value, list):
            said = ", ".join(map(_plain, value))
        else:
            said = _plain(value)
        shown.append((_cut(name, _NAME), _cut(said, _SHORT)))
    return {
        "shown": shown,
        "more": max(0, len(metadata) - _FACTS),
        "any": bool(metadata),
        "whole": _whole(metadata, most),
    }


def _whole(value: Any, most: int = MOST_WHOLE) -> Any:
    """``value``, or None when it is too long for a page: the API has it."""
    return value if len(dumps(value)) <= most else None


def _cut(said: str, most: int) -> str:
    return said if len(said) <= most else f"{said[:most]}…"


def _plain(value: Any) -> str:
    if value is None:
        return "null"
    return str(value).lower() if isinstance(value, bool) else str(value)
