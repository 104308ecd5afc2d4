"""Plans as values, under a key that names them for ever."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from amendments.selectors.amendments import plans_of_amendment
from chief_project.shared.caller import Caller
from chief_project.shared.errors import NotFound, ValidationFailed
from runs.selectors.runs import plan_of_run
from tests.amendments import approve, insert_after, propose
from tests.plans import task
from tests.runs import new_run
from tests.workflows import new_draft, revised
from workflows.mappers import plan_cache
from workflows.selectors import get_diff, get_version, plan_of_workflow, plan_then
from workflows.selectors.review import get_changes
from workflows.services.approve_workflow import approve_workflow

pytestmark = pytest.mark.django_db


def test_a_workflow_gives_its_plan_as_it_stands_and_as_it_was(harness: Caller, viewer: Caller) -> None:
    made = new_draft(harness, "a", title="First")
    revised(harness, made, task("a"), task("b"), title="Second")
    name = made["workflow_id"]
    now = plan_of_workflow(caller=viewer, workflow_id=name)
    assert ([step.id for step in now.plan.steps], now.title) == (["a", "b"], "Second")
    first = plan_then(caller=viewer, workflow_id=name, name="r1")
    assert ([step.id for step in first.kept.plan.steps], first.kept.title) == (["a"], "First")
    assert (first.name, first.entry["n"], first.entry["by"]) == ("r1", 1, harness.actor)
    assert first.kept.key != now.key
    assert plan_then(caller=viewer, workflow_id=name, name="r2").kept.key == now.key


def test_what_names_no_plan_is_told_which_there_are(
    harness: Caller, reviewer: Caller, viewer: Caller
) -> None:
    made = new_draft(harness, "a", workflow_id="w")
    for name in ("r2", "v1", "r0", "r01", "r", "", "R1", "r1 ", "3", "r" + "9" * 50):
        with pytest.raises(NotFound, match=r"has no .*: it has r1$") as refused:
            plan_then(caller=viewer, workflow_id="w", name=name)
        assert len(refused.value.message) < 120
    revised(harness, made, task("a"), task("b"))
    approve_workflow(caller=reviewer, workflow_id="w")
    assert plan_then(caller=viewer, workflow_id="w", name="v1").entry["by"] == reviewer.actor
    told = "it has r1 to r2 and v1$"
    with pytest.raises(NotFound, match=f"no revision 3: {told}"):
        plan_then(caller=viewer, workflow_id="w", name="r3")
    with pytest.raises(NotFound, match=f"no approved version 2: {told}"):
        get_version(caller=viewer, workflow_id="w", number=2)
    with pytest.raises(NotFound, match=f"no revision 3: {told}"):
        get_changes(caller=viewer, workflow_id="w", after="r3")
    with pytest.raises(NotFound, match=f"no approved version 2: {told}"):
        get_diff(caller=viewer, workflow_id="w", before="v2")


@pytest.mark.parametrize("count", [1, 12])
def test_an_old_plan_takes_the_same_statements_whatever_there_is(
    harness: Caller, viewer: Caller, count: int
) -> None:
    made = new_draft(harness, *(task(f"s{number}") for number in range(count)))
    for number in range(count):
        revised(harness, made, *(task(f"s{each}") for each in range(number + 2)))
    plan_cache.clear()
    with CaptureQueriesContext(connection) as asked:
        plan_then(caller=viewer, workflow_id=made["workflow_id"], name="r1")
    assert len(asked) <= 10


def test_a_run_and_its_amendment_give_theirs(reviewer: Caller, viewer: Caller) -> None:
    new_run(reviewer)
    proposed = propose(reviewer, insert_after("a", task("n")))["amendment_id"]
    before, after, head = plans_of_amendment(caller=viewer, amendment_id=proposed)
    assert plan_of_run(caller=viewer, run_id="r1") == before
    assert [step.id for step in after.plan.steps] == ["a", "n", "b"]
    assert head.plan == before.plan
    assert {kept.title for kept in (before, after, head)} == {"A plan"}

    approve(reviewer, proposed)
    assert plan_of_run(caller=viewer, run_id="r1").key == after.key
    assert plan_of_run(caller=viewer, run_id="r1", applied=0) == before
    assert plan_of_run(caller=viewer, run_id="r1", applied=1) == after
    for missing in (-1, 2):
        with pytest.raises(ValidationFailed, match=r"use 0 \(as registered\) to 1"):
            plan_of_run(caller=viewer, run_id="r1", applied=missing)
    assert plans_of_amendment(caller=viewer, amendment_id=proposed)[:2] == (before, after)


def test_the_head_is_the_one_that_a_pending_amendment_meets_now(reviewer: Caller) -> None:
    run = new_run(reviewer)
    proposed = propose(reviewer, insert_after("a", task("n")))["amendment_id"]
    _, _, head = plans_of_amendment(caller=reviewer, amendment_id=proposed)
    assert head.key == plan_of_workflow(caller=reviewer, workflow_id=run["workflow_id"]).key


def test_what_is_not_there_has_no_plan(viewer: Caller) -> None:
    with pytest.raises(NotFound, match="no run 'r9'"):
        plan_of_run(caller=viewer, run_id="r9")
    with pytest.raises(NotFound, match="no run 'r9'"):
        plan_of_run(caller=viewer, run_id="r9", applied=0)
    with pytest.raises(NotFound, match="no amendment 'x'"):
        plans_of_amendment(caller=viewer, amendment_id="x")
    with pytest.raises(NotFound, match="no workflow 'x'"):
        plan_of_workflow(caller=viewer, workflow_id="x")
    with pytest.raises(NotFound, match="no workflow 'x'"):
        plan_then(caller=viewer, workflow_id="x", name="r1")
