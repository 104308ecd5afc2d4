"""What a reviewer reads of a workflow: what changed since they looked, with what they had said beside it."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from chief_project.shared.caller import Caller
from chief_project.shared.errors import NotFound, ValidationFailed
from runs.services.register_run import register_run
from tests.amendments import amend, insert_after
from tests.plans import task
from tests.runs import new_run
from tests.workflows import new_draft, revised
from workflows.mappers import plan_cache
from workflows.selectors.review import get_changes, get_review
from workflows.services.add_review_note import add_review_note
from workflows.services.approve_workflow import approve_workflow
from workflows.services.archive_workflow import archive_workflow
from workflows.services.mark_seen import mark_seen
from workflows.services.reopen_workflow import reopen_workflow
from workflows.services.resolve_review_note import resolve_review_note

pytestmark = pytest.mark.django_db


def note(caller: Caller, body: str, step_id: str | None = None) -> dict[str, Any]:
    return add_review_note(caller=caller, workflow_id="w", body=body, step_id=step_id)


def test_nothing_is_new_to_somebody_who_never_looked(harness: Caller, reviewer: Caller) -> None:
    new_draft(harness, workflow_id="w")
    found = get_review(caller=reviewer, workflow_id="w")
    assert (found.seen, found.since, found.approved, found.decided) == (None, None, None, None)
    assert (found.head["status"], found.newest["n"], found.newest["by"]) == ("draft", 1, "planner")
    assert [step.id for step in found.kept.plan.steps] == ["a", "b"]
    assert "steps" not in found.head


def test_what_changed_is_told_since_this_person_looked(
    harness: Caller, reviewer: Caller, viewer: Caller
) -> None:
    made = new_draft(harness, workflow_id="w")
    mark_seen(caller=reviewer, workflow_id="w", revision=1)
    revised(harness, made, task("a", goal="Do a well"), task("b", depends_on=["a"]), task("c"))
    found = get_review(caller=reviewer, workflow_id="w")
    assert found.since is not None
    assert found.since["from"] == "r1"
    assert found.since["counts"] == {"steps_added": 1, "goals": 1}
    assert found.since["places"] == 2
    assert found.seen is not None
    assert found.seen["revision"] == 1
    assert get_review(caller=viewer, workflow_id="w").since is None
    mark_seen(caller=reviewer, workflow_id="w", revision=2)
    assert get_review(caller=reviewer, workflow_id="w").since is None


def test_notes_come_with_whether_they_are_open_and_their_step_is_there(
    harness: Caller, reviewer: Caller
) -> None:
    made = new_draft(harness, workflow_id="w")
    first = note(reviewer, "Why?", "b")
    note(reviewer, "Who?")
    resolve_review_note(caller=reviewer, workflow_id="w", note_id=first["note_id"])
    revised(harness, made, task("a"))
    found = get_review(caller=reviewer, workflow_id="w")
    assert [(each["body"], each["orphaned"]) for each in found.notes] == [("Why?", True), ("Who?", False)]
    assert [each["body"] for each in found.open_notes] == ["Who?"]


def test_the_plan_that_stands_has_a_name(harness: Caller, reviewer: Caller) -> None:
    def stands() -> str:
        return get_review(caller=reviewer, workflow_id="w").stands

    made = new_draft(harness, workflow_id="w")
    revised(harness, made, task("a"))
    assert stands() == "r2"
    approve_workflow(caller=reviewer, workflow_id="w")
    assert stands() == "v1"
    reopen_workflow(caller=reviewer, workflow_id="w")
    assert stands() == "r2", "version 2 isn't approved yet"
    approve_workflow(caller=reviewer, workflow_id="w")
    archive_workflow(caller=reviewer, workflow_id="w")
    assert stands() == "v2"


def test_who_decided_is_told(harness: Caller, reviewer: Caller) -> None:
    new_draft(harness, workflow_id="w")
    approve_workflow(caller=reviewer, workflow_id="w", reason="Small steps.")
    found = get_review(caller=reviewer, workflow_id="w")
    assert found.approved is not None
    assert (found.approved["n"], found.approved["by"], found.approved["reason"]) == (
        1,
        "rita",
        "Small steps.",
    )
    archive_workflow(caller=reviewer, workflow_id="w")
    found = get_review(caller=reviewer, workflow_id="w")
    assert found.decided is not None
    assert found.decided["by"] == "rita"


def test_runs_and_versions_are_counted(reviewer: Caller) -> None:
    run = new_run(reviewer)
    register_run(caller=reviewer, workflow_id=run["workflow_id"], run_id="r2")
    amend(reviewer, insert_after("a", task("n")))
    found = get_review(caller=reviewer, workflow_id=run["workflow_id"])
    assert (found.runs, found.versions, found.head["version"]) == (2, 2, 2)
    assert found.approved is not None
    assert found.approved["n"] == 2


@pytest.mark.parametrize("count", [1, 20])
def test_a_review_takes_the_same_statements_however_much_there_is(
    harness: Caller, reviewer: Caller, count: int
) -> None:
    made = new_draft(harness, workflow_id="w")
    note(reviewer, "first")
    for number in range(count):
        revised(harness, made, *(task(f"s{place}") for place in range(number + 1)))
    plan_cache.clear()
    for statements in (12, 6):
        with CaptureQueriesContext(connection) as asked:
            assert get_review(caller=reviewer, workflow_id="w").since is not None
        assert len(asked) == statements
    plan_cache.clear()
    for statements in (11, 5):
        with CaptureQueriesContext(connection) as asked:
            assert get_changes(caller=reviewer, workflow_id="w")["places"]
        assert len(asked) == statements


# -- Any two compared --------------------------------------------------------------------------------


def test_without_names_it_is_what_this_person_has_not_seen(
    harness: Caller, reviewer: Caller, viewer: Caller
) -> None:
    made = new_draft(harness, workflow_id="w")
    mark_seen(caller=reviewer, workflow_id="w", revision=1)
    for steps in (["a"], ["a", "x"], ["a", "x", "y"]):
        revised(harness, made, *map(task, steps))
    found = get_changes(caller=reviewer, workflow_id="w")
    assert (found["from"], found["to"]) == ("r1", "r4")
    assert get_changes(caller=viewer, workflow_id="w")["from"] == "r3"
    mark_seen(caller=reviewer, workflow_id="w", revision=4)
    assert get_changes(caller=reviewer, workflow_id="w")["from"] == "r3"
    assert [each["name"] for each in found["choices"]] == ["r4", "r3", "r2", "r1"]
    assert (found["former"]["name"], found["later"]["name"], found["later"]["by"]) == ("r1", "r4", "planner")


def test_earlier_notes_stand_beside_what_became_of_their_step(harness: Caller, reviewer: Caller) -> None:
    made = new_draft(harness, task("a"), task("b"), task("gone"), task("same"), workflow_id="w")
    note(reviewer, "On the plan")
    note(reviewer, "Say more", "a")
    note(reviewer, "Not ours", "gone")
    note(reviewer, "Not done", "same")
    done = note(reviewer, "Done elsewhere", "same")
    resolve_review_note(caller=reviewer, workflow_id="w", note_id=done["note_id"])
    revised(harness, made, task("a", goal="Do all of a"), task("b"), task("same"))
    note(reviewer, "Later", "a")
    found = get_changes(caller=reviewer, workflow_id="w", before="r1", after="r2")
    assert {step: [each["body"] for each in said] for step, said in found["beside"].items()} == {
        "a": ["Say more"],
        "gone": ["Not ours"],
    }
    assert [each["body"] for each in found["on_plan"]] == ["On the plan"]
    assert [each["body"] for each in found["untouched"]] == ["Not done"]


def test_an_order_that_changed_alone_and_the_title_fake_no_change(harness: Caller, reviewer: Caller) -> None:
    made = new_draft(harness, task("a"), task("b"), workflow_id="w", title="Old")
    revised(harness, made, task("b"), task("a"), title="New")
    found = get_changes(caller=reviewer, workflow_id="w")
    assert found["counts"] == {"titles": 1}
    assert found["diff"]["changed"] == []


def test_versions_compare_with_revisions(reviewer: Caller) -> None:
    run = new_run(reviewer)
    amend(reviewer, insert_after("a", task("n")))
    name = run["workflow_id"]
    default = get_changes(caller=reviewer, workflow_id=name)
    assert (default["from"], default["to"]) == ("v1", "v2")
    assert get_changes(caller=reviewer, workflow_id=name, before="r1", after="v1")["diff"]["same"]
    found = get_changes(caller=reviewer, workflow_id=name, before="v2", after="r1")
    assert found["counts"] == {"steps_removed": 1}


def test_a_first_revision_is_compared_with_itself(harness: Caller, reviewer: Caller) -> None:
    new_draft(harness, workflow_id="w")
    mark_seen(caller=reviewer, workflow_id="w", revision=1)
    found = get_changes(caller=reviewer, workflow_id="w")
    assert (found["from"], found["to"], found["places"]) == ("r1", "r1", 0)


def test_what_is_not_there_is_said(harness: Caller, reviewer: Caller) -> None:
    with pytest.raises(NotFound):
        get_review(caller=reviewer, workflow_id="w")
    new_draft(harness, workflow_id="w")
    with pytest.raises(NotFound, match="no revision 7"):
        get_changes(caller=reviewer, workflow_id="w", after="r7")
    with pytest.raises(NotFound, match="no approved version 1"):
        get_changes(caller=reviewer, workflow_id="w", before="v1")
    with pytest.raises(ValidationFailed, match="from"):
        get_changes(caller=reviewer, workflow_id="w", before="newest")
