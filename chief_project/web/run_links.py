"""Where a run's pages are."""

from django.urls import reverse

from chief_project.web.addresses import link
from runs.domain.paths import Path

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
"""The name of each view's address."""
DEFINITION = {"graph": "run-definition", "outline": "run-definition-outline"}
"""Those of the plan that it goes by."""


def tab_of(run_id: str, name: str) -> str:
    """One of the run's pages, by its name in ``TABS``."""
    return reverse(TABS[name], kwargs={"run_id": run_id})


def table_of(run_id: str, state: str, q: str, number: int = 1) -> str:
    """The table, narrowed down by state and by what is looked for."""
    return link(tab_of(run_id, "table"), state=state, q=q, page=str(number) if number > 1 else "")


def step_of(run_id: str, where: Path) -> str:
    """The graph with a step beside it."""
    return link(tab_of(run_id, "graph"), step="/".join(where))


def panel_of(here: str, where: str) -> str:
    """A step beside the graph ``here``: where the panel stands below it, right to the panel."""
    return f"{link(here, step=where)}#panel"


def definition_of(run_id: str, applied: int | None = None, *, view: str = "graph", step: str = "") -> str:
    """The plan that the run goes by, or went by after its first ``applied`` amendments."""
    where = reverse(DEFINITION[view], kwargs={"run_id": run_id})
    return link(where, applied="" if applied is None else str(applied), step=step)
