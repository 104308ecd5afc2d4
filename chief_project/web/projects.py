"""Projects: the labels, how their work stands, and what waits in each."""

from typing import Any

from django.http import HttpRequest
from django.urls import path

from amendments.selectors.overview import STATES, list_project_states
from amendments.selectors.waiting import count_waiting_by_project
from chief_project.shared.caller import Caller
from chief_project.web.labels import query_of
from chief_project.web.pages import page
from chief_project.web.workflows import PLURALS
from workflows.selectors import UNLABELLED

Context = dict[str, Any]


@page("pages/projects.html")
def projects_page(request: HttpRequest, caller: Caller) -> Context:
    """Every label, Unfiled last; each count leads to the list that holds what it counts."""
    waiting = count_waiting_by_project(caller=caller)
    rows = []
    for row in list_project_states(caller=caller):
        project = UNLABELLED if row["project"] is None else row["project"]
        rows.append(
            row
            | {
                "query": query_of(project),
                "waiting": waiting.get(row["project"], 0),
                "chips": [
                    {
                        "state": state,
                        "word": PLURALS[state],
                        "count": row["states"][state],
                        "query": query_of(project, state=state),
                    }
                    for state in STATES
                    if state in row["states"]
                ],
            }
        )
    return {"section": "projects", "rows": rows}


urlpatterns = [path("projects", projects_page, name="projects")]
