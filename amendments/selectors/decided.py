"""What became of something that waited for a person: who decided it, when, through which door, and what followed."""

import json
from collections.abc import Collection, Iterable
from datetime import datetime
from typing import Any

from django.db.models import OuterRef, Q, Subquery

from amendments.models import Amendment
from chief_project.shared.caller import Caller, Right
from chief_project.shared.models import AuditEntry
from chief_project.shared.reading import one_moment
from runs.models import Question, Report, Run, StepState
from runs.selectors.paths import ways_to
from workflows.models import Workflow

Document = dict[str, Any]

_DRAFT_ENDS = {
    "workflow.approved": "approved",
    "workflow.sent_back": "sent_back",
    "workflow.archived": "archived",
    "workflow.revised": "revised",
}
_THEN = ("then_at", "then_actor")
_RUN = (
    "run__run_id",
    "run__status",
    "run__cancelled",
    "run__workflow__workflow_id",
    "run__workflow__title",
)


def what_became_of(*, caller: Caller, cards: Collection[str]) -> dict[str, Document]:
    """By the name of each card (``card_of``): ``{card, kind, open, what, by, at, via, reason, then, title, workflow_id,
    run_id, amendment_id, path}``.

    ``open``: it still waits, and the rest of the decision is null. ``what``: ``approved``, ``rejected``,
    ``withdrawn``, ``answered``, ``acknowledged``, ``sent_back``, ``archived``, ``revised`` (``by`` wrote another
    revision), ``cancelled`` (its run was), ``went_on`` (an amendment took it out, or its run runs again) or ``gone``
    (with its workflow, or it never was). ``then`` ``{what, actor, at, run_id}``: the first that the harness did
    afterwards, ``reported`` or ``registered`` a run; null if nothing yet. At most twelve statements.
    """
    caller.must(Right.READ, "read what became of a decision")
    asked: dict[str, dict[str, str]] = {}
    for card in cards:
        kind, _, name = card.partition(":")
        asked.setdefault(kind, {})[name] = card
    with one_moment():
        found = (
            _drafts(asked.get("draft", {}))
            | _amendments(asked.get("amendment", {}))
            | _checkpoints(asked.get("checkpoint", {}))
            | _questions(asked.get("question", {}))
            | _failed_runs(asked.get("failed_run", {}))
        )
    return {
        card: {"card": card, "kind": card.partition(":")[0]} | found.get(card, _document("gone"))
        for card in cards
    }


def _document(what: str | None, **known: Any) -> Document:
    return {
        "open": what is None,
        "what": what,
        "by": None,
        "at": None,
        "via": None,
        "reason": None,
        "then": None,
        "title": None,
        "workflow_id": None,
        "run_id": None,
        "amendment_id": None,
        "path": None,
    } | known


def _drafts(names: dict[str, str]) -> dict[str, Document]:
    """``{workflow_id}@{revision}``. What ended a revision's wait is the first decision on it, or the next revision."""
    wanted = {}
    for name in names:
        workflow_id, _, number = name.rpartition("@")
        if number.isdecimal() and len(number) < 10:
            wanted[name] = (workflow_id, int(number))
    heads = {
        row["workflow_id"]: row
        for row in Workflow.objects.filter(workflow_id__in={each for each, _ in wanted.values()}).values(
            "pk", "workflow_id", "title", "status", "revision", "review_state"
        )
    }
    if not heads:
        return {}
    entries: dict[str | None, list[AuditEntry]] = {}
    for entry in AuditEntry.objects.filter(
        stream__in=[f"workflow:{workflow_id}" for workflow_id in heads],
        event__in=[*_DRAFT_ENDS, "workflow.reopened"],
    ).order_by("id"):
        entries.setdefault(entry.workflow_id, []).append(entry)
    found: dict[str, Document] = {}
    approved: dict[int, list[Document]] = {}
    for name, (workflow_id, revision) in wanted.items():
        head = heads.get(workflow_id)
        if head is None:
            continue
        about = {"title": head["title"], "workflow_id": workflow_id}
        waits = head["status"] == "draft" and head["review_state"] == "waiting"
        end, detail = _end_of(revision, entries.get(workflow_id, ()))
        if waits and head["revision"] == revision:
            found[names[name]] = _document(None, **about)
        elif end is None:
            found[names[name]] = _document("went_on", **about)
        else:
            found[names[name]] = _document(
                _DRAFT_ENDS[end.event],
                by=detail.get("decided_by") or end.actor,
                at=end.at,
                via=end.via,
                reason=detail.get("reason"),
                **about,
            )
            if end.event == "workflow.approved":
                approved.setdefault(head["pk"], []).append(found[names[name]])
    _tell_first_runs(approved)
    return found


def _tell_first_runs(approved: dict[int, list[Document]]) -> None:
    """Write the first run since each approval, by the workflow's row id, into its ``then``."""
    runs = Run.objects.filter(workflow__in=approved).order_by("-created_at", "-pk")
    for workflow_pk, run_id, at in runs.values_list("workflow_id", "run_id", "created_at"):
        for document in approved[workflow_pk]:
            if at >= document["at"]:
                document["then"] = {"what": "registered", "actor": None, "at": at, "run_id": run_id}


def _end_of(revision: int, entries: Iterable[AuditEntry]) -> tuple[AuditEntry | None, Document]:
    """The entry that ended the wait of ``revision``, and its detail, among those of one workflow in order."""
    newest = 1
    end: AuditEntry | None = None
    told: Document = {}
    for entry in entries:
        detail = json.loads(entry.text)["detail"]
        if newest == revision and (end is None or entry.event == "workflow.reopened"):
            end, told = (None, {}) if entry.event == "workflow.reopened" else (entry, detail)
        if entry.event == "workflow.revised":
            newest = detail["revision"]
    return end, told


def _amendments(names: dict[str, str]) -> dict[str, Document]:
    rows = Amendment.objects.filter(amendment_id__in=names).annotate(**_first_report("decided_at"))
    found = {}
    for row in rows.values(
        "amendment_id", "status", "decided_by", "decided_at", "decided_via", "decision_reason", *_THEN, *_RUN
    ):
        found[names[row["amendment_id"]]] = _document(
            None if row["status"] == "pending_approval" else row["status"],
            by=row["decided_by"],
            at=row["decided_at"],
            via=row["decided_via"],
            reason=row["decision_reason"],
            then=_then(row),
            amendment_id=row["amendment_id"],
            **_about(row),
        )
    return found


def _checkpoints(names: dict[str, str]) -> dict[str, Document]:
    """``{run_id}@{path}``. Four statements."""
    wanted: dict[tuple[str, str], str] = {}
    rows = Q()
    for name, card in names.items():
        run_id, _, path = name.partition("@")
        tokens = path.split("/")
        inside = {"instance__instance_id": tokens[-2]} if len(tokens) > 1 else {"instance": None}
        rows |= Q(run__run_id=run_id, step_id=tokens[-1], **inside)
        wanted[run_id, path] = card
    if not wanted:
        return {}
    states = list(
        StepState.objects.filter(rows, type="checkpoint")
        .annotate(**_first_report("completed_at"))
        .values("pk", "status", "checkpoint", "completed_at", *_THEN, *_RUN)
    )
    ways = ways_to([row["pk"] for row in states])
    found = {}
    for row in states:
        way = "/".join(ways[row["pk"]].path)
        if (row["run__run_id"], way) in wanted:
            document = _ended(row) if row["checkpoint"] is None else _resolved(row)
            found[wanted[row["run__run_id"], way]] = document | {"path": way}
    return found


def _resolved(row: Document) -> Document:
    decision = row["checkpoint"]
    return _document(
        decision["decision"],
        by=decision["decided_by"],
        at=row["completed_at"],
        via=decision["via"],
        reason=decision["note"],
        then=_then(row),
        **_about(row),
    )


def _questions(names: dict[str, str]) -> dict[str, Document]:
    rows = Question.objects.filter(question_id__in=names).annotate(**_first_report("answered_at"))
    found = {}
    for row in rows.values(
        "question_id",
        "answered_at",
        "answered_by",
        "via",
        "closed",
        "state__status",
        *_THEN,
        *_RUN,
    ):
        if row["answered_at"] is not None:
            document = _document(
                "answered",
                by=row["answered_by"],
                at=row["answered_at"],
                via=row["via"],
                then=_then(row),
                **_about(row),
            )
        elif row["closed"] is not None:
            document = _document("withdrawn", **_signed(row["closed"]), **_about(row))
        else:
            document = _ended(row | {"status": row["state__status"]})
        found[names[row["question_id"]]] = document
    return found


def _failed_runs(names: dict[str, str]) -> dict[str, Document]:
    rows = Run.objects.filter(run_id__in=names).values(
        "run_id", "status", "acknowledged", "cancelled", "workflow__workflow_id", "workflow__title"
    )
    found = {}
    for row in rows:
        about = {
            "title": row["workflow__title"],
            "workflow_id": row["workflow__workflow_id"],
            "run_id": row["run_id"],
        }
        if row["cancelled"] is not None:
            document = _document("cancelled", **_signed(row["cancelled"]), **about)
        elif row["status"] != "failed":
            document = _document("went_on", **about)
        elif row["acknowledged"] is not None:
            document = _document("acknowledged", **_signed(row["acknowledged"]), **about)
        else:
            document = _document(None, **about)
        found[names[row["run_id"]]] = document
    return found


def _ended(row: Document) -> Document:
    """A blocked step that nobody decided: open, or its run was cancelled, or an amendment took it out."""
    if row["run__cancelled"] is not None:
        return _document("cancelled", **_signed(row["run__cancelled"]), **_about(row))
    waits = row["status"] == "blocked" and row["run__status"] != "completed"
    return _document(None if waits else "went_on", **_about(row))


def _signed(kept: Document) -> Document:
    """``{at, by, reason?, via?}`` as it is kept beside a run or a question."""
    return {
        "by": kept["by"],
        "at": datetime.fromisoformat(kept["at"]),
        "via": kept.get("via"),
        "reason": kept.get("reason"),
    }


def _about(row: Document) -> Document:
    return {
        "title": row["run__workflow__title"],
        "workflow_id": row["run__workflow__workflow_id"],
        "run_id": row["run__run_id"],
    }


def _first_report(decided_at: str) -> dict[str, Subquery]:
    """``then_at`` and ``then_actor`` of the first report in the run since the moment in that column."""
    later = Report.objects.filter(run=OuterRef("run"), at__gte=OuterRef(decided_at)).order_by("number")
    return {f"then_{name}": Subquery(later.values(name)[:1]) for name in ("at", "actor")}


def _then(row: Document) -> Document | None:
    if row["then_at"] is None:
        return None
    return {
        "what": "reported",
        "actor": row["then_actor"],
        "at": row["then_at"],
        "run_id": row["run__run_id"],
    }


_DECISIONS = {
    "workflow.approved": "approved",
    "workflow.sent_back": "sent_back",
    "amendment.approved": "approved",
    "amendment.rejected": "rejected",
    "checkpoint.resolved": "",
    "step.question_answered": "answered",
    "run.acknowledged": "acknowledged",
}
_LATELY = 20_000  # entries of the audit: further back nobody looks for what was decided lately


def decided_lately(*, caller: Caller, limit: int) -> list[Document]:
    """The newest decisions: ``{kind, what, by, at, title, workflow_id, run_id, amendment_id, path, then}``.

    ``kind``, ``what`` and ``then`` as in ``what_became_of``; what was revised after it was sent back is ``revised``
    in ``then``, and nothing follows what was acknowledged. Decisions on workflows that are gone aren't here. Three statements.
    """
    caller.must(Right.OVERSEE, "read what was decided")
    newest = AuditEntry.objects.order_by("-id").values_list("id", flat=True).first()
    if newest is None:
        return []
    reports = Report.objects.filter(run__run_id=OuterRef("run_id"), at__gte=OuterRef("at")).order_by("number")
    began = Run.objects.filter(workflow__workflow_id=OuterRef("workflow_id"), created_at__gte=OuterRef("at"))
    revised = AuditEntry.objects.filter(
        workflow_id=OuterRef("workflow_id"), event="workflow.revised", id__gt=OuterRef("id")
    ).order_by("id")
    entries = list(
        AuditEntry.objects.filter(id__gt=newest - _LATELY, event__in=_DECISIONS)
        .annotate(
            reported_at=Subquery(reports.values("at")[:1]),
            reported_by=Subquery(reports.values("actor")[:1]),
            began_at=Subquery(began.order_by("created_at").values("created_at")[:1]),
            began_id=Subquery(began.order_by("created_at").values("run_id")[:1]),
            revised_at=Subquery(revised.values("at")[:1]),
            revised_by=Subquery(revised.values("actor")[:1]),
        )
        .order_by("-id")[:limit]
    )
    titles = dict(
        Workflow.objects.filter(workflow_id__in={entry.workflow_id for entry in entries}).values_list(
            "workflow_id", "title"
        )
    )
    found = []
    for entry in entries:
        if entry.workflow_id not in titles:
            continue
        detail = json.loads(entry.text)["detail"]
        what = _DECISIONS[entry.event] or detail["decision"]
        by = next((detail[name] for name in ("decided_by", "answered_by", "by") if detail.get(name)), None)
        found.append(
            {
                "kind": _KIND_OF[entry.event.partition(".")[0]],
                "what": what,
                "by": by or entry.actor,
                "at": entry.at,
                "title": titles[entry.workflow_id],
                "workflow_id": entry.workflow_id,
                "run_id": entry.run_id,
                "amendment_id": entry.amendment_id,
                "path": detail.get("path"),
                "then": _followed(entry, what),
            }
        )
    return found


_KIND_OF = {
    "workflow": "draft",
    "amendment": "amendment",
    "checkpoint": "checkpoint",
    "step": "question",
    "run": "failed_run",
}


def _followed(entry: Any, what: str) -> Document | None:
    if what == "acknowledged":
        return None
    if entry.run_id is not None:
        told = "reported", entry.reported_by, entry.reported_at, entry.run_id
    elif what == "sent_back":
        told = "revised", entry.revised_by, entry.revised_at, None
    else:
        told = "registered", None, entry.began_at, entry.began_id
    return None if told[2] is None else dict(zip(("what", "actor", "at", "run_id"), told, strict=True))
