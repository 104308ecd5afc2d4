"""What stands beside a run's graph: the run itself, a step or a branch with what is asked there, and the outline."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from django.http import HttpRequest
from django.utils.translation import gettext as _

from chief_project.shared.caller import Caller, Right
from chief_project.shared.paging import Paging
from chief_project.web import timeline as drawn_timeline
from chief_project.web.addresses import link
from chief_project.web.change_words import FAILURE_RULES, TYPES
from chief_project.web.forms import FIELD, text
from chief_project.web.run_links import tab_of, table_of
from chief_project.web.run_rows import artifact_row, facts_of, past_row, question_row, report_row
from runs.domain.board import Node, timeline
from runs.domain.paths import Path
from runs.domain.tree import is_open
from runs.selectors.places import Place
from runs.selectors.runs import list_updates

Context = dict[str, Any]

_NOTED = 8
_HEARD = 6


def overview(caller: Caller, run_id: str, nodes: Sequence[Node], here: str) -> Context:
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
        "heard": [report_row(report, here) for report in newest.rows],
    }


def beside(request: HttpRequest, caller: Caller, run_id: str, place: Place) -> Context:
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
    here = tab_of(run_id, "graph")
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
        "place_facts": facts_of(state["metadata"]),
        "brought": facts_of(place.brought)["shown"] if len(place.path) > 1 else [],
        "artifacts": [artifact_row(each, run_id, here) for each in state["artifacts"]],
        "questions": [question_row(each, here) for each in state.get("questions") or ()],
        "past": [past_row(each) for each in reversed(state["history"])],
        "members": place.members,
        "member_total": total,
        "member_more": max(0, total - len(place.members)),
        "reports": [report_row(each, here) for each in place.reports],
        "can_mark": caller.may(Right.DECIDE),
        "around": "/".join(place.path[:-1]),
        "inputs": facts_of(step.inputs) if step is not None and place.kind == "step" else None,
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
        question = next(filter(is_open, place.state["questions"]), None)
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


def outline(nodes: Sequence[Node], here: str, selected: str, run_id: str) -> list[Context]:
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
                    "href": table_of(run_id, "", "/".join(row.around)),
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
                "href": link(here, step=where),
                "selected": where == selected,
                "inside": sorted(inside.get(node.path, Counter()).items(), key=lambda each: -each[1]),
            }
        )
    return found
