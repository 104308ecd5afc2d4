"""Every page there is, filled by the demo: read from the routes, so that a new page can't be forgotten."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from django.urls import URLPattern, URLResolver, get_resolver, reverse

from tests.browser.sites import Site

# Further subjects for the pages that look different with each. `None` stands for the first in `SUBJECTS`.
SUBJECTS: dict[str, dict[str, str]] = {
    "workflow_id": {
        "": "Move order events to the second schema",
        "large": "Upgrade the web framework in all twelve services",
        "sent-back": "Rotate the signing keys of every service",
        "by-hand": "Look through everybody's access rights",
        "approved": "Translate the help pages into Polish",
        "with-runs": "Make the payment tests dependable",
        "archived": "Compare three vector stores",
    },
    "run_id": {
        "": "Review the papers on attention",
        "212": "Check all 212 pages of the shop",
        "checkpoint": "Release 4.2",
        "failed": "Recompute the tax of old orders",
        "completed": "Halve the size of the container images",
        "cancelled": "List the licences of what we ship",
        "paused": "Ablation",
        "replayed": "Make the payment tests dependable",
    },
    "amendment_id": {
        "": "pending_approval",
        "rejected": "rejected",
        "withdrawn": "withdrawn",
        "policy": "approved",
    },
    "template_id": {
        "": "Upgrade {{ package }}",
        "used": "Write the guide for",
        "archived": "Write a short guide",
    },
}

ARTIFACTS = {  # whose run, and the artifact's id
    "": ("", "report-routing-2022"),
    "csv": ("", "candidates"),
    "json": ("212", "trace-music-top"),
    "maths": ("paused", "perplexity"),
}
# Views of a page that a link leads to: its name, and what is asked of it.
VIEWS = {
    "workflow+step": ("workflow", "step=compare-month"),
    "workflow-outline+step": ("workflow-outline", "step=backfill"),
    "workflow-outline+large": ("workflow-outline:large", ""),
    "workflow-kept+step": ("workflow-kept", "step=compare-month"),
    "workflow-edit+step": ("workflow-edit", "step=compare-month"),
    "run-definition+registered": ("run-definition:replayed", "applied=0"),
    "run-definition+after": ("run-definition:replayed", "applied=1"),
    "run+question": ("run", "step=read/inst_02/tables"),
    "run+done": ("run", "step=read/inst_00/tables"),
    "run+checkpoint": ("run:checkpoint", "step=go-first"),
    "run+history": ("run:replayed", "step=rounds/inst_01/prove"),
    "run-timeline+212": ("run-timeline:212", ""),
    "run-table+212": ("run-table:212", ""),
    "workflows+runs": ("workflows", "state=running"),
}
NO_PAGES = {
    "audit-csv",
    "audit-jsonl",
    "template-export",
    "needs-you-news",
    "workflow-moved",
    "amendment-moved",
    "home",
}  # files, fragments, a twin
ALSO = {"workflow-new", "workflow-edit"}  # pages that are posted to at their own address


def routes(below: URLResolver | None = None) -> Iterator[URLPattern]:
    """The routes that answer a page, not an action."""
    for route in (below or get_resolver()).url_patterns:
        if isinstance(route, URLResolver):
            yield from routes(route)
        elif route.name in ALSO or (hasattr(route.callback, "screen") and route.name not in NO_PAGES):
            yield route


def names() -> list[str]:
    """What ``Places`` can be asked for: a route's name, with a colon a further subject, with a plus a further view."""
    found = []
    for route in routes():
        assert route.name, f"{route.pattern} has no name"
        # A page of its own for each subject; tabs and forms look much the same, so one will do.
        subjects = _subjects(route) if "-" not in route.name else {"": ""}
        found += [f"{route.name}:{subject}" if subject else route.name for subject in subjects]
    return found + [view for view, (of, _) in VIEWS.items() if of.partition(":")[0] in found]


def _subjects(route: URLPattern) -> Collection[str]:
    kinds = route.pattern.converters
    if "artifact_id" in kinds:
        return ARTIFACTS
    return next((SUBJECTS[kind] for kind in kinds if kind in SUBJECTS), [""])


class Places:
    """The addresses of ``names()`` at a site with the demo's work."""

    def __init__(self, site: Site) -> None:
        self._ask = site.harness
        self._routes = {str(route.name): route for route in routes()}
        self._ids: dict[tuple[str, str], str] = {}

    def path(self, name: str) -> str:
        """Where the page called ``name`` is."""
        name, query = VIEWS.get(name, (name, ""))
        route, _, subject = name.partition(":")
        wanted = self._routes[route].pattern.converters
        given = {}
        if "artifact_id" in wanted:
            subject, given["artifact_id"] = ARTIFACTS[subject]
        given |= {kind: self._id(kind, subject) for kind in wanted if kind not in given}
        return reverse(route, kwargs=given) + (f"?{query}" if query else "")

    def _id(self, kind: str, subject: str) -> str:
        if (kind, subject) not in self._ids:
            self._ids[kind, subject] = self._find(kind, SUBJECTS.get(kind, {}).get(subject, ""))
        return self._ids[kind, subject]

    def _find(self, kind: str, sought: str) -> str:
        if kind == "workflow_id":
            return str(self._first("/workflows", "title", sought)["workflow_id"])
        if kind == "template_id":
            return str(self._first("/templates", "title", sought)["template_id"])
        if kind == "run_id":
            workflow_id = self._first("/workflows", "title", sought)["workflow_id"]
            runs = self._ask.get("/runs", workflow_id=workflow_id)
            return str(runs[-1 if sought == "Make the payment tests dependable" else 0]["run_id"])
        if kind == "amendment_id":
            found = self._ask.get("/amendments", status=sought)
            return str((found[-1] if sought == "pending_approval" else found[0])["amendment_id"])
        if kind == "kept":
            return "r1"
        if kind == "card":
            return f"draft:{self._find('workflow_id', SUBJECTS['workflow_id'][''])}@3"
        raise AssertionError(f"nobody has said what to show for <{kind}>")

    def _first(self, path: str, key: str, beginning: str) -> Any:
        """The oldest whose ``key`` begins so."""
        found = [each for each in self._ask.get(path, limit=1000) if each[key].startswith(beginning)]
        assert found, f"the demo has no {path} that begins with {beginning!r}"
        return found[-1]
