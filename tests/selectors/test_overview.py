"""Plans and their runs as one list."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from amendments.selectors.overview import STATES, list_overview, list_project_states
from amendments.services.cancel_run import cancel_run
from amendments.services.reject_amendment import reject_amendment
from chief_project.shared.caller import Caller
from chief_project.shared.errors import Forbidden
from chief_project.shared.paging import Page, Paging
from runs.services.acknowledge_run import acknowledge_run
from runs.services.register_run import register_run
from runs.services.resolve_checkpoint import resolve_checkpoint
from tests.amendments import propose, remove
from tests.plans import checkpoint, task
from tests.run_rows import THEN, run_row
from tests.runs import new_run, report
from tests.selectors.test_waiting import ask
from tests.workflows import new_approved, new_draft
from workflows.models import Workflow
from workflows.selectors import UNLABELLED
from workflows.services.add_review_note import add_review_note
from workflows.services.archive_workflow import archive_workflow
from workflows.services.send_back_workflow import send_back_workflow


def overview(caller: Caller, limit: int = 100, cursor: str | None = None, **keys: Any) -> Page:
    return list_overview(caller=caller, paging=Paging(limit=limit, cursor=cursor), **keys)


def ids(caller: Caller, **keys: Any) -> list[str]:
    return [row["workflow_id"] for row in overview(caller, **keys).rows]


def only(caller: Caller, **keys: Any) -> dict[str, Any]:
    (row,) = overview(caller, **keys).rows
    return row  # type: ignore[no-any-return]


def every_state(relay: Caller, reviewer: Caller) -> None:
    """One workflow in each state, named like it."""
    new_draft(relay, task("a"), workflow_id="draft")
    new_draft(relay, task("a"), workflow_id="sent_back")
    send_back_workflow(caller=reviewer, workflow_id="sent_back")
    new_approved(relay, task("a"), workflow_id="approved")
    new_approved(relay, task("a"), workflow_id="archived")
    archive_workflow(caller=reviewer, workflow_id="archived")
    for state in ("waiting", "running", "failed", "completed", "cancelled"):
        new_run(relay, task("a"), checkpoint("gate"), workflow_id=state, run_id=state)
    report(relay, "gate", "running", run_id="waiting")
    report(relay, "a", "failed", run_id="failed")
    report(relay, "a", "completed", run_id="completed")
    report(relay, "gate", "running", run_id="completed")
    decision = {"decision": "approved"}
    resolve_checkpoint(caller=reviewer, run_id="completed", path=("gate",), resolution=decision)
    cancel_run(caller=reviewer, run_id="cancelled")


def test_every_state_is_told_counted_and_kept(relay: Caller, reviewer: Caller, viewer: Caller) -> None:
    every_state(relay, reviewer)
    page = overview(viewer)
    assert {row["workflow_id"]: row["state"] for row in page.rows} == {state: state for state in STATES}
    assert page.extra["states"] == dict.fromkeys(STATES, 1)
    for state in STATES:
        kept = overview(viewer, state=state)
        assert [row["workflow_id"] for row in kept.rows] == [state]
        assert kept.extra["states"] == dict.fromkeys(STATES, 1)
        assert kept.total == 1


def test_who_waits_and_since_when(relay: Caller, reviewer: Caller) -> None:
    every_state(relay, reviewer)
    add_review_note(caller=reviewer, workflow_id="sent_back", body="Why?")
    waits = {row["workflow_id"]: row["waits"] for row in overview(reviewer).rows}
    told = {
        key: each and (each["for"], each["kind"], each["count"], each["who"]) for key, each in waits.items()
    }
    assert told == {
        "draft": ("person", "draft", 1, None),
        "sent_back": ("harness", "revise", 1, "relayer"),
        "waiting": ("person", "checkpoint", 1, None),
        "running": None,
        "failed": ("person", "failed_run", 1, None),
        "approved": ("harness", "start", 0, None),
        "completed": None,
        "cancelled": None,
        "archived": None,
    }
    assert all(each["since"] is not None for each in waits.values() if each)


def test_the_oldest_that_waits_is_named_with_how_many_there_are_of_its_kind(
    relay: Caller, viewer: Caller
) -> None:
    new_run(relay, task("a"), task("b"), task("c"), checkpoint("gate"))
    for step_id in ("a", "b"):
        report(relay, step_id, "running")
        ask(relay, step_id, "Which?")
    report(relay, "gate", "running")
    propose(relay, remove("c"))
    row = only(viewer)
    assert (row["state"], row["waits"]["kind"], row["waits"]["count"]) == ("waiting", "question", 2)
    assert row["waits"]["others"] == 2, "the checkpoint and the amendment"
    assert row["runs"][0]["status"] == "paused_for_approval"


def test_the_run_that_presses_most_speaks_for_its_plan(
    relay: Caller, reviewer: Caller, viewer: Caller
) -> None:
    new_run(relay, task("a"), checkpoint("gate"), workflow_id="w1", run_id="old")
    report(relay, "a", "running", run_id="old")
    for number in range(5):
        register_run(caller=relay, workflow_id="w1", run_id=f"r{number}")
        cancel_run(caller=reviewer, run_id=f"r{number}")
    row = only(viewer)
    assert row["state"] == "running"
    assert [run["run_id"] for run in row["runs"]] == ["old", "r4", "r3", "r2"]
    assert row["all_runs"] == 6
    assert row["runs"][0]["counts"] == {
        "pending": 1,
        "running": 1,
        "blocked": 0,
        "completed": 0,
        "failed": 0,
        "skipped": 0,
    }
    report(relay, "a", "failed", run_id="old")
    assert only(viewer)["state"] == "failed"
    register_run(caller=relay, workflow_id="w1", run_id="r9")
    assert only(viewer)["state"] == "failed"
    acknowledge_run(caller=reviewer, run_id="old")
    assert only(viewer)["state"] == "running"
    assert only(viewer)["waits"] is None
    cancel_run(caller=reviewer, run_id="r9")
    assert only(viewer)["state"] == "cancelled"


def test_an_archived_plan_whose_run_goes_on_is_told_by_its_run(relay: Caller, reviewer: Caller) -> None:
    new_run(relay, task("a"), workflow_id="w1")
    archive_workflow(caller=reviewer, workflow_id="w1")
    assert only(reviewer)["state"] == "running"
    report(relay, "a", "completed")
    assert only(reviewer)["state"] == "archived"


def test_what_changed_last_says_what_and_who(relay: Caller, reviewer: Caller) -> None:
    new_run(relay, task("a"), task("b"), workflow_id="w1")
    report(relay, "a", "running")
    assert {name: only(reviewer)["changed"][name] for name in ("event", "by")} == {
        "event": "step.updated",
        "by": "relayer",
    }
    made = propose(relay, remove("b"))
    reject_amendment(caller=reviewer, amendment_id=made["amendment_id"])
    changed = only(reviewer)["changed"]
    assert (changed["event"], changed["actor"], changed["by"]) == ("amendment.rejected", "rita", "rita")


def test_labels_and_texts_keep_what_they_name(relay: Caller, viewer: Caller) -> None:
    new_draft(relay, task("a"), workflow_id="w1", title="Tides of the harbour", project="sea")
    new_draft(relay, task("a"), workflow_id="w2", title="Trains", project="land")
    new_draft(relay, task("a"), workflow_id="w3", title="Harvest", project=None)
    new_run(relay, task("a"), workflow_id="w4", run_id="nightly-7", title="Nothing", project="land")
    assert ids(viewer, project="land", sort="title") == ["w4", "w2"]
    assert ids(viewer, project=UNLABELLED) == ["w3"]
    assert sorted(ids(viewer, q="har")) == ["w1", "w3"]
    assert ids(viewer, q="nightly") == ["w4"]
    page = overview(viewer, project="land", q="tra", state="running")
    assert (page.rows, page.extra["states"]) == ([], {"draft": 1})
    assert page.extra["projects"] == [("land", 2), ("sea", 1), (None, 1)]


def test_projects_count_their_states_and_unfiled_comes_last(relay: Caller, viewer: Caller) -> None:
    new_draft(relay, task("a"), project=None)
    new_draft(relay, task("a"), project="sea")
    new_draft(relay, task("a"), project="sea")
    new_run(relay, task("a"), project="land")
    with CaptureQueriesContext(connection) as asked:
        rows = list_project_states(caller=viewer)
    assert len(asked) == 1
    assert [(row["project"], row["workflows"], row["states"]) for row in rows] == [
        ("land", 1, {"running": 1}),
        ("sea", 2, {"draft": 2}),
        (None, 1, {"draft": 1}),
    ]
    assert all(row["changed_at"] is not None for row in rows)


def test_it_can_be_sorted_by_change_title_and_wait(relay: Caller, reviewer: Caller) -> None:
    new_run(relay, task("a"), checkpoint("gate"), workflow_id="w1", title="beta")
    new_draft(relay, task("a"), workflow_id="w2", title="Alpha")
    new_draft(relay, task("a"), workflow_id="w3", title="gamma")
    new_approved(relay, task("a"), workflow_id="w4", title="Delta")
    start = Workflow.objects.get(workflow_id="w4").updated_at
    for number, name in enumerate(("w3", "w2", "w4")):
        Workflow.objects.filter(workflow_id=name).update(
            review_at=start - timedelta(days=9 - number), updated_at=start - timedelta(days=number + 1)
        )
    report(relay, "gate", "running")
    assert ids(reviewer) == ["w1", "w3", "w2", "w4"]
    assert ids(reviewer, sort="title") == ["w2", "w1", "w4", "w3"]
    assert ids(reviewer, sort="waiting") == ["w3", "w2", "w1", "w4"]


@pytest.mark.django_db
@pytest.mark.parametrize("sort", ["changed", "title", "waiting"])
def test_pages_meet_without_a_gap_or_a_repeat(viewer: Caller, sort: str) -> None:
    for number in range(7):
        run_row(task("a"), run_id=f"r{number}", workflow_id=f"w{number}", status="failed", failed_at=THEN)
    whole = ids(viewer, sort=sort)
    assert len(whole) == 7
    met: list[str] = []
    cursor = None
    while True:
        page = overview(viewer, limit=3, cursor=cursor, sort=sort)
        met += [row["workflow_id"] for row in page.rows]
        assert page.total == 7
        cursor = page.next_cursor
        if cursor is None:
            break
    assert met == whole


@pytest.mark.django_db
def test_it_takes_as_many_statements_however_many_rows(viewer: Caller, relay: Caller) -> None:
    counts = []
    for count in (3, 60):
        for number in range(count):
            run_row(
                checkpoint("gate"),
                run_id=f"r{count}-{number}",
                workflow_id=f"w{count}-{number}",
                status="waiting_on_human",
            )
        new_draft(relay, task("a"))
        with CaptureQueriesContext(connection) as asked:
            overview(viewer, sort="waiting")
        counts.append(len(asked))
    assert counts[0] == counts[1] <= 18


def test_a_harness_reads_no_audit_and_so_not_what_changed(harness: Caller) -> None:
    with pytest.raises(Forbidden):
        overview(harness)
