"""Plans as values, under a key that names them for ever."""

import pytest

from amendments.selectors.amendments import plans_of_amendment
from chief_project.shared.caller import Caller
from chief_project.shared.errors import NotFound
from runs.selectors.runs import plan_of_run
from tests.amendments import approve, insert_after, propose
from tests.plans import task
from tests.runs import new_run
from tests.workflows import new_draft, revised
from workflows.selectors import plan_of_workflow

pytestmark = pytest.mark.django_db


def test_a_workflow_gives_its_plan_as_it_stands_and_as_it_was(harness: Caller, viewer: Caller) -> None:
    made = new_draft(harness, "a", title="First")
    revised(harness, made, task("a"), task("b"), title="Second")
    name = made["workflow_id"]
    now = plan_of_workflow(caller=viewer, workflow_id=name)
    assert ([step.id for step in now.plan.steps], now.title) == (["a", "b"], "Second")
    first = plan_of_workflow(caller=viewer, workflow_id=name, revision=1)
    assert ([step.id for step in first.plan.steps], first.title) == (["a"], "First")
    assert first.key != now.key
    assert plan_of_workflow(caller=viewer, workflow_id=name, revision=2).key == now.key
    with pytest.raises(NotFound, match="no approved version 1"):
        plan_of_workflow(caller=viewer, workflow_id=name, version=1)
    with pytest.raises(NotFound, match="no revision 3"):
        plan_of_workflow(caller=viewer, workflow_id=name, revision=3)


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
    assert plans_of_amendment(caller=viewer, amendment_id=proposed)[:2] == (before, after)


def test_the_head_is_the_one_that_a_pending_amendment_meets_now(reviewer: Caller) -> None:
    run = new_run(reviewer)
    proposed = propose(reviewer, insert_after("a", task("n")))["amendment_id"]
    _, _, head = plans_of_amendment(caller=reviewer, amendment_id=proposed)
    assert head.key == plan_of_workflow(caller=reviewer, workflow_id=run["workflow_id"]).key


def test_what_is_not_there_has_no_plan(viewer: Caller) -> None:
    with pytest.raises(NotFound, match="no run 'r9'"):
        plan_of_run(caller=viewer, run_id="r9")
    with pytest.raises(NotFound, match="no amendment 'x'"):
        plans_of_amendment(caller=viewer, amendment_id="x")
    with pytest.raises(NotFound, match="no workflow 'x'"):
        plan_of_workflow(caller=viewer, workflow_id="x")
