"""What a person who reviews a plan reads: where it stands, what changed since they looked, and any two compared."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from chief_project.shared.caller import Caller, Right
from chief_project.shared.reading import one_moment
from workflows import mappers, models
from workflows.domain.changes import count_changes, places_changed
from workflows.domain.diff import plan_diff
from workflows.domain.plan import KeptPlan, Plan
from workflows.selectors._find import find
from workflows.selectors.history import Kept, kept_entry, kept_label, kept_name, no_such_number

Document = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Review:
    """A workflow as its reader finds it.

    ``head`` is the ``Workflow`` without steps and notes, ``etag`` the number in its ETag; ``newest`` and ``approved`` are ``{n, at, by, via,
    reason}`` of the newest revision and of the version that stands, if one does. ``seen`` is ``{revision, at}``, what this
    person has read, and ``since`` ``{from, diff, counts, places}``, what differs since then, None where nothing newer came.
    ``decided`` is ``{by, at}`` of an approval or archiving; ``versions`` and ``runs`` are how many there are.
    """

    head: Document
    etag: int
    kept: KeptPlan
    notes: list[Document]
    newest: Document
    approved: Document | None
    decided: Document | None
    seen: Document | None
    since: Document | None
    versions: int
    runs: int

    @property
    def stands(self) -> str:
        """Which plan ``kept`` is, by name: ``v2`` where it is approved, ``r3`` where it isn't."""
        return f"v{self.head['version']}" if self.approved else f"r{self.head['revision']}"

    @property
    def open_notes(self) -> list[Document]:
        """Those that nobody resolved yet, oldest first."""
        return [note for note in self.notes if not note["resolved"]]


def get_review(*, caller: Caller, workflow_id: str) -> Review:
    """The workflow for whoever calls. Eight statements, the read's own two among them; six more for plans
    that are not cached."""
    caller.must(Right.READ, "read a workflow")
    with one_moment():
        row = find(workflow_id)
        seen = _seen(row, caller)
        numbers = {row.revision} | ({seen.revision} if seen else set())
        revisions = {
            each.number: each for each in models.Revision.objects.filter(workflow=row, number__in=numbers)
        }
        former = revisions[seen.revision] if seen and seen.revision < row.revision else None
        plans = mappers.load_plans([row.plan_id] + ([former.plan_id] if former else []))
        plan = plans[row.plan_id]
        notes = models.ReviewNote.objects.filter(workflow=row).order_by("id")
        versions = list(models.Version.objects.filter(workflow=row).order_by("number"))
        document = mappers.workflow_document(
            row, plan, notes=[mappers.note_document(note, workflow_id, plan) for note in notes]
        )
        runs = models.Workflow.objects.filter(pk=row.pk, runs__isnull=False).count()
    approved = next((each for each in versions if each.number == row.version), None)
    return Review(
        head={name: value for name, value in document.items() if name not in ("steps", "review_notes")},
        etag=row.etag,
        kept=KeptPlan(row.plan_id, plan, row.title),
        notes=document["review_notes"],
        newest=kept_entry(revisions[row.revision]),
        approved=None if approved is None or row.status == "draft" else kept_entry(approved),
        decided=None if row.decided_at is None else {"by": row.decided_by, "at": row.decided_at},
        seen=None if seen is None else {"revision": seen.revision, "at": seen.at},
        since=None if former is None else _difference(former, plans[former.plan_id], row.title, plan),
        versions=len(versions),
        runs=runs,
    )


def get_changes(
    *, caller: Caller, workflow_id: str, before: str | None = None, after: str | None = None
) -> Document:
    """Any two of ``r3`` and ``v2`` compared, with what people had said beside what became of it.

    What ``get_diff`` answers, and: ``counts`` and ``places`` (``domain.changes``); ``former`` and ``later`` ``{name,
    n, at, by, via, reason, title}``; ``choices``, all there are, the newest first, in the same shape; the notes that
    are older than the younger of the two: ``beside`` under the step they were about, where it changed; ``on_plan``
    about the whole plan; ``untouched``, the open ones whose step is the same in both.

    Left out, ``before`` is the revision that this person has read up to where there is a newer one, else the one
    before ``after``; ``after`` is the newest. Seven statements, the read's own two among them; six more for uncached
    plans. Raises ``ValidationFailed`` for other names, ``NotFound`` for numbers there are not.
    """
    caller.must(Right.READ, "compare plans")
    names = {"from": kept_name(before, "from"), "to": kept_name(after, "to")}
    with one_moment():
        row = find(workflow_id)
        seen = _seen(row, caller)
        every: list[Kept] = [
            *models.Revision.objects.filter(workflow=row).order_by("number"),
            *models.Version.objects.filter(workflow=row).order_by("number"),
        ]
        later = _named(row, every, *names["to"]) if names["to"] else _newest(row, every)
        if names["from"]:
            former = _named(row, every, *names["from"])
        elif names["to"] is None and seen and isinstance(later, models.Revision):
            former = _named(row, every, models.Revision, min(seen.revision, max(1, later.number - 1)))
        else:
            former = _one_before(every, later)
        plans = mappers.load_plans([former.plan_id, later.plan_id, row.plan_id])
        notes = [
            mappers.note_document(note, workflow_id, plans[row.plan_id])
            for note in models.ReviewNote.objects.filter(workflow=row).order_by("id")
        ]
    difference = _difference(former, plans[former.plan_id], later.title, plans[later.plan_id])
    return {
        "workflow_id": workflow_id,
        **difference,
        "to": kept_label(later),
        "former": _choice(former),
        "later": _choice(later),
        "choices": [_choice(each) for each in sorted(every, key=lambda each: each.at, reverse=True)],
        **_said(notes, difference["diff"], max(former.at, later.at)),
    }


def _difference(former: Kept, before: Plan, title: str, after: Plan) -> Document:
    diff = plan_diff(before, after, title_before=former.title, title_after=title)
    return {
        "from": kept_label(former),
        "diff": diff,
        "counts": count_changes(diff),
        "places": places_changed(diff),
    }


def _said(notes: list[Document], diff: Document, until: datetime) -> Document:
    """The notes that could have asked for a change made by ``until``, by what became of their step."""
    touched = {step["id"] for step in (*diff["added"], *diff["removed"])}
    touched |= {step["step_id"] for step in diff["changed"]}
    beside: dict[str, list[Document]] = {}
    on_plan, untouched = [], []
    for note in notes:
        if note["created_at"] > until:
            continue
        if note["step_id"] is None:
            on_plan.append(note)
        elif note["step_id"] in touched:
            beside.setdefault(note["step_id"], []).append(note)
        elif not note["resolved"]:
            untouched.append(note)
    return {"beside": beside, "on_plan": on_plan, "untouched": untouched}


def _seen(row: models.Workflow, caller: Caller) -> models.Seen | None:
    if caller.user_id is None:
        return None
    return models.Seen.objects.filter(workflow=row, user_id=caller.user_id).first()


def _choice(kept: Kept) -> Document:
    return {"name": kept_label(kept), **kept_entry(kept), "title": kept.title}


def _named(row: models.Workflow, every: list[Kept], model: type[Kept], number: int) -> Kept:
    for each in every:
        if isinstance(each, model) and each.number == number:
            return each
    raise no_such_number(row, model, number)


def _newest(row: models.Workflow, every: list[Kept]) -> Kept:
    """Of versions where there are two and it is no draft, else of revisions: as ``get_diff``."""
    versions = [each for each in every if isinstance(each, models.Version)]
    if row.status != "draft" and len(versions) > 1:
        return versions[-1]
    return _named(row, every, models.Revision, row.revision)


def _one_before(every: list[Kept], later: Kept) -> Kept:
    """What came before, of the same kind; the first one is compared with itself."""
    former = [each for each in every if type(each) is type(later) and each.number < later.number]
    return former[-1] if former else later
