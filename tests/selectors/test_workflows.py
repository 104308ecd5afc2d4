"""Reads of workflows: what they tell, and in how many statements."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from chief_project.shared.caller import Caller
from chief_project.shared.errors import NotFound, ValidationFailed
from chief_project.shared.paging import Page, Paging
from tests.amendments import amend, insert_after
from tests.plans import checkpoint, parallel, task
from tests.runs import new_run
from tests.workflows import new_approved, new_draft, revised
from workflows import selectors
from workflows.mappers import plan_cache
from workflows.services.add_review_note import add_review_note
from workflows.services.approve_workflow import approve_workflow
from workflows.services.label_workflow import label_workflow
from workflows.services.reopen_workflow import reopen_workflow
from workflows.services.resolve_review_note import resolve_review_note
from workflows.services.send_back_workflow import send_back_workflow

pytestmark = pytest.mark.django_db

EVERYTHING = [
    task("a", criteria=["it holds"], group="g"),
    parallel("p", ["b"], depends_on=["a"], instance_params=[{"name": "who"}]),
    task("b"),
    checkpoint("c", depends_on=["p"], fields=[{"name": "why"}]),
]


def listed(caller: Caller, limit: int = 100, **keys: Any) -> list[str]:
    page = selectors.list_workflows(caller=caller, paging=Paging(limit=limit), **keys)
    return [each["workflow_id"] for each in page.rows]


@pytest.mark.parametrize("count", [2, 30])
def test_a_list_takes_seven_statements_and_one_once_its_plans_are_known(harness: Caller, count: int) -> None:
    for _ in range(count):
        new_draft(harness, *EVERYTHING, groups=[{"path": "g"}])
    plan_cache.clear()
    for statements in (7, 1):
        with CaptureQueriesContext(
            connection,
        ) as asked:
            page = selectors.list_workflows(caller=harness, paging=Paging())
        assert len(asked) == statements
        assert (len(page.rows), page.total) == (count, count)
        assert [step["id"] for step in page.rows[-1]["steps"]] == ["a", "p", "b", "c"]


def test_one_workflow_takes_eight_statements_and_two_once_its_plan_is_known(
    harness: Caller, reviewer: Caller
) -> None:
    made = new_draft(harness, *EVERYTHING, groups=[{"path": "g"}])
    for _ in range(5):
        add_review_note(caller=reviewer, workflow_id=made["workflow_id"], body="x", step_id="a")
    plan_cache.clear()
    for statements in (8, 2):
        with CaptureQueriesContext(connection) as asked:
            found = selectors.get_workflow(caller=harness, workflow_id=made["workflow_id"])
        assert len(asked) == statements
        assert len(found["review_notes"]) == 5


def test_an_etag_takes_one_statement(harness: Caller, django_assert_num_queries: Any) -> None:
    made = new_draft(harness)
    with django_assert_num_queries(1):
        assert selectors.workflow_etag(caller=harness, workflow_id=made["workflow_id"]) == 1


def test_workflows_are_listed_by_last_change(harness: Caller, reviewer: Caller) -> None:
    for name in ("w1", "w2", "w3"):
        new_draft(harness, workflow_id=name)
    add_review_note(caller=reviewer, workflow_id="w1", body="x")
    assert listed(harness) == ["w1", "w3", "w2"]
    assert listed(harness, limit=2) == ["w1", "w3"]
    page = selectors.list_workflows(caller=harness, paging=Paging(limit=2))
    assert "review_notes" not in page.rows[0]
    following = selectors.list_workflows(caller=harness, paging=Paging(limit=2, cursor=page.next_cursor))
    assert [each["workflow_id"] for each in following.rows] == ["w2"]
    assert following.next_cursor is None


def test_workflows_are_narrowed_by_status_label_and_words(harness: Caller, reviewer: Caller) -> None:
    new_draft(harness, task("draw-x1", goal="Draw the map"), workflow_id="w1", title="Atlas", project="P")
    new_draft(harness, task("a", goal="Print it"), workflow_id="w2", title="Book", project="Q")
    new_approved(reviewer, task("a", goal="Sell it"), workflow_id="w3", title="Shop")
    assert listed(harness, status="draft") == ["w2", "w1"]
    assert listed(harness, status="archived") == []
    assert listed(harness, project="P") == ["w1"]
    assert listed(harness, project="") == ["w3"]
    assert listed(harness, project="p") == []
    for q, found in [
        ("atl", ["w1"]),
        ("map dr", ["w1"]),
        ("x1", ["w1"]),
        ("w3", ["w3"]),
        ("it", ["w3", "w2"]),
    ]:
        assert listed(harness, q=q) == found
    assert listed(harness, q="it", status="draft", project="Q") == ["w2"]


def test_projects_are_counted_with_the_unlabelled_last(harness: Caller, reviewer: Caller) -> None:
    for number, label in enumerate(["b", "a", None, "b", "Z", None]):
        new_draft(harness, workflow_id=f"w{number}", **({} if label is None else {"project": label}))
    counted = [
        {"project": "Z", "workflows": 1},
        {"project": "a", "workflows": 1},
        {"project": "b", "workflows": 2},
        {"project": None, "workflows": 2},
    ]

    def read(**keys: Any) -> Page:
        return selectors.list_projects(caller=harness, paging=Paging(**keys))

    found = read().rows
    assert sorted(found[:3], key=lambda each: each["project"]) == counted[:3]
    assert found[3] == counted[3]
    pages = [read(limit=3)]
    pages.append(read(limit=3, cursor=pages[0].next_cursor))
    assert (pages[0].rows + pages[1].rows, pages[1].next_cursor, pages[0].total) == (found, None, 4)
    label_workflow(caller=reviewer, workflow_id="w4", changes={"project": None})
    assert read().rows[-1] == {"project": None, "workflows": 3}


def test_drafts_wait_for_a_person_the_longest_first(
    harness: Caller, reviewer: Caller, django_assert_num_queries: Any
) -> None:
    for name in ("w1", "w2", "w3", "w4"):
        new_draft(harness, *EVERYTHING, workflow_id=name, generated_by="me", project="P")
    first = revised(harness, {"workflow_id": "w1"}, task("a"), reason="smaller")
    send_back_workflow(caller=reviewer, workflow_id="w3")
    approve_workflow(caller=reviewer, workflow_id="w4")
    note = add_review_note(caller=reviewer, workflow_id="w1", body="x")
    add_review_note(caller=reviewer, workflow_id="w1", body="y")
    resolve_review_note(caller=reviewer, workflow_id="w1", note_id=note["note_id"])
    with django_assert_num_queries(1):
        waiting = selectors.drafts_waiting(caller=reviewer)
    assert [each["workflow_id"] for each in waiting] == ["w2", "w1"]
    assert waiting[1] == {
        "workflow_id": "w1",
        "title": "A plan",
        "project": "P",
        "source": "generated",
        "generated_by": "me",
        "version": 1,
        "revision": 2,
        "reason": "smaller",
        "submitted_by": "planner",
        "since": first["review"]["at"],
        "steps": 1,
        "open_notes": 1,
    }


def test_versions_and_revisions_are_listed_from_the_first(harness: Caller, reviewer: Caller) -> None:
    made = new_draft(harness, "a")
    name = made["workflow_id"]
    revised(harness, made, task("b"), reason="better")
    approve_workflow(caller=reviewer, workflow_id=name, reason="good")
    reopen_workflow(caller=reviewer, workflow_id=name)
    revised(harness, made, task("c"))
    approve_workflow(caller=reviewer, workflow_id=name)

    def told(read: Any) -> list[tuple[Any, ...]]:
        rows = read(caller=harness, workflow_id=name, paging=Paging()).rows
        return [(each["n"], each["by"], each["via"], each["reason"]) for each in rows]

    assert told(selectors.list_revisions) == [
        (1, "planner", "rest", None),
        (2, "planner", "rest", "better"),
        (3, "planner", "rest", None),
    ]
    assert told(selectors.list_versions) == [(1, "rita", "rest", "good"), (2, "rita", "rest", None)]
    revision = selectors.get_revision(caller=harness, workflow_id=name, number=1)
    assert [step["id"] for step in revision["steps"]] == ["a"]
    version = selectors.get_version(caller=harness, workflow_id=name, number=1)
    assert ([step["id"] for step in version["steps"]], version["title"]) == (["b"], "A plan")
    with pytest.raises(NotFound, match="no approved version 3"):
        selectors.get_version(caller=harness, workflow_id=name, number=3)
    with pytest.raises(NotFound, match="no workflow"):
        selectors.list_versions(caller=harness, workflow_id="nowhere", paging=Paging())


def compared(
    caller: Caller, workflow_id: str, before: str | None = None, after: str | None = None
) -> list[Any]:
    found = selectors.get_diff(caller=caller, workflow_id=workflow_id, before=before, after=after)
    return [found["from"], found["to"], [each["id"] for each in found["added"]]]


def test_the_last_two_are_compared_unless_others_are_named(reviewer: Caller) -> None:
    made = new_draft(reviewer, "a")
    name = made["workflow_id"]
    assert compared(reviewer, name) == ["r1", "r1", []]
    revised(reviewer, made, task("a"), task("b"))
    revised(reviewer, made, task("a"), task("b"), task("c"))
    assert compared(reviewer, name) == ["r2", "r3", ["c"]]
    assert compared(reviewer, name, "r1") == ["r1", "r3", ["b", "c"]]
    assert compared(reviewer, name, None, "r2") == ["r1", "r2", ["b"]]
    assert compared(reviewer, name, "r3", "r1") == ["r3", "r1", []]
    approve_workflow(caller=reviewer, workflow_id=name)
    assert compared(reviewer, name) == ["r2", "r3", ["c"]]
    assert compared(reviewer, name, "r1", "v1") == ["r1", "v1", ["b", "c"]]


def test_what_amendments_made_is_compared_by_version(reviewer: Caller) -> None:
    run = new_run(reviewer, "a", run_id="r1")
    amend(reviewer, insert_after("a", task("b")), run_id="r1")
    assert compared(reviewer, run["workflow_id"]) == ["v1", "v2", ["b"]]
    amend(reviewer, insert_after("b", task("c")), run_id="r1")
    assert compared(reviewer, run["workflow_id"], "r1", "v3") == ["r1", "v3", ["b", "c"]]
    assert compared(reviewer, run["workflow_id"]) == ["v2", "v3", ["c"]]


@pytest.mark.parametrize("name", ["", "2", "x1", "r0", "v01", "r1 ", "R1", "r9999999999", "r１"])
def test_a_plan_is_named_in_one_way(reviewer: Caller, name: str) -> None:
    made = new_draft(reviewer)
    with pytest.raises(ValidationFailed, match="names no plan") as refused:
        compared(reviewer, made["workflow_id"], None, name)
    assert refused.value.details == {"parameter": "to"}


def test_notes_are_listed_oldest_first(harness: Caller, reviewer: Caller) -> None:
    made = new_draft(harness, "a")
    name = made["workflow_id"]
    notes = [add_review_note(caller=reviewer, workflow_id=name, body=str(n))["note_id"] for n in range(3)]
    resolve_review_note(caller=reviewer, workflow_id=name, note_id=notes[1])

    def read(resolved: bool | None) -> list[str]:
        page = selectors.list_review_notes(
            caller=harness, workflow_id=name, paging=Paging(), resolved=resolved
        )
        return [each["note_id"] for each in page.rows]

    assert read(None) == notes
    assert read(True) == [notes[1]]
    assert read(False) == [notes[0], notes[2]]
