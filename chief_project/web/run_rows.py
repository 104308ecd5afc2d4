"""What a run's lists show: reports, artifacts, questions, earlier results, rows of the table; and metadata."""

from collections.abc import Mapping
from typing import Any

from django.urls import reverse
from django.utils.translation import ngettext

from chief_project.shared.text.moments import moment_of
from chief_project.shared.wire.rendering import dumps
from chief_project.web.artifact_data import icon_of
from chief_project.web.run_links import panel_of
from runs.domain.board import Node, waited
from runs.selectors.board import TableRow

Context = dict[str, Any]

MOST_WHOLE = 40_000  # bytes of JSON that a panel shows whole, …
MOST_IN_ROW = 1_500  # … and a row of a long list
_IN_REPORT = 10_000
_SHORT = 120
_NAME = 60
_FACTS = 12


def table_row(each: TableRow, frame: Context) -> Context:
    """A step or branch in the table; ``frame`` as ``frame_of`` makes it."""
    node = each.node
    began = node.started_at
    return {
        "key": "/".join(node.path),
        "node": node,
        "href": panel_of(frame["here"], "/".join(node.path)),
        "shown": "/".join(node.names),
        "title": node.goal if node.kind == "step" else _branch_words(node),
        "summary": each.summary,
        "stale": each.stale,
        "took": None if began is None else (node.completed_at or frame["as_of"]) - began,
        "waited": waited(node.spans, now=frame["as_of"]) if node.spans else None,
        "met": each.met,
        "criteria": each.criteria,
        "files": each.files,
        "facts": facts_of(each.facts, most=MOST_IN_ROW),
        "depth": min(each.depth, 3),
    }


def _branch_words(node: Node) -> str:
    said = (
        ngettext("Iteration with %(n)d step", "Iteration with %(n)d steps", node.inside)
        if node.type == "iteration"
        else ngettext("Branch with %(n)d step", "Branch with %(n)d steps", node.inside)
    )
    return said % {"n": node.inside}


def report_row(report: Context, here: str) -> Context:
    """A report as it was sent, and a link to its step beside the graph ``here``."""
    payload = report["payload"]
    summary = payload.get("summary")
    return report | {
        "href": panel_of(here, report["path"]),
        "status": payload.get("status"),
        "summary": summary if isinstance(summary, str) else "",
        "begins": report["kind"] == "instance_registered",  # says so, where nothing else is said
        "facts": facts_of(told, most=0) if isinstance(told := payload.get("metadata"), dict) else None,
        "rest": [name for name in payload if name not in ("summary", "status")],
        "whole": _whole(payload, _IN_REPORT),
    }


def artifact_row(artifact: Context, run_id: str, here: str) -> Context:
    """An artifact with links to its page and to its step beside the graph ``here``."""
    comments = artifact.get("comments")
    return artifact | {
        "href": reverse("artifact", kwargs={"run_id": run_id, "artifact_id": artifact["artifact_id"]}),
        "icon": icon_of(artifact["type"]),
        "title": artifact["description"] or artifact["ref"] or artifact["type"],
        "remarks": artifact["remarks"] if comments is None else len(comments),
        "step_href": panel_of(here, artifact.get("path", "")),
        "data_facts": facts_of(artifact["data"], most=MOST_IN_ROW)
        if isinstance(artifact["data"], dict)
        else None,
    }


def question_row(question: Context, here: str) -> Context:
    """A question with its answer by field, and how long it took a person."""
    asked_at, over = question["asked_at"], question["closed"]
    ended = question["answered_at"] or (moment_of(over["at"]) if over else None)
    response = question["response"] or {}
    labels = {field["name"]: field["label"] or field["name"] for field in question["fields"]}
    return question | {
        "href": panel_of(here, question.get("path", "")),
        "state": "answered" if question["answered_at"] else "closed" if over else "open",
        "answers": [(labels.get(name, ""), value) for name, value in response.items()],
        "ended": ended,
        "took": None if ended is None else ended - asked_at,
    }


def past_row(kept: Context) -> Context:
    """An earlier result, for a line that opens."""
    return {
        "status": kept["status"],
        "summary": kept.get("summary"),
        "superseded_at": moment_of(kept["superseded_at"]),
        "completed_at": moment_of(kept.get("completed_at")),
        "amendment_id": kept.get("amendment_id"),
        "whole": _whole(kept),
    }


def facts_of(metadata: Mapping[str, Any], *, most: int = MOST_WHOLE) -> Context:
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
