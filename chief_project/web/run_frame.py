"""What every view of a run begins with: the head, the bar and the tabs."""

from typing import Any

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from amendments.selectors.amendments import list_amendments
from chief_project.shared.caller import Caller, Right
from chief_project.shared.clock import now
from chief_project.shared.paging import Paging
from chief_project.web.addresses import link
from chief_project.web.run_links import tab_of
from chief_project.web.run_rows import facts_of
from runs.domain.board import Span, waited
from runs.domain.waits import OVER
from runs.selectors.board import get_run_head

Context = dict[str, Any]

MOST_PAUSES = Paging(limit=1000)


def frame_of(caller: Caller, run_id: str, tab: str) -> Context:
    """What the head, the bar and the tabs of every view need."""
    head = get_run_head(caller=caller, run_id=run_id)
    found = list_amendments(caller=caller, paging=MOST_PAUSES, run_id=run_id)
    amendments = found.rows
    run, at = head.run, now()
    pauses = [Span(each["created_at"], each["decided_at"], "amendment") for each in reversed(amendments)]
    spans = [*head.spans, *pauses]
    counts: dict[str, int | None] = {
        "table": head.rows,
        "reports": head.reports,
        "artifacts": head.artifacts,
        "amendments": found.total,
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
            {"name": name, "label": label, "n": counts.get(name), "href": tab_of(run_id, name)}
            for name, label in labels.items()
        ],
        "counts": [
            (state, _count_words(state, n, caller))
            for state in ("waiting", "running", "failed", "skipped", "pending")
            if (n := head.counts.get(state, 0))
        ],
        "facts": facts_of(run["metadata"]),
        "as_of": at,
        "took": (head.ended_at or at) - run["created_at"],
        "waited": waited(spans, now=at) if spans else None,
        "pauses": pauses,
        "amendments": amendments,
        "pending": next((each for each in amendments if each["status"] == "pending_approval"), None),
        "events": link(f"/v1/runs/{run_id}/events", since=str(run["revision"])),
        "can_cancel": run["status"] not in OVER and caller.may(Right.DECIDE),
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
