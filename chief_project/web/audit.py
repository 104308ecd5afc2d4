"""The audit log for people: filtered, newest first, checked on request, exported whole (contract 8)."""

import csv
import json
from collections.abc import Iterable, Iterator
from dataclasses import fields
from datetime import datetime
from typing import Any

from django.http import HttpRequest, HttpResponseBase, QueryDict, StreamingHttpResponse
from django.urls import path, reverse
from django.utils import timezone
from django.utils.formats import number_format
from django.utils.http import urlencode
from django.utils.translation import gettext_lazy as _

from amendments.selectors.audit import check_audit_log
from chief_project.shared.caller import Caller
from chief_project.shared.clock import iso, now
from chief_project.shared.errors import ValidationFailed
from chief_project.shared.paging import Paging
from chief_project.shared.selectors import AuditFilter, export_audit, list_audit
from chief_project.shared.wire.rendering import dumps
from chief_project.web.addresses import link, moment
from chief_project.web.pages import page

PAGE = 50
CHECK_SECONDS = 3.0
VIAS = ("web", "rest", "mcp", "admin", "cli")
FILTERS = tuple(field.name for field in fields(AuditFilter))
EVENTS = {
    "workflow.created": _("Workflow submitted"),
    "workflow.revised": _("Draft revised"),
    "workflow.approved": _("Workflow approved"),
    "workflow.sent_back": _("Draft sent back"),
    "workflow.archived": _("Workflow archived"),
    "workflow.reopened": _("Workflow reopened"),
    "workflow.labelled": _("Workflow labelled"),
    "workflow.cloned": _("Workflow cloned"),
    "workflow.deleted": _("Workflow deleted"),
    "workflow.note_added": _("Review note added"),
    "workflow.note_resolved": _("Review note resolved"),
    "workflow.note_reopened": _("Review note reopened"),
    "template.created": _("Template saved"),
    "template.archived": _("Template archived"),
    "template.deleted": _("Template deleted"),
    "run.registered": _("Run started"),
    "run.cancelled": _("Run cancelled"),
    "run.acknowledged": _("Failed run seen"),
    "step.updated": _("Step reported"),
    "step.question_asked": _("Question asked"),
    "step.question_answered": _("Question answered"),
    "step.question_withdrawn": _("Question withdrawn"),
    "instance.registered": _("Instance registered"),
    "instance.updated": _("Instance reported"),
    "checkpoint.resolved": _("Checkpoint decided"),
    "stale.marked": _("Result marked stale"),
    "stale.cleared": _("Result no longer stale"),
    "artifact.commented": _("Artifact commented on"),
    "amendment.proposed": _("Amendment proposed"),
    "amendment.approved": _("Amendment approved"),
    "amendment.rejected": _("Amendment rejected"),
    "amendment.withdrawn": _("Amendment withdrawn"),
    "config.approval_policy_updated": _("Policy for amendments changed"),
    "config.updated": _("Policy for workflows changed"),
    "auth.signed_in": _("Signed in"),
    "auth.signed_out": _("Signed out"),
    "auth.sessions_ended": _("Other sessions ended"),
    "auth.signin_failed": _("Sign-in failed"),
    "auth.signin_link_created": _("Sign-in link made"),
    "auth.password_set": _("Password set"),
    "auth.user_created": _("Person added"),
    "auth.user_activated": _("Person let in again"),
    "auth.user_deactivated": _("Person shut out"),
    "auth.role_changed": _("Role changed"),
    "auth.token_created": _("Token made"),
    "auth.token_revoked": _("Token revoked"),
}
MOST_IN_ENTRY = 10_000  # bytes of JSON
_BRIEF = 200
_UNTOLD = frozenset({"via", "sha256", "report"})


@page("pages/audit.html", parts=("chain",))
def audit_page(request: HttpRequest, caller: Caller) -> dict[str, Any]:
    """Entries that match the filters of the address; with ``check`` also whether their chains are whole.

    ``check=1`` begins a check; with what one that ran out of time said is left, it goes on.
    """
    asked = request.GET
    wanted = _wanted(asked)
    kept = {name: asked[name] for name in FILTERS if asked.get(name, "").strip()}
    found = list_audit(
        caller=caller,
        paging=Paging(limit=PAGE, cursor=asked.get("cursor")),
        newest_first=True,
        **{name: getattr(wanted, name) for name in FILTERS},
    )
    return {
        "section": "audit",
        "page": found.map(in_row),
        "filters": kept,
        "query": urlencode(kept),
        "events": _grouped(EVENTS if wanted.event is None else [*EVENTS, wanted.event]),
        "vias": VIAS,
        "scope": "one" if wanted.run_id or wanted.amendment_id or wanted.workflow_id else "all",
        "check": _checked(caller, wanted, asked.get("check", ""), kept),
        "time_zone": timezone.get_current_timezone_name(),
    }


@page("pages/audit.html")
def export_csv(request: HttpRequest, caller: Caller) -> HttpResponseBase:
    """The filtered entries for a spreadsheet, oldest first."""
    entries = export_audit(caller=caller, wanted=_wanted(request.GET))
    return _download(_csv(entries), "text/csv; charset=utf-8", "csv")


@page("pages/audit.html")
def export_jsonl(request: HttpRequest, caller: Caller) -> HttpResponseBase:
    """The filtered entries, one JSON object a line, oldest first: ``hash`` is SHA-256 of ``prev_hash`` and ``text``."""
    entries = export_audit(caller=caller, wanted=_wanted(request.GET))
    return _download(_jsonl(entries), "application/jsonl; charset=utf-8", "jsonl")


def _checked(caller: Caller, wanted: AuditFilter, said: str, kept: dict[str, str]) -> dict[str, Any] | None:
    """What the template tells of a check: its verdict, its numbers as they are written here, and where it goes on."""
    if not said:
        return None
    checked = check_audit_log(
        caller=caller, seconds=CHECK_SECONDS, wanted=wanted, cursor=None if said == "1" else said
    )
    verdict = checked.verdict
    return {
        "verdict": verdict,
        "entries": number_format(verdict.entries, force_grouping=True),
        "total": number_format(max(verdict.total, verdict.entries), force_grouping=True),
        "took": verdict.ended_at - verdict.began_at,
        "next": link(reverse("audit"), **kept, check=checked.next_cursor or ""),
    }


def _download(parts: Iterable[str], kind: str, suffix: str) -> StreamingHttpResponse:
    response = StreamingHttpResponse(parts, content_type=kind)
    response["Content-Disposition"] = (
        f'attachment; filename="chief-audit-{now().strftime("%Y%m%dT%H%M%SZ")}.{suffix}"'
    )
    return response


_COLUMNS = (
    "id",
    "at",
    "event",
    "workflow_id",
    "run_id",
    "amendment_id",
    "actor",
    "via",
    "stream",
    "position",
    "prev_hash",
    "hash",
    "text",
)


class _Line:
    """What ``csv`` writes to: it hands each line back."""

    def write(self, line: str) -> str:
        return line


def _csv(entries: Iterable[dict[str, Any]]) -> Iterator[str]:
    writer = csv.writer(_Line())
    # With the mark, spreadsheets read it as UTF-8.
    yield "\ufeff" + writer.writerow(_COLUMNS)
    for entry in entries:
        yield writer.writerow([_cell(entry[name]) for name in _COLUMNS])


def _cell(value: object) -> str:
    """As text that no spreadsheet takes for a formula: names and ids come from outside."""
    shown = iso(value) if isinstance(value, datetime) else "" if value is None else str(value)
    return f"'{shown}" if shown.startswith(("=", "+", "-", "@", "\t", "\r")) else shown


def _jsonl(entries: Iterable[dict[str, Any]]) -> Iterator[str]:
    for entry in entries:
        yield json.dumps(entry | {"at": iso(entry["at"])}, ensure_ascii=False) + "\n"


def _wanted(asked: QueryDict) -> AuditFilter:
    said: dict[str, Any] = {name: _said(asked, name) for name in FILTERS}
    said["since"] = moment(said["since"], "since")
    said["until"] = moment(said["until"], "until", last=True)
    return AuditFilter(**said)


def _said(asked: QueryDict, name: str) -> str | None:
    said = asked.get(name, "").strip()
    if "\0" in said:
        raise ValidationFailed(f"'{name}' holds a character that can't be searched for", parameter=name)
    return said or None


def _grouped(events: Iterable[str]) -> list[tuple[str, list[tuple[str, Any]]]]:
    """``[(area, [(event, words)])]``, each event once."""
    found: dict[str, dict[str, Any]] = {}
    for event in events:
        found.setdefault(event.partition(".")[0], {})[event] = EVENTS.get(event, "")
    return [(area, list(of_area.items())) for area, of_area in found.items()]


def in_row(entry: dict[str, Any]) -> dict[str, Any]:
    """An entry as a list shows it: ``whole`` is None where its detail, a plan say, is too long for a row."""
    detail = entry["detail"]
    return entry | {
        "brief": _brief(detail),
        "words": EVENTS.get(entry["event"], ""),
        "whole": detail if len(dumps(detail)) <= MOST_IN_ENTRY else None,
        "alone": urlencode({"event": entry["event"], "since": iso(entry["at"]), "until": iso(entry["at"])}),
    }


def _brief(detail: dict[str, Any]) -> str:
    """What fits on a line: the plain values of a detail that tell a person something."""
    told = [
        f"{name} {value}"
        for name, value in detail.items()
        if name not in _UNTOLD
        and isinstance(value, str | int)
        and not isinstance(value, bool)
        and value != ""
    ]
    said = " · ".join(told)
    return said if len(said) <= _BRIEF else f"{said[: _BRIEF - 1]}…"


urlpatterns = [
    path("audit", audit_page, name="audit"),
    path("audit/entries.csv", export_csv, name="audit-csv"),
    path("audit/entries.jsonl", export_jsonl, name="audit-jsonl"),
]
