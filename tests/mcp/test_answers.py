"""What tools answer: little by default, everything on demand, refusals as data (contract 10)."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Any

import pytest

from chief_project.shared.caller import Caller
from chief_project.shared.wire.rendering import dumps
from runs.selectors.runs import get_run
from tests.branches import run_with
from tests.mcp.agents import TOOLS_BY_NAME, call, done, refused
from tests.plans import checkpoint, loop, plan, task
from tests.runs import add_instance, new_run, report
from tests.workflows import new_draft
from workflows.services.add_review_note import add_review_note
from workflows.services.send_back_workflow import send_back_workflow

pytestmark = pytest.mark.django_db


def test_a_report_on_a_thousand_branches_answers_in_under_a_kilobyte(
    harness: Caller, reviewer: Caller, capsys: Any
) -> None:
    run = run_with(1000, reviewer, run_id="wide")
    done(harness, "report_step_update", run_id="wide", path=run.path(500), status="running", summary="Begun.")
    long = "A sentence of what was found. " * 100
    outcome = call(
        harness,
        "report_step_update",
        run_id="wide",
        path=run.path(500),
        status="completed",
        summary=long,
        metadata={"log": long},
        artifacts=[{"type": "text", "data": long}],
    )
    assert not outcome.refused, outcome.text
    with capsys.disabled():
        sys.stdout.write(f"\na report on 1,000 branches: {len(outcome.text.encode())} bytes\n")
    assert len(outcome.text.encode()) < 1000
    assert [item["path"] for item in outcome.content["next"]] == ["fan/inst_500/after_work"]


def test_a_write_names_no_more_than_fits(harness: Caller, reviewer: Caller) -> None:
    new_run(reviewer, task("a"), *(task(f"b{n:02d}" + "x" * 60, depends_on=["a"]) for n in range(20)))
    outcome = call(harness, "report_step_update", run_id="r1", path="a", status="completed", summary="Done.")
    assert len(outcome.text.encode()) < 1000
    shown = len(outcome.content["next"])
    assert shown >= 1
    assert outcome.content["more"] == 20 - shown


def test_full_adds_the_whole_document(harness: Caller, reviewer: Caller) -> None:
    new_run(reviewer, task("a"))
    answer = done(
        harness, "report_step_update", run_id="r1", path="a", status="running", summary="Begun.", full=True
    )
    document = answer.pop("document")
    whole = get_run(caller=harness, run_id="r1")
    assert dumps(document) == dumps(whole)
    assert answer["status"] == "running"


def test_where_nothing_new_is_ready_it_says_where_to_look(harness: Caller, reviewer: Caller) -> None:
    new_run(reviewer, task("a"), task("b"))
    answer = done(harness, "report_step_update", run_id="r1", path="a", status="completed", summary="Done.")
    assert "get_next" in answer["hint"]
    assert "next" not in answer


def test_get_next_leaves_out_what_says_nothing(harness: Caller, reviewer: Caller) -> None:
    new_run(reviewer, task("a", criteria=["It works."]))
    answer = done(harness, "get_next", run_id="r1")
    (entry,) = answer["ready"]
    assert entry["criteria"] == [{"id": "c1", "text": "It works."}]
    assert entry["places"] == [{"path": "a", "unanswered": ["c1"]}]
    assert "inputs" not in entry
    assert "blocked" not in answer
    assert answer["done"] is False
    assert "blocked" in done(harness, "get_next", run_id="r1", full=True)


def test_a_draft_brings_its_open_notes_and_says_what_to_do(harness: Caller, reviewer: Caller) -> None:
    made = new_draft(harness, task("a"))
    where = made["workflow_id"]
    add_review_note(caller=reviewer, workflow_id=where, body="Split this.", step_id="a")
    answer = done(harness, "get_workflow", workflow_id=where)
    assert [(note["step_id"], note["body"]) for note in answer["open_notes"]] == [("a", "Split this.")]
    send_back_workflow(caller=reviewer, workflow_id=where, reason="See the note.")
    answer = done(harness, "get_workflow", workflow_id=where)
    assert answer["review"]["state"] == "sent_back"
    assert "revise_draft" in answer["hint"]


def test_lists_carry_a_cursor_while_there_is_more(harness: Caller) -> None:
    for number in range(3):
        new_draft(harness, task("a"), workflow_id=f"w{number}")
    first = done(harness, "list_workflows", limit=2)
    assert (first["has_more"], len(first["items"])) == (True, 2)
    last = done(harness, "list_workflows", limit=2, cursor=first["cursor"])
    assert (last["has_more"], len(last["items"])) == (False, 1)
    assert "cursor" not in last
    assert "steps" not in first["items"][0]
    assert "steps" in done(harness, "list_workflows", full=True)["items"][0]


def test_get_run_tells_one_step_with_what_people_decided(
    harness: Caller, relay: Caller, reviewer: Caller
) -> None:
    new_run(reviewer, checkpoint("ok"), loop("l", ["x"]), task("x"))
    report(harness, "ok", "running")
    done(relay, "resolve_checkpoint", run_id="r1", path="ok", decision="rejected", note="Too early.")
    add_instance(harness, "l")
    run = done(harness, "get_run", run_id="r1")
    assert [(step["path"], step["status"]) for step in run["steps"]] == [("ok", "failed"), ("l", "running")]
    assert run["steps"][1]["instances"] == {"pending": 1}
    state = done(harness, "get_run", run_id="r1", path="ok")["state"]
    assert state["checkpoint"]["note"] == "Too early."
    assert done(harness, "get_run", run_id="r1", path="l/inst_00")["state"]["status"] == "pending"
    assert refused(harness, "get_run", run_id="r1", path="l/inst_07")["code"] == "not_found"


def test_asking_answers_the_questions_id(harness: Caller, reviewer: Caller) -> None:
    new_run(reviewer, task("a"))
    report(harness, "a", "running")
    answer = done(harness, "ask_question", run_id="r1", path="a", text="Which?")
    assert answer["question_id"].startswith("qst_")
    assert answer["status"] == "blocked"


# -- Refusals ----------------------------------------------------------------------------------------


def test_an_unknown_argument_is_refused_by_name(harness: Caller) -> None:
    for name, tool in TOOLS_BY_NAME.items():
        needed = dict.fromkeys(tool.needs, "x")
        error = refused(harness, name, **needed, surprise=1)
        assert error["code"] == "validation_failed"
        assert "unknown field 'surprise'" in str(error), name


def test_a_missing_place_is_refused_by_name(harness: Caller) -> None:
    error = refused(harness, "get_next")
    assert (error["code"], error["details"]["pointer"]) == ("validation_failed", "/run_id")


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("get_run", {"run_id": 7}),
        ("get_run", {"run_id": "r1", "full": "yes"}),
        ("list_runs", {"limit": 0}),
        ("list_runs", {"cursor": "made-up"}),
        ("wait_for_decision", {}),
        ("wait_for_decision", {"run_id": "r1", "workflow_id": "w"}),
        ("wait_for_decision", {"run_id": "r1", "seconds": 51}),
        ("wait_for_decision", {"run_id": "r1", "since": -1}),
        ("wait_for_decision", {"workflow_id": "w", "path": "a"}),
        ("report_step_update", {"run_id": "r1", "path": "a//b", "summary": "x"}),
        ("report_step_update", {"run_id": "r1", "path": "a/b", "summary": "x"}),
        ("report_step_update", {"run_id": "r1", "path": "a", "summary": "\0"}),
        ("report_step_update", {"run_id": "r1", "path": "a", "summary": "\ud800"}),
        ("report_step_update", {"run_id": "r1", "path": "a", "summary": " "}),
    ],
)
def test_a_malformed_argument_is_a_validation_error(
    name: str, arguments: dict[str, Any], harness: Caller, reviewer: Caller
) -> None:
    new_run(reviewer, task("a"))
    error = refused(harness, name, **arguments)
    assert error["code"] == "validation_failed", error


def test_arguments_nested_too_deep_are_refused(harness: Caller) -> None:
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    error = refused(harness, "register_run", workflow_id="w", metadata={"deep": deep})
    assert error["code"] == "validation_failed"


def test_a_plans_faults_come_with_their_places(harness: Caller) -> None:
    error = refused(harness, "create_workflow", **plan(task("a", depends_on=["b"])))
    assert error["code"] == "validation_failed"
    assert error["details"]["pointer"] == "/steps/0/depends_on/0"


def test_a_token_without_relay_decides_nothing_and_is_told_what_to_do(
    harness: Caller, reviewer: Caller
) -> None:
    draft = new_draft(harness, task("a"))["workflow_id"]
    new_run(reviewer, checkpoint("ok"), task("q"))
    report(harness, "ok", "running")
    for name, arguments in (
        ("approve_workflow", {"workflow_id": draft}),
        ("archive_workflow", {"workflow_id": draft}),
        ("resolve_checkpoint", {"run_id": "r1", "path": "ok", "decision": "approved"}),
        ("answer_question", {"run_id": "r1", "path": "q", "question_id": "x", "response": {"text": "y"}}),
        ("mark_step_stale", {"run_id": "r1", "path": "ok", "reason": "x"}),
        ("cancel_run", {"run_id": "r1"}),
    ):
        error = refused(harness, name, **arguments)
        assert error["code"] == "forbidden", name
        assert "ask a person" in error["message"]


def test_a_reviewers_token_is_no_person_over_mcp(reviewer: Caller, harness: Caller) -> None:
    draft = new_draft(harness, task("a"))["workflow_id"]
    assert refused(reviewer, "approve_workflow", workflow_id=draft)["code"] == "forbidden"


def test_what_is_missing_is_named(harness: Caller) -> None:
    for name, arguments, code in (
        ("get_workflow", {"workflow_id": "none"}, "not_found"),
        ("get_run", {"run_id": "none"}, "not_found"),
        ("get_amendment", {"amendment_id": "none"}, "not_found"),
        ("get_template", {"template_id": "none"}, "not_found"),
        ("wait_for_decision", {"run_id": "none"}, "not_found"),
        ("wait_for_decision", {"run_id": "none", "path": "a"}, "not_found"),
    ):
        assert refused(harness, name, **arguments)["code"] == code


def test_a_criterion_left_open_is_listed(harness: Caller, reviewer: Caller) -> None:
    new_run(reviewer, task("a", criteria=["It works."]))
    error = refused(harness, "report_step_update", run_id="r1", path="a", status="completed", summary="Done.")
    assert error["details"]["unmet"] == [{"id": "c1", "text": "It works."}]


def test_what_nobody_foresaw_leaks_nothing(harness: Caller, monkeypatch: Any) -> None:
    tool = TOOLS_BY_NAME["get_run"]

    def broken(call: Any) -> Any:
        raise RuntimeError("the secret")

    monkeypatch.setitem(TOOLS_BY_NAME, "get_run", replace(tool, call=broken))
    error = refused(harness, "get_run", run_id="r1")
    assert error["code"] == "internal"
    assert "secret" not in error["message"]
