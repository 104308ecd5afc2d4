"""What reading templates costs: the same number of statements, however many there are and however large."""

from __future__ import annotations

import pytest
from pytest_django.asserts import assertNumQueries

from chief_project.shared.caller import Caller
from chief_project.shared.paging import Paging
from tests.plans import task
from tests.services.test_template_creation import body, create
from workflows.mappers import plan_cache
from workflows.selectors.templates import export_template, get_template, list_templates

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("how_many", [1, 5])
def test_a_list_takes_seven_statements_and_one_when_its_plans_are_known(
    harness: Caller, how_many: int
) -> None:
    for _ in range(how_many):
        create(harness, body(*(task(f"s{place}", criteria=["{{ topic }}"]) for place in range(how_many))))
    plan_cache.clear()
    with assertNumQueries(7):
        list_templates(caller=harness, paging=Paging())
    with assertNumQueries(1):
        page = list_templates(caller=harness, paging=Paging())
    assert len(page.rows) == how_many


def test_one_template_takes_seven_statements_and_one_when_its_plan_is_known(harness: Caller) -> None:
    create(harness, body(template_id="survey"))
    plan_cache.clear()
    with assertNumQueries(7):
        get_template(caller=harness, template_id="survey")
    with assertNumQueries(1):
        export_template(caller=harness, template_id="survey")
