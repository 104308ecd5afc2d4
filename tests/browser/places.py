"""Every page there is, filled by the demo: read from the routes, so that a new page can't be forgotten."""

from __future__ import annotations

from collections.abc import Iterator
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

FILES = {"audit-csv", "audit-jsonl"}  # answered as downloads
ALSO = {"workflow-new", "workflow-edit"}  # pages that are posted to at their own address


def routes(below: URLResolver | None = None) -> Iterator[URLPattern]:
    """The routes that answer a page, not an action."""
    for route in (below or get_resolver()).url_patterns:
        if isinstance(route, URLResolver):
            yield from routes(route)
        elif route.name in ALSO or (hasattr(route.callback, "screen") and route.name not in FILES):
            yield route


def names() -> list[str]:
    """What ``Places`` can be asked for: a route's name, and with a colon a further subject."""
    found = []
    for route in routes():
        assert route.name, f"{route.pattern} has no name"
        kinds = [kind for kind in SUBJECTS if kind in route.pattern.converters]
        # A page of its own for each subject; tabs and forms look much the same, so one will do.
        subjects = SUBJECTS[kinds[0]] if len(kinds) == 1 and "-" not in route.name else {"": ""}
        found += [f"{route.name}:{subject}" if subject else route.name for subject in subjects]
    return found


class Places:
    """The addresses of ``names()`` at a site with the demo's work."""

    def __init__(self, site: Site) -> None:
        self._ask = site.person("owner")
        self._routes = {str(route.name): route for route in routes()}
        self._ids: dict[tuple[str, str], str] = {}

    def path(self, name: str) -> str:
        """Where the page called ``name`` is."""
        route, _, subject = name.partition(":")
        wanted = self._routes[route].pattern.converters
        return reverse(route, kwargs={kind: self._id(kind, subject) for kind in wanted})

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
            return str(runs[0]["run_id"])
        if kind == "amendment_id":
            found = self._ask.get("/amendments", status=sought)
            return str((found[-1] if sought == "pending_approval" else found[0])["amendment_id"])
        if kind == "artifact_id":
            return "report-routing-2022"
        if kind == "revision" or kind == "n":
            return "2"
        raise AssertionError(f"nobody has said what to show for <{kind}>")

    def _first(self, path: str, key: str, beginning: str) -> Any:
        for document in self._ask.get(path, limit=1000):
            if document[key].startswith(beginning):
                return document
        raise AssertionError(f"the demo has no {path} that begins with {beginning!r}")
