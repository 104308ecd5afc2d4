"""What reading templates costs: the same number of statements, however many there are and however large."""

from __future__ import annotations

import pytest
from pytest_django.asserts import assertNumQueries

from chief_project.shared.caller import Caller
from chief_project.shared.paging import Paging
from tests.plans import task
from tests.services.test_template_creation import body, create
from tests.workflows import new_draft
from workflows.mappers import plan_cache
from workflows.selectors.templates import (
    count_workflows_of,
    export_template,
    get_template,
    list_templates,
    preview_template,
    preview_template_from_workflow,
)
from workflows.services.create_workflow_from_template import create_workflow_from_template

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


def test_a_preview_writes_nothing_and_takes_as_much_as_reading(viewer: Caller, harness: Caller) -> None:
    create(harness, body(template_id="survey"))
    plan_cache.clear()
    with assertNumQueries(7):
        found = preview_template(caller=viewer, template_id="survey", parameters={"topic": "whales"})
    assert not found.problems
    made = new_draft(harness, task("a", goal="Read on whales"))
    told = preview_template_from_workflow(
        caller=viewer, workflow_id=made["workflow_id"], substitutions={"whales": "topic"}
    )
    assert told.found == {"whales": 1}
    with assertNumQueries(1):
        assert count_workflows_of(caller=viewer, template_id="survey") == 0


def test_workflows_of_a_template_are_counted(harness: Caller) -> None:
    create(harness, body(template_id="survey"))
    create_workflow_from_template(caller=harness, template_id="survey", parameters={"topic": "whales"})
    assert count_workflows_of(caller=harness, template_id="survey") == 1
