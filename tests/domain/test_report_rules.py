"""Whether a report may be made (contract 3, ``StepUpdate``): every refusal, and what it says."""

from __future__ import annotations

from typing import Any

import pytest

from chief_project.shared.errors import InvalidTransition, InvariantViolation, ValidationFailed
from runs.domain.report import (
    check_response,
    judge_construct_report,
    judge_report,
    missing_parameters,
    refuse_terminal,
)
from runs.domain.tree import StateNode, new_state
from workflows.domain.plan import Criterion, Field, InstanceParam, Step

TWO = Step("a", "task", "Do a", criteria=(Criterion("c1", "It runs"), Criterion("c2", "It is fast")))
PLAIN = Step("a", "task", "Do a")


def state(status: str = "running", *, type_: str = "task", **columns: Any) -> StateNode:
    node = new_state("a", type_)
    node.status = status
    for name, value in columns.items():
        setattr(node, name, value)
    return node


def judged(node: StateNode, step: Step | None = PLAIN, *, question: str | None = None, **report: Any) -> str:
    return judge_report(node, step, {"summary": "s"} | report, open_question=question)


# -- Tasks -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("was", ["pending", "running"])
@pytest.mark.parametrize("status", ["pending", "running", "completed", "failed"])
def test_a_task_takes_each_of_the_four_statuses(was: str, status: str) -> None:
    assert judged(state(was), status=status) == status


@pytest.mark.parametrize("was", ["pending", "running"])
def test_a_report_without_a_status_leaves_it(was: str) -> None:
    assert judged(state(was)) == was
    assert judged(state(was), status=None) == was


@pytest.mark.parametrize("closed", [True, False])
def test_a_task_has_no_instances_to_close(closed: bool) -> None:
    with pytest.raises(ValidationFailed, match="no instances") as refused:
        judged(state(), instances_closed=closed)
    assert refused.value.details["pointer"] == "/instances_closed"


@pytest.mark.parametrize("was", ["completed", "failed"])
@pytest.mark.parametrize("status", [None, "running", "completed"])
def test_a_finished_step_is_immutable(was: str, status: str | None) -> None:
    with pytest.raises(InvalidTransition, match=r"immutable.*replay_step"):
        judged(state(was), status=status)


def test_a_skipped_step_takes_no_report() -> None:
    with pytest.raises(InvalidTransition, match="skipped"):
        refuse_terminal(state("skipped", skip_cause="dependency"))


# -- Criteria ----------------------------------------------------------------------------------------


def test_completed_needs_an_answer_to_every_criterion() -> None:
    with pytest.raises(InvariantViolation, match="cannot be completed yet") as refused:
        judged(state(), TWO, status="completed")
    assert refused.value.details["unmet"] == [
        {"id": "c1", "text": "It runs"},
        {"id": "c2", "text": "It is fast"},
    ]


def test_the_refusal_names_the_three_ways_out() -> None:
    with pytest.raises(InvariantViolation) as refused:
        judged(state(), TWO, status="completed")
    said = refused.value.message
    assert "Keep working" in said
    assert "'failed'" in said
    assert "amendment" in said


def test_earlier_answers_count() -> None:
    node = state(criteria_met={"c1": "seen"})
    with pytest.raises(InvariantViolation) as refused:
        judged(node, TWO, status="completed")
    assert refused.value.details["unmet"] == [{"id": "c2", "text": "It is fast"}]
    assert judged(node, TWO, status="completed", criteria_met={"c2": "seen"}) == "completed"


@pytest.mark.parametrize("status", [None, "pending", "running", "failed"])
def test_only_completed_asks_for_the_criteria(status: str | None) -> None:
    assert judged(state(), TWO, status=status) == (status or "running")


def test_unknown_criteria_are_named_before_anything_else() -> None:
    for node in (state(), state("completed")):
        with pytest.raises(ValidationFailed, match="c7, zz") as refused:
            judged(node, TWO, criteria_met={"zz": "x", "c1": "x", "c7": "x"}, status="completed")
        assert refused.value.details["unknown"] == ["c7", "zz"]
        assert refused.value.details["pointer"] == "/criteria_met"


def test_a_step_without_criteria_has_none_to_answer() -> None:
    with pytest.raises(ValidationFailed) as refused:
        judged(state(), criteria_met={"c1": "x"})
    assert refused.value.details["unknown"] == ["c1"]


# -- Questions ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", ["pending", "running", "completed", "failed"])
def test_no_status_is_reported_while_a_question_is_open(status: str) -> None:
    with pytest.raises(InvalidTransition, match="qst_1") as refused:
        judged(state("blocked"), status=status, question="qst_1")
    assert refused.value.details["question_id"] == "qst_1"


def test_a_report_without_status_is_fine_while_a_question_is_open() -> None:
    assert judged(state("blocked"), question="qst_1") == "blocked"


# -- Checkpoints -------------------------------------------------------------------------------------


@pytest.mark.parametrize("was", ["pending", "blocked"])
def test_a_checkpoint_that_is_reached_is_blocked(was: str) -> None:
    assert judged(state(was, type_="checkpoint"), status="running") == "blocked"


@pytest.mark.parametrize("was", ["pending", "blocked"])
@pytest.mark.parametrize("status", [None, "pending", "completed", "failed"])
def test_a_checkpoint_takes_nothing_but_running(was: str, status: str | None) -> None:
    with pytest.raises(InvalidTransition, match=r"only 'running'.*resolve_checkpoint"):
        judged(state(was, type_="checkpoint"), status=status)


# -- Constructs --------------------------------------------------------------------------------------


@pytest.mark.parametrize("type_", ["loop", "parallel"])
@pytest.mark.parametrize("status", ["pending", "running", "completed", "failed"])
def test_a_construct_refuses_a_status(type_: str, status: str) -> None:
    with pytest.raises(InvariantViolation, match="derived"):
        judge_construct_report(state("running", type_=type_), {"summary": "s", "status": status})


def test_a_construct_may_be_closed_once_and_again_but_not_opened() -> None:
    closed = state("running", type_="loop", instances_closed=True)
    judge_construct_report(state("running", type_="loop"), {"summary": "s", "instances_closed": True})
    judge_construct_report(state("running", type_="loop"), {"summary": "s", "instances_closed": False})
    judge_construct_report(closed, {"summary": "s", "instances_closed": True})
    judge_construct_report(closed, {"summary": "s"})
    with pytest.raises(InvariantViolation, match=r"opened again.*replay_step"):
        judge_construct_report(closed, {"summary": "s", "instances_closed": False})


def test_a_construct_has_no_criteria() -> None:
    with pytest.raises(ValidationFailed) as refused:
        judge_construct_report(state(type_="loop"), {"summary": "s", "criteria_met": {"c1": "x"}})
    assert refused.value.details["unknown"] == ["c1"]


@pytest.mark.parametrize("was", ["completed", "failed"])
def test_a_finished_construct_is_immutable(was: str) -> None:
    with pytest.raises(InvalidTransition, match=r"immutable.*replay_step"):
        judge_construct_report(state(was, type_="loop"), {"summary": "s"})


# -- Instance parameters -----------------------------------------------------------------------------

FAN = Step(
    "f",
    "parallel",
    "Fan",
    body=("x",),
    instance_params=(InstanceParam("paper"), InstanceParam("seed"), InstanceParam("note", required=False)),
)


@pytest.mark.parametrize("value", [None, "", "   ", "\n\t"])
def test_absent_null_and_blank_text_are_missing(value: Any) -> None:
    assert missing_parameters(FAN, {"paper": value, "seed": 1}) == ["paper"]
    assert missing_parameters(FAN, {"seed": 1}) == ["paper"]


@pytest.mark.parametrize("value", [0, False, [], {}, 0.0, "0", " x "])
def test_presence_counts_not_truth(value: Any) -> None:
    assert missing_parameters(FAN, {"paper": value, "seed": value, "extra": None}) == []


def test_the_missing_are_named_in_the_order_of_the_plan() -> None:
    assert missing_parameters(FAN, {}) == ["paper", "seed"]


# -- Answers -----------------------------------------------------------------------------------------

FIELDS = (Field("budget"), Field("why", required=False))


def test_unknown_fields_are_refused_always() -> None:
    for complete in (True, False):
        with pytest.raises(ValidationFailed, match=r"did not ask for budgit.*budget, why") as refused:
            check_response(FIELDS, {"budgit": "1"}, asker="checkpoint 'g'", complete=complete)
        assert refused.value.details["unknown"] == ["budgit"]


@pytest.mark.parametrize("response", [{}, {"budget": " "}, {"why": "so"}])
def test_required_fields_are_needed_only_to_approve(response: dict[str, str]) -> None:
    check_response(FIELDS, response, asker="checkpoint 'g'", complete=False)
    with pytest.raises(ValidationFailed, match=r"requires \['budget'\]") as refused:
        check_response(FIELDS, response, asker="checkpoint 'g'")
    assert refused.value.details["missing"] == ["budget"]


def test_optional_fields_may_be_left_out() -> None:
    check_response(FIELDS, {"budget": "100"}, asker="checkpoint 'g'")
    check_response((), {}, asker="checkpoint 'g'")
