"""A running task asks a person, who answers, or it is withdrawn (contract 3, "questions")."""

from __future__ import annotations

import pytest

from amendments.services.cancel_run import cancel_run
from chief_project.shared.caller import Caller
from chief_project.shared.errors import (
    Forbidden,
    InvalidTransition,
    InvariantViolation,
    NotFound,
    ValidationFailed,
)
from chief_project.shared.models import AuditEntry
from runs.models import Report
from runs.selectors.runs import get_run
from tests.amendments import amend, remove, replay
from tests.derivation import assert_derived
from tests.plans import checkpoint, loop, task
from tests.refusals import refused
from tests.run_calls import (
    answer,
    ask,
    asked,
    assert_agrees,
    node_at,
    register,
    update,
    update_instance,
    withdraw,
)
from tests.runs import new_run

pytestmark = pytest.mark.django_db

FIELDS = ({"name": "dataset"}, {"name": "why", "required": False, "label": "Why?"})


# -- Asking ------------------------------------------------------------------------------------------


def test_a_question_blocks_its_step_and_leaves_the_summary(reviewer: Caller, harness: Caller) -> None:
    new_run(reviewer, "a")
    update(harness, "a", "running", summary="Begun.")
    write = ask(harness, "a", "Which of the two?", *FIELDS)
    now = write.minimal["state"]
    assert (now["status"], now["summary"]) == ("blocked", "Begun.")
    (question,) = now["questions"]
    assert question["question_id"].startswith("qst_")
    assert {name: question[name] for name in question if name not in {"question_id", "asked_at"}} == {
        "text": "Which of the two?",
        "fields": [
            {"name": "dataset", "label": None, "hint": None, "required": True},
            {"name": "why", "label": "Why?", "hint": None, "required": False},
        ],
        "asked_actor": "planner",
        "response": None,
        "answered_at": None,
        "answered_by": None,
        "actor": None,
        "via": "rest",
        "closed": None,
    }
    assert write.minimal["run_status"] == "waiting_on_human"
    assert [(item["path"], item["state"]) for item in write.minimal["next"]["items"]] == [("a", "blocked")]
    assert_agrees(harness, write)
    assert write.full() == get_run(caller=harness, run_id="r1")
    assert_derived()


def test_a_question_is_audited_and_is_no_report(reviewer: Caller, harness: Caller) -> None:
    new_run(reviewer, "a")
    question = asked(harness, "a")
    answer(reviewer, "a", question)
    withdraw(harness, "a", ask(harness, "a").minimal["state"]["questions"][-1]["question_id"])
    events = list(AuditEntry.objects.filter(stream="run:r1").order_by("id").values_list("event", "actor"))
    assert events[2:] == [
        ("step.question_asked", "planner"),
        ("step.question_answered", "rita"),
        ("step.question_asked", "planner"),
        ("step.question_withdrawn", "planner"),
    ]
    assert Report.objects.count() == 1


def test_a_body_step_asks_from_where_it_stands(reviewer: Caller, harness: Caller) -> None:
    new_run(reviewer, loop("l", ["x"]), task("x"))
    register(harness, "l")
    question = asked(harness, "l/inst_00/x")
    assert node_at(get_run(caller=harness, run_id="r1"), "l/inst_00")["status"] == "running"
    write = answer(reviewer, "l/inst_00/x", question)
    assert write.minimal["state"]["status"] == "running"
    assert_agrees(harness, write)
    assert_derived()


def test_a_constructs_status_is_derived_so_it_cannot_ask(reviewer: Caller, harness: Caller) -> None:
    new_run(reviewer, loop("l", ["x"]), task("x"))
    register(harness, "l")
    with refused(InvariantViolation, r"derived.*body"):
        ask(harness, "l")


def test_a_checkpoint_asks_by_itself(reviewer: Caller, harness: Caller) -> None:
    new_run(reviewer, checkpoint("gate"))
    update(harness, "gate", "running")
    with refused(InvariantViolation, "checkpoint"):
        ask(harness, "gate")


def test_one_question_is_open_at_a_time(reviewer: Caller, harness: Caller) -> None:
    new_run(reviewer, "a")
    question = asked(harness, "a")
    with refused(InvalidTransition, question) as caught:
        ask(harness, "a", "And that?")
    assert caught.value.details["question_id"] == question


@pytest.mark.parametrize("status", ["pending", "completed", "failed"])
def test_only_a_running_step_asks(reviewer: Caller, harness: Caller, status: str) -> None:
    new_run(reviewer, "a", task("b", depends_on=["a"]))
    if status != "pending":
        update(harness, "a", status)
    with refused(InvalidTransition, status) as caught:
        ask(harness, "a")
    assert caught.value.details["status"] == status
    if status == "failed":
        with refused(InvalidTransition, "skipped"):
            ask(harness, "b")


def test_a_field_twice_is_refused(reviewer: Caller, harness: Caller) -> None:
    new_run(reviewer, "a")
    update(harness, "a", "running")
    with refused(ValidationFailed, "same field twice") as caught:
        ask(harness, "a", "Which?", {"name": "one"}, {"name": "two"}, {"name": "one"})
    assert caught.value.details["pointer"] == "/fields/2/name"


def test_a_viewer_may_not_ask(reviewer: Caller, harness: Caller, viewer: Caller) -> None:
    new_run(reviewer, "a")
    update(harness, "a", "running")
    with refused(Forbidden, "ask a question"):
        ask(viewer, "a")


# -- Answering ---------------------------------------------------------------------------------------


def test_an_answer_lets_the_step_run_on(reviewer: Caller, harness: Caller) -> None:
    new_run(reviewer, "a")
    question = asked(harness, "a")
    began = node_at(get_run(caller=harness, run_id="r1"), "a")["started_at"]
    write = answer(reviewer, "a", question, {"text": "The first."}, answered_by="somebody else")
    now = write.minimal["state"]
    assert (now["status"], now["started_at"].replace(tzinfo=None)) == ("running", began.replace(tzinfo=None))
    (kept,) = now["questions"]
    assert (kept["response"], kept["answered_by"], kept["actor"]) == ({"text": "The first."}, "rita", "rita")
    assert kept["answered_at"] is not None
    assert kept["closed"] is None
    assert write.minimal["run_status"] == "running"
    assert_agrees(harness, write)
    update(harness, "a", "completed")
    assert_derived()


def test_a_relayed_answer_keeps_the_claim_and_tells_the_token(
    reviewer: Caller, harness: Caller, relay: Caller
) -> None:
    new_run(reviewer, "a", "b")
    kept = answer(relay, "a", asked(harness, "a"), answered_by="Ada").minimal["state"]["questions"][0]
    assert (kept["answered_by"], kept["actor"], kept["via"]) == ("Ada", "relayer", "rest")
    kept = answer(relay, "b", asked(harness, "b")).minimal["state"]["questions"][0]
    assert kept["answered_by"] == "human"


def test_who_may_not_decide_may_not_answer(reviewer: Caller, harness: Caller, viewer: Caller) -> None:
    new_run(reviewer, "a")
    question = asked(harness, "a")
    for caller in (harness, viewer):
        with refused(Forbidden, "answer a question"):
            answer(caller, "a", question)


@pytest.mark.parametrize("response", [{}, {"txt": "x"}, {"text": "x", "more": "y"}])
def test_without_fields_the_answer_is_exactly_the_key_text(
    reviewer: Caller, harness: Caller, response: dict[str, str]
) -> None:
    new_run(reviewer, "a")
    question = asked(harness, "a")
    with refused(ValidationFailed, "exactly the key 'text'"):
        answer(reviewer, "a", question, response)


@pytest.mark.parametrize("text", ["", "  \n\t"])
def test_an_answer_is_not_blank(reviewer: Caller, harness: Caller, text: str) -> None:
    new_run(reviewer, "a")
    question = asked(harness, "a")
    with refused(ValidationFailed, "text"):
        answer(reviewer, "a", question, {"text": text})


def test_with_fields_the_answer_is_like_a_checkpoints(reviewer: Caller, harness: Caller) -> None:
    new_run(reviewer, "a")
    question = asked(harness, "a", *FIELDS)
    with refused(ValidationFailed, "did not ask for text") as caught:
        answer(reviewer, "a", question, {"text": "x", "dataset": "one"})
    assert caught.value.details["unknown"] == ["text"]
    for response in ({}, {"dataset": " "}, {"why": "so"}):
        with refused(ValidationFailed, r"requires \['dataset'\]") as caught:
            answer(reviewer, "a", question, response)
        assert caught.value.details["missing"] == ["dataset"]
    kept = answer(reviewer, "a", question, {"dataset": "one"}).minimal["state"]["questions"][0]
    assert kept["response"] == {"dataset": "one"}


def test_nothing_open_is_a_conflict(reviewer: Caller, harness: Caller) -> None:
    new_run(reviewer, "a", loop("l", ["x"]), task("x"), checkpoint("gate"))
    update(harness, "a", "running")
    update(harness, "gate", "running")
    for path in ("a", "l", "gate"):
        with refused(InvalidTransition, "no open question"):
            answer(reviewer, path, "qst_1")
        with refused(InvalidTransition, "no open question"):
            withdraw(harness, path, "qst_1")


def test_another_id_is_refused_naming_both(reviewer: Caller, harness: Caller) -> None:
    new_run(reviewer, "a", "b")
    elsewhere, question = asked(harness, "b"), asked(harness, "a")
    for attempt in (lambda: answer(reviewer, "a", elsewhere), lambda: withdraw(harness, "a", elsewhere)):
        with refused(ValidationFailed, f"{elsewhere}.*{question}") as caught:
            attempt()
        assert (caught.value.details["question_id"], caught.value.details["given"]) == (question, elsewhere)


# -- Withdrawing, and late answers -------------------------------------------------------------------


def test_a_withdrawal_closes_the_question_and_the_step_runs_on(reviewer: Caller, harness: Caller) -> None:
    new_run(reviewer, "a")
    question = asked(harness, "a")
    write = withdraw(harness, "a", question, reason="found it")
    now = write.minimal["state"]
    assert now["status"] == "running"
    (kept,) = now["questions"]
    assert (kept["closed"]["by"], kept["closed"]["reason"]) == ("planner", "found it")
    assert kept["closed"]["actor"] == "planner"
    assert kept["closed"]["at"].endswith("Z")
    assert (kept["response"], kept["answered_at"]) == (None, None)
    assert_agrees(harness, write)
    assert_derived()
    again = ask(harness, "a", "Another?")
    assert [each["text"] for each in again.minimal["state"]["questions"]] == ["Which?", "Another?"]
    assert_agrees(harness, again)


def test_a_viewer_may_not_withdraw(reviewer: Caller, harness: Caller, viewer: Caller) -> None:
    new_run(reviewer, "a")
    question = asked(harness, "a")
    with refused(Forbidden, "withdraw a question"):
        withdraw(viewer, "a", question)


def test_a_late_answer_says_what_became_of_the_question(reviewer: Caller, harness: Caller) -> None:
    new_run(reviewer, "a", "b")
    answered, withdrawn = asked(harness, "a"), asked(harness, "b")
    answer(reviewer, "a", answered)
    withdraw(harness, "b", withdrawn, reason="found it")
    for attempt in (lambda: answer(reviewer, "a", answered), lambda: withdraw(harness, "a", answered)):
        with refused(InvalidTransition, f"{answered} .*answered by rita"):
            attempt()
    for attempt in (lambda: answer(reviewer, "b", withdrawn), lambda: withdraw(harness, "b", withdrawn)):
        with refused(InvalidTransition, f"{withdrawn} .*closed by planner .*found it"):
            attempt()


def test_a_late_answer_stays_late_while_the_next_question_is_open(reviewer: Caller, harness: Caller) -> None:
    new_run(reviewer, "a")
    first = asked(harness, "a")
    answer(reviewer, "a", first)
    ask(harness, "a")
    with refused(InvalidTransition, f"{first} .*answered by rita"):
        answer(reviewer, "a", first)


def test_an_answer_after_a_removal_says_that_it_was_removed(reviewer: Caller, harness: Caller) -> None:
    new_run(reviewer, "a", "b")
    question = asked(harness, "a")
    amend(reviewer, remove("a"))
    (kept,) = node_at(get_run(caller=harness, run_id="r1"), "a")["questions"]
    assert kept["closed"]["by"] == "rita"
    with refused(InvalidTransition, f"{question} .*closed by rita .*removed the step"):
        answer(reviewer, "a", question)


def test_an_answer_after_a_cancellation_says_that_the_run_was_cancelled(
    reviewer: Caller, harness: Caller
) -> None:
    new_run(reviewer, "a")
    question = asked(harness, "a")
    cancel_run(caller=reviewer, run_id="r1", reason="no money")
    with refused(InvalidTransition, "cancelled"):
        answer(reviewer, "a", question)


def test_an_answer_after_a_replay_says_what_became_of_the_question(reviewer: Caller, harness: Caller) -> None:
    """The replay of the instance takes the open question of the step beside the failed one with it."""
    new_run(reviewer, loop("l", ["x", "y"]), task("x"), task("y"), "a")
    register(harness, "l")
    question = asked(harness, "l/inst_00/y")
    update(harness, "l/inst_00/x", "failed")
    amend(reviewer, replay("l", instance_id="inst_00"), kind="history_edit")
    with refused(InvalidTransition, f"{question} .*closed by rita .*replayed the step"):
        answer(reviewer, "l/inst_00/y", question)
    later = asked(harness, "a")
    answer(reviewer, "a", later)
    update(harness, "a", "completed")
    amend(reviewer, replay("a"), kind="history_edit")
    with refused(InvalidTransition, f"{later} .*answered by rita"):
        answer(reviewer, "a", later)
    assert_derived()


def test_an_answer_after_its_instance_is_gone_says_what_became_of_the_question(
    reviewer: Caller, harness: Caller
) -> None:
    new_run(reviewer, loop("l", ["x", "y"]), task("x"), task("y"))
    register(harness, "l")
    question = asked(harness, "l/inst_00/y")
    update(harness, "l/inst_00/x", "failed")
    amend(reviewer, replay("l"), kind="history_edit")
    for attempt in (
        lambda: answer(reviewer, "l/inst_00/y", question),
        lambda: withdraw(harness, "l/inst_00/y", question),
    ):
        with refused(InvalidTransition, f"{question} .*'y'.*closed by rita .*replayed the step"):
            attempt()
    with refused(NotFound, "inst_00"):
        answer(reviewer, "l/inst_00/y", "qst_never")
    register(harness, "l")
    with refused(InvalidTransition, f"{question} .*closed by rita"):
        answer(reviewer, "l/inst_00/y", question)


def test_a_report_without_status_leaves_an_open_question_alone(reviewer: Caller, harness: Caller) -> None:
    new_run(reviewer, loop("l", ["x"]), task("x"))
    register(harness, "l")
    question = asked(harness, "l/inst_00/x")
    update(harness, "l/inst_00/x", summary="waiting", metadata={"k": 1})
    update_instance(harness, "l/inst_00")
    write = answer(reviewer, "l/inst_00/x", question)
    assert write.minimal["state"]["summary"] == "waiting"
