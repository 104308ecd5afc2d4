"""A workflow's runs as lines of a list."""

import pytest
from pytest_django import DjangoAssertNumQueries

from chief_project.shared.caller import Caller
from chief_project.shared.paging import Paging
from runs.selectors.of_workflow import runs_of_workflow
from runs.services.register_run import register_run
from tests.amendments import amend, insert_after
from tests.plans import checkpoint, task
from tests.runs import new_run, report

pytestmark = pytest.mark.django_db


def test_each_says_how_far_it_is(
    reviewer: Caller, viewer: Caller, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    new_run(reviewer, task("a"), task("b"), checkpoint("c"), workflow_id="w")
    for number in range(2, 5):
        register_run(caller=reviewer, workflow_id="w", run_id=f"r{number}")
    report(reviewer, "a", "completed")
    report(reviewer, "c", "running")
    amend(reviewer, insert_after("b", task("n")))
    with django_assert_num_queries(1):
        rows = runs_of_workflow(caller=viewer, workflow_id="w", paging=Paging()).rows
    assert [row["run_id"] for row in rows] == ["r4", "r3", "r2", "r1"]
    first = rows[-1]
    assert first["counts"] == {
        "completed": 1,
        "running": 0,
        "failed": 0,
        "waiting": 1,
        "skipped": 0,
        "pending": 2,
    }
    assert (first["done"], first["steps"], first["amendments_applied"]) == (1, 4, 1)
    page = runs_of_workflow(caller=viewer, workflow_id="w", paging=Paging(limit=3))
    rest = runs_of_workflow(caller=viewer, workflow_id="w", paging=Paging(limit=3, cursor=page.next_cursor))
    assert (page.total, [row["run_id"] for row in rest.rows]) == (4, ["r1"])
