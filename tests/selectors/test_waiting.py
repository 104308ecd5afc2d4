"""What waits for a person (contract 2, ``GET /waiting``)."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from amendments.domain.operations import Operation
from amendments.selectors.waiting import count_waiting_by_project, list_waiting, waiting_rows
from amendments.services.cancel_run import cancel_run
from amendments.services.propose_amendment import propose_amendment
from chief_project.shared.caller import Caller
from chief_project.shared.errors import ValidationFailed
from chief_project.shared.paging import Paging
from runs.models import StepState
from runs.services.acknowledge_run import acknowledge_run
from runs.services.answer_question import answer_question
from runs.services.ask_question import ask_question
from runs.services.resolve_checkpoint import resolve_checkpoint
from tests.amendments import propose, remove
from tests.plans import checkpoint, loop, parallel, task
from tests.run_rows import THEN, instance_rows, run_row, state_row
from tests.runs import add_instance, new_run, report
from tests.workflows import new_draft
from workflows.selectors import UNLABELLED
from workflows.services.archive_workflow import archive_workflow


def waiting(caller: Caller, **paging: Any) -> list[dict[str, Any]]:
    return list_waiting(caller=caller, paging=Paging(**paging)).rows


def ask(caller: Caller, path: str, text: str, *, run_id: str = "r1") -> str:
    minimal = ask_question(
        caller=caller, run_id=run_id, path=tuple(path.split("/")), question={"text": text, "fields": []}
    ).minimal
    question_id: str = minimal["state"]["questions"][-1]["question_id"]
    return question_id


def test_a_draft_waits_until_it_is_decided(relay: Caller) -> None:
    made = new_draft(relay, task("a"), title="Tides", project="harbour")
    (item,) = waiting(relay)
    assert item["kind"] == "draft"
    assert (item["workflow_id"], item["title"], item["project"]) == (made["workflow_id"], "Tides", "harbour")
    assert (item["revision"], item["steps"], item["open_notes"]) == (1, 1, 0)
    archive_workflow(caller=relay, workflow_id=made["workflow_id"])
    assert waiting(relay) == []


def test_a_checkpoint_waits_with_its_goal_fields_and_parameters(relay: Caller) -> None:
    new_run(
        relay,
        loop("l", ["inner"], instance_params=[{"name": "chapter"}]),
        parallel("inner", ["gate"]),
        checkpoint("gate", fields=[{"name": "why"}], goal="Is it good?"),
        title="Tides",
    )
    add_instance(relay, "l", metadata={"chapter": "one", "other": 1})
    add_instance(relay, "l/inst_00/inner", metadata={"side": "left"})
    path = "l/inst_00/inner/inst_00/gate"
    assert waiting(relay) == []
    report(relay, path, "running")
    (item,) = waiting(relay)
    assert item["kind"] == "checkpoint"
    assert item["path"] == path
    assert item["goal"] == "Is it good?"
    assert item["parameters"] == {"chapter": "one", "side": "left"}
    assert [asked["name"] for asked in item["fields"]] == ["why"]
    assert (item["run_id"], item["title"]) == ("r1", "Tides")
    assert item["since"] is not None
    resolve_checkpoint(
        caller=relay,
        run_id="r1",
        path=tuple(path.split("/")),
        resolution={"decision": "approved", "response": {"why": "It is."}},
    )
    assert waiting(relay) == []


def test_a_question_waits_with_its_text_until_it_is_answered(relay: Caller) -> None:
    new_run(relay, task("a"))
    report(relay, "a", "running")
    question_id = ask(relay, "a", "Which?")
    (item,) = waiting(relay)
    assert (item["kind"], item["path"], item["goal"], item["text"]) == ("question", "a", "Do a", "Which?")
    assert item["question_id"] == question_id
    answer_question(
        caller=relay,
        run_id="r1",
        path=("a",),
        answer={"question_id": question_id, "response": {"text": "This."}},
    )
    assert waiting(relay) == []


def test_a_pending_amendment_waits_with_what_it_would_do(relay: Caller) -> None:
    new_run(relay, task("a"), task("b"))
    propose_amendment(
        caller=relay,
        run_id="r1",
        proposed_by="planner",
        kind="forward",
        reason="It is not needed.",
        operations=[Operation(op="remove_step", target="b")],
    )
    (item,) = waiting(relay)
    assert (item["kind"], item["amendment_kind"], item["reason"]) == (
        "amendment",
        "forward",
        "It is not needed.",
    )
    assert item["operations"] == [{"op": "remove_step", "target_step_id": "b", "instance": None}]
    assert item["proposed_by"] == "planner"
    assert item["actor"] == relay.actor


def test_a_failed_run_waits_until_a_person_has_seen_it(relay: Caller, reviewer: Caller) -> None:
    new_run(relay, task("a"), task("b"))
    report(relay, "a", "failed", summary="No network.")
    (item,) = waiting(relay)
    assert item["kind"] == "failed_run"
    assert item["failed_steps"] == [{"path": "a", "goal": "Do a", "summary": "No network."}]
    acknowledge_run(caller=reviewer, run_id="r1")
    assert waiting(relay) == []
    report(relay, "b", "failed")
    assert [item["kind"] for item in waiting(relay)] == ["failed_run"]


def test_a_cancelled_run_asks_for_nothing(relay: Caller) -> None:
    new_run(relay, checkpoint("gate"), task("a"), task("b"))
    report(relay, "gate", "running")
    report(relay, "a", "running")
    ask(relay, "a", "Which?")
    report(relay, "b", "failed")
    assert {item["kind"] for item in waiting(relay)} == {"checkpoint", "question", "failed_run"}
    cancel_run(caller=relay, run_id="r1")
    assert waiting(relay) == []


def test_the_longest_waiting_comes_first_whatever_its_kind(relay: Caller) -> None:
    new_run(relay, checkpoint("gate"), task("a"), task("b"))
    report(relay, "a", "running")
    ask(relay, "a", "Which?")
    report(relay, "gate", "running")
    new_draft(relay, task("x"))
    report(relay, "b", "failed")
    items = waiting(relay)
    assert [item["since"] for item in items] == sorted(item["since"] for item in items)
    assert {item["kind"] for item in items} == {"draft", "checkpoint", "question", "failed_run"}


@pytest.mark.django_db
def test_pages_meet_without_a_gap_or_a_repeat_also_among_equal_moments(relay: Caller) -> None:
    run = run_row(parallel("p", ["gate"]), checkpoint("gate"), status="waiting_on_human", blocked_on_person=7)
    construct = state_row(run, "p")
    instance_rows(run, construct, 7)
    StepState.objects.filter(run=run, step_id="gate").update(status="blocked", started_at=THEN)
    for number in range(3):
        run_row(
            task("a"),
            run_id=f"f{number}",
            workflow_id=f"w{number}",
            status="failed",
            failed_at=THEN - timedelta(days=number),
        )
    for number in range(3):
        new_draft(relay, task("a"), workflow_id=f"d{number}")
    whole = waiting(relay)
    assert len(whole) == 13
    for limit in (1, 2, 5):
        cursor, pages = None, []
        while True:
            page = list_waiting(caller=relay, paging=Paging(limit=limit, cursor=cursor))
            pages += page.rows
            assert page.total == 13
            cursor = page.next_cursor
            if cursor is None:
                break
        assert pages == whole
    with pytest.raises(ValidationFailed, match="cursor"):
        waiting(relay, cursor="nonsense")


@pytest.mark.django_db
def test_it_takes_as_many_statements_however_much_waits(viewer: Caller) -> None:
    counts = []
    for branches in (2, 60):
        run = run_row(
            parallel("p", ["gate"]),
            checkpoint("gate"),
            run_id=f"r{branches}",
            status="waiting_on_human",
            blocked_on_person=branches,
        )
        instance_rows(run, state_row(run, "p"), branches)
        StepState.objects.filter(run=run, step_id="gate").update(status="blocked", started_at=THEN)
        waiting(viewer)
        with CaptureQueriesContext(connection) as caught:
            assert len(waiting(viewer)) == (2 if branches == 2 else 62)
        counts.append(len(caught))
    assert counts[0] == counts[1] <= 12


def test_the_counts_by_label_are_those_of_the_list(relay: Caller, reviewer: Caller) -> None:
    """Two drafts, and in ``harbour`` a run with a checkpoint, a question and a failure; beside it what doesn't count."""
    new_draft(relay, task("a"), project="harbour")
    new_draft(relay, task("a"), project=None)
    new_run(relay, checkpoint("gate"), task("a"), task("b"), project="harbour")
    report(relay, "gate", "running")
    report(relay, "a", "running")
    ask(relay, "a", "Which?")
    report(relay, "b", "failed")
    new_run(relay, task("a"), task("b"), run_id="r2", project="quay")
    propose(relay, remove("b"), run_id="r2")
    new_run(relay, task("a"), checkpoint("gate"), run_id="r3", project="quay")
    report(relay, "gate", "running", run_id="r3")
    cancel_run(caller=relay, run_id="r3")
    new_run(relay, task("a"), run_id="r4", project="quay")
    report(relay, "a", "failed", run_id="r4")
    acknowledge_run(caller=reviewer, run_id="r4")
    with CaptureQueriesContext(connection) as asked:
        counts = count_waiting_by_project(caller=relay)
    assert len(asked) == 3
    assert counts == {"harbour": 4, "quay": 1, None: 1}
    assert sum(counts.values()) == len(waiting(relay))
    for project, label in (("harbour", "harbour"), ("quay", "quay"), (None, UNLABELLED), ("none", "none")):
        page = waiting_rows(caller=relay, paging=Paging(), project=label)
        assert page.total == len(page.rows) == counts.get(project, 0)
        assert all(row.document["project"] == project for row in page.rows)
