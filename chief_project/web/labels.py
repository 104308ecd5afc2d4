"""Projects in addresses: which one a page is kept to, and the chips that choose another.

No label is blank, so a blank value can stand for the workflows without one: ``?project=+``; an empty one is no choice.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest
from django.utils.http import urlencode

from chief_project.shared.caller import Caller
from chief_project.shared.paging import Paging
from workflows.selectors import UNLABELLED, list_projects

UNFILED = " "


@dataclass(frozen=True, slots=True)
class Chip:
    """One choice: ``label`` None is Unfiled; ``query`` leads there; ``here`` says that it is chosen."""

    label: str | None
    count: int
    query: str
    here: bool


def label_of(request: HttpRequest) -> str | None:
    """Which project is asked for, as selectors take it: a label, ``UNLABELLED``, or None for all."""
    given = request.GET.get("project", "").replace("\0", "")
    if given == "":
        return None
    return given if given.strip() else UNLABELLED


def value_of(project: str | None) -> str:
    """What ``label_of`` reads back; None is no choice."""
    return "" if project is None else UNFILED if project == UNLABELLED else project


def query_of(project: str | None, **more: Any) -> str:
    """A query string that keeps a page to ``project``, with what else is set."""
    wanted = {"project": value_of(project)} | more
    return urlencode({name: value for name, value in wanted.items() if value not in (None, "")})


def chips_of(counts: Mapping[str | None, int], project: str | None) -> list[Chip]:
    """A chip per label, in order, Unfiled last; the one that is chosen stays, also with nothing in it."""
    labels = [*counts] if project is None or _label(project) in counts else [*counts, _label(project)]
    return [
        Chip(
            label,
            counts.get(label, 0),
            query_of(UNLABELLED if label is None else label),
            project is not None and _label(project) == label,
        )
        for label in sorted(labels, key=lambda label: (label is None, (label or "").casefold()))
    ]


def labels_in_use(caller: Caller) -> list[str]:
    """Every label, for a form to offer them."""
    found = list_projects(caller=caller, paging=Paging(limit=1000)).rows
    return [row["project"] for row in found if row["project"] is not None]


def _label(project: str) -> str | None:
    return None if project == UNLABELLED else project
