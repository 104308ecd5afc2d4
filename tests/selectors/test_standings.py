"""How the steps of an amendment stand in its run."""

import pytest
from pytest_django import DjangoAssertNumQueries

from amendments.selectors.standings import standings_of
from chief_project.shared.caller import Caller
from runs.models import Run
from tests.amendments import amend, remove
from tests.plans import loop, task
from tests.runs import add_instance, new_run, report

pytestmark = pytest.mark.django_db


def test_copies_are_counted_by_status_in_one_statement(
    reviewer: Caller, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    new_run(reviewer, loop("l", ["x"]), task("x"), task("z"))
    for index in range(3):
        add_instance(reviewer, "l")
        if index < 2:
            report(reviewer, f"l/inst_0{index}/x", "completed")
    run = Run.objects.get()
    with django_assert_num_queries(1):
        found = standings_of([run.pk], ["x", "z", "nowhere"])[run.pk]
    assert found["x"].counts == {"completed": 2, "pending": 1}
    assert found["x"].finished_at is not None
    assert (found["z"].counts, found["z"].finished_at) == ({"pending": 1}, None)
    assert found.keys() == {"x", "z"}


def test_what_an_amendment_removed_stands_nowhere(reviewer: Caller) -> None:
    new_run(reviewer, "a", "b")
    amend(reviewer, remove("b"))
    assert "b" not in standings_of([Run.objects.get().pk], ["a", "b"])[Run.objects.get().pk]
