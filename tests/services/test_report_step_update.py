"""Reporting on a step (contract 3, ``StepUpdate``): what is taken, what is refused, and what each leaves behind."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from typing import Any

import pytest

from amendments.services.cancel_run import cancel_run
from chief_project.shared.caller import Caller
from chief_project.shared.errors import (
    Conflict,
    Forbidden,
    InvalidTransition,
    InvariantViolation,
    NotFound,
    PreconditionFailed,
    ValidationFailed,
)
from chief_project.shared.models import AuditEntry
from runs.models import Report, Run
from runs.selectors.runs import get_run
from tests.amendments import amend, insert_after, propose, remove, replay
from tests.amendments import update as change
from tests.derivation import assert_derived
from tests.plans import checkpoint, loop, parallel, task
from tests.refusals import refused
from tests.run_calls import (
    answer,
    ask,
    asked,
    assert_agrees,
    comment,
    mark,
    node_at,
    register,
    resolve,
    update,
    update_instance,
    withdraw,
)
from tests.runs import new_run

pytestmark = pytest.mark.django_db


def state(caller: Caller, path: str) -> dict[str, Any]:
    return node_at(get_run(caller=caller, run_id="r1"), path)


# -- What a report carries ---------------------------------------------------------------------------


def test_a_report_is_taken_whole(reviewer: Caller, harness: Caller) -> None:
    new_run(reviewer, task("a", criteria=["It runs", "It is fast"]))
    write = update(
        harness,
        "a",
        "running",
        summary="Begun.",
        metadata={"tries": 1, "nested": {"x": [1, None]}},
        criteria_met={"c2": "40 ms"},
        artifacts=[{"artifact_id": "log", "type": "text/plain", "ref": "logs/a.txt"}],
    )
    assert_agrees(harness, write)
    now = write.minimal["state"]
    assert (now["status"], now["summary"]) == ("running", "Begun.")
    assert now["metadata"] == {"tries": 1, "nested": {"x": [1, None]}}
    assert now["criteria_met"] == {"c2": "40 ms"}
    assert now["artifacts"] == [
        {
            "artifact_id": "log",
            "type": "text/plain",
            "description": None,
            "ref": "logs/a.txt",
            "data": None,
            "comments": [],
        }
    ]
    assert write.full() == get_run(caller=harness, run_id="r1")
    assert (write.minimal["path"], write.minimal["revision"]) == ("a", 2)


def test_later_reports_replace_the_summary_and_add_to_everything_else(
    reviewer: Caller, harness: Caller
) -> None:
    new_run(reviewer, task("a", criteria=["It runs", "It is fast"]))
    update(
        harness,
        "a",
        "running",
        summary="one",
        metadata={"k": 1, "deep": {"a": 1}},
        criteria_met={"c1": "yes"},
        artifacts=[{"type": "t", "data": 0}],
    )
    write = update(
        harness,
        "a",
        "completed",
        summary="two",
        metadata={"deep": {"b": 2}, "l": None},
        criteria_met={"c1": "still", "c2": "yes"},
        artifacts=[{"type": "t", "data": False}],
    )
    now = write.minimal["state"]
    assert now["summary"] == "two"
    assert now["metadata"] == {"k": 1, "deep": {"b": 2}, "l": None}  # key by key, not below
    assert now["criteria_met"] == {"c1": "still", "c2": "yes"}
    assert [made["data"] for made in now["artifacts"]] == [0, False]
    assert all(made["artifact_id"].startswith("art_") for made in now["artifacts"])
    assert_agrees(harness, write)


def test_a_report_without_status_leaves_it_and_counts_as_a_report(reviewer: Caller, harness: Caller) -> None:
    new_run(reviewer)
    write = update(harness, "a", summary="thinking")
    assert (write.minimal["state"]["status"], write.minimal["state"]["started_at"]) == ("pending", None)
    assert write.full()["last_report_at"] is not None
    assert_agrees(harness, write)


def test_every_report_is_logged_as_sent_and_audited_with_its_digest(
    reviewer: Caller, harness: Caller
) -> None:
    new_run(reviewer, loop("l", ["x"]), task("x"))
    register(harness, "l", metadata={"n": 1})
    report = {
        "summary": "Füllen",
        "status": "running",
        "metadata": {"z": 1.5, "n": [1.0, 10**20]},
        "artifacts": [],
    }
    update(harness, "l/inst_00/x", **report)
    rows = list(Report.objects.values_list("number", "kind", "path", "payload", "actor", "via"))
    assert rows == [
        (1, "instance_registered", "l/inst_00", {"metadata": {"n": 1}}, "planner", "rest"),
        (2, "step_update", "l/inst_00/x", report, "planner", "rest"),
    ]
    entry = AuditEntry.objects.get(event="step.updated")
    detail = json.loads(entry.text)["detail"]
    assert (detail["path"], detail["status"], detail["status_was"]) == ("l/inst_00/x", "running", "pending")
    assert (detail["report"], detail["via"]) == (2, "rest")
    stored = json.dumps(Report.objects.get(number=2).payload, ensure_ascii=False, sort_keys=True)
    assert detail["sha256"] == hashlib.sha256(stored.encode()).hexdigest()


def test_order_is_recorded_and_not_enforced(reviewer: Caller, harness: Caller) -> None:
    new_run(reviewer)  # b waits for a
    write = update(harness, "b", "completed")
    assert write.minimal["state"]["status"] == "completed"
    assert write.minimal["next"]["items"] == []


# -- next --------------------------------------------------------------------------------------------


def test_next_names_what_a_completion_made_ready_and_nothing_more(reviewer: Caller, harness: Caller) -> None:
    new_run(
        reviewer,
        "a",
        "other",
        task("b", depends_on=["a"]),
        loop("l", ["x"], depends_on=["a"]),
        task("x"),
        task("both", depends_on=["a", "other"]),
    )
    write = update(harness, "a", "completed")
    assert [(item["path"], item["type"], item["state"]) for item in write.minimal["next"]["items"]] == [
        ("b", "task", "ready"),
        ("l", "loop", "ready"),
    ]
    assert_agrees(harness, write)
    write = update(harness, "other", "completed")
    assert [item["path"] for item in write.minimal["next"]["items"]] == ["both"]
    assert_agrees(harness, write)


def test_next_names_at_most_twenty_and_how_many_more(reviewer: Caller, harness: Caller) -> None:
    new_run(reviewer, "a", *(task(f"s{place}", depends_on=["a"]) for place in range(25)))
    write = update(harness, "a", "completed")
    assert [item["step_id"] for item in write.minimal["next"]["items"]] == [f"s{i}" for i in range(20)]
    assert write.minimal["next"]["more"] == 5


def test_next_stays_in_the_scope_of_the_report(reviewer: Caller, harness: Caller) -> None:
    new_run(reviewer, loop("l", ["x", "y"]), task("x"), task("y", depends_on=["x"]))
    for _ in range(2):
        register(harness, "l")
    write = update(harness, "l/inst_01/x", "completed")
    assert [item["path"] for item in write.minimal["next"]["items"]] == ["l/inst_01/y"]
    assert_agrees(harness, write)


def test_next_names_a_checkpoint_that_was_reached(reviewer: Caller, harness: Caller) -> None:
    new_run(reviewer, loop("l", ["gate"]), checkpoint("gate"))
    register(harness, "l")
    write = update(harness, "l/inst_00/gate", "running")
    (item,) = write.minimal["next"]["items"]
    assert (item["path"], item["state"], item["type"]) == ("l/inst_00/gate", "blocked", "checkpoint")
    assert write.minimal["run_status"] == "waiting_on_human"
    assert_agrees(harness, write)
    again = update(harness, "l/inst_00/gate", "running")
    assert again.minimal["state"]["status"] == "blocked"
    assert again.minimal["next"]["items"] == []  # nothing new


def test_next_offers_nothing_in_an_instance_that_is_over(reviewer: Caller, harness: Caller) -> None:
    new_run(reviewer, loop("l", ["x", "y", "z"]), task("x"), task("y"), task("z", depends_on=["y"]))
    register(harness, "l")
    update(harness, "l/inst_00/x", "failed")
    write = update(harness, "l/inst_00/y", "completed")
    assert write.minimal["next"] == {"items": [], "more": 0}
    assert_agrees(harness, write)


def test_closing_a_construct_names_what_waited_for_it(reviewer: Caller, harness: Caller) -> None:
    new_run(reviewer, loop("l", ["x"]), task("x"), task("b", depends_on=["l"]))
    register(harness, "l")
    update(harness, "l/inst_00/x", "completed")
    write = update(harness, "l", instances_closed=True)
    assert write.minimal["state"]["status"] == "completed"
    assert [item["path"] for item in write.minimal["next"]["items"]] == ["b"]
    assert_agrees(harness, write)


# -- Constructs --------------------------------------------------------------------------------------


def test_a_construct_that_is_reported_on_runs_and_its_status_is_derived(
    reviewer: Caller, harness: Caller
) -> None:
    new_run(reviewer, loop("l", ["x"]), task("x"))
    write = update(harness, "l", summary="planning", metadata={"k": 1}, artifacts=[{"type": "t", "ref": "r"}])
    assert write.minimal["state"]["status"] == "running"
    assert "instances" not in write.minimal["state"]
    assert_agrees(harness, write)
    for status in ("pending", "running", "completed", "failed"):
        with refused(InvariantViolation, "derived"):
            update(harness, "l", status)


def test_a_construct_closed_without_instances_completes(reviewer: Caller, harness: Caller) -> None:
    new_run(reviewer, loop("l", ["x"]), task("x"))
    write = update(harness, "l", instances_closed=True)
    assert (write.minimal["state"]["status"], write.minimal["run_status"]) == ("completed", "completed")
    assert_agrees(harness, write)


def test_only_closing_moves(reviewer: Caller, harness: Caller) -> None:
    new_run(reviewer, loop("l", ["x"]), task("x"))
    register(harness, "l")
    assert not update(harness, "l", instances_closed=False).minimal["state"]["instances_closed"]
    assert update(harness, "l", instances_closed=True).minimal["state"]["instances_closed"]
    assert update(harness, "l").minimal["state"]["instances_closed"]
    with refused(InvariantViolation, "opened again"):
        update(harness, "l", instances_closed=False)
    assert update(harness, "l", instances_closed=True).minimal["state"]["status"] == "running"


def test_a_task_and_a_checkpoint_have_no_instances_to_close(reviewer: Caller, harness: Caller) -> None:
    new_run(reviewer, "a", checkpoint("gate"))
    for path in ("a", "gate"):
        with refused(ValidationFailed, "no instances") as caught:
            update(harness, path, "running", instances_closed=True)
        assert caught.value.details["pointer"] == "/instances_closed"


# -- Refusals ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("was", ["completed", "failed"])
@pytest.mark.parametrize("status", [None, "pending", "running", "completed", "failed"])
def test_a_finished_step_is_immutable(
    reviewer: Caller, harness: Caller, was: str, status: str | None
) -> None:
    new_run(reviewer)
    update(harness, "a", was)
    with refused(InvalidTransition, r"immutable.*replay_step"):
        update(harness, "a", status)


def test_a_finished_construct_is_immutable(reviewer: Caller, harness: Caller) -> None:
    new_run(reviewer, loop("l", ["x"]), task("x"), "a")
    update(harness, "l", instances_closed=True)
    for keys in ({}, {"instances_closed": True}, {"metadata": {"k": 1}}):
        with refused(InvalidTransition, r"immutable.*replay_step"):
            update(harness, "l", **keys)


def test_a_skipped_step_names_the_failed_one_at_the_head_of_its_chain(
    reviewer: Caller, harness: Caller
) -> None:
    new_run(
        reviewer,
        "a",
        task("b", depends_on=["a"]),
        task("c", depends_on=["b"]),
        loop("l", ["x"], depends_on=["c"]),
        task("x"),
    )
    update(harness, "a", "failed")
    for path in ("b", "c", "l"):
        with refused(InvalidTransition, r"'a', which failed.*replay_step") as caught:
            update(harness, path)
        assert caught.value.details["failed_step"] == "a"
    with refused(InvalidTransition, r"'a', which failed"):
        register(harness, "l")


def test_a_skipped_body_step_names_the_failure_of_its_own_instance(reviewer: Caller, harness: Caller) -> None:
    new_run(
        reviewer,
        parallel("p", ["x", "y"], on_instance_failure="continue"),
        task("x"),
        task("y", depends_on=["x"]),
    )
    for _ in range(2):
        register(harness, "p")
    update(harness, "p/inst_01/x", "failed")
    with refused(InvalidTransition, "'x', which failed"):
        update(harness, "p/inst_01/y", "running")
    update(harness, "p/inst_00/y", "running")


def test_a_removed_step_names_the_amendment_that_removed_it(reviewer: Caller, harness: Caller) -> None:
    new_run(reviewer, "a", "b", loop("l", ["x", "y"]), task("x"), task("y"))
    register(harness, "l")
    made = amend(reviewer, remove("b"))["amendment_id"]
    with refused(InvalidTransition, made):
        update(harness, "b", "running")
    second = amend(reviewer, remove("y"))["amendment_id"]
    with refused(InvalidTransition, second):
        update(harness, "l/inst_00/y", "running")
    third = amend(reviewer, remove("x"), remove("l"))["amendment_id"]
    with refused(InvalidTransition, third):
        register(harness, "l")
    with refused(InvalidTransition, third):
        update_instance(harness, "l/inst_00")
    with refused(InvalidTransition, third):
        update(harness, "l/inst_00/x", "running")


def test_completed_needs_its_criteria_counting_earlier_answers(reviewer: Caller, harness: Caller) -> None:
    new_run(reviewer, task("a", criteria=["It runs", "It is fast"]))
    update(harness, "a", "running", criteria_met={"c1": "yes"})
    with refused(InvariantViolation, "cannot be completed yet") as caught:
        update(harness, "a", "completed")
    assert caught.value.details["unmet"] == [{"id": "c2", "text": "It is fast"}]
    assert update(harness, "a", "completed", criteria_met={"c2": "yes"}).minimal["state"]["criteria_met"] == {
        "c1": "yes",
        "c2": "yes",
    }


def test_failed_needs_no_criteria(reviewer: Caller, harness: Caller) -> None:
    new_run(reviewer, task("a", criteria=["It runs"]))
    assert update(harness, "a", "failed").minimal["run_status"] == "failed"


def test_unknown_criteria_are_named(reviewer: Caller, harness: Caller) -> None:
    new_run(reviewer, task("a", criteria=["It runs"]))
    with refused(ValidationFailed, "c2") as caught:
        update(harness, "a", "completed", criteria_met={"c1": "yes", "c2": "yes"})
    assert caught.value.details["unknown"] == ["c2"]


@pytest.mark.parametrize("status", [None, "pending", "completed", "failed"])
def test_a_checkpoint_takes_only_running(reviewer: Caller, harness: Caller, status: str | None) -> None:
    new_run(reviewer, checkpoint("gate"))
    with refused(InvalidTransition, "resolve_checkpoint"):
        update(harness, "gate", status)
    assert update(harness, "gate", "running").minimal["state"]["status"] == "blocked"
    with refused(InvalidTransition, "resolve_checkpoint"):
        update(harness, "gate", status)


@pytest.mark.parametrize("status", ["pending", "running", "completed", "failed"])
def test_an_open_question_holds_a_status_up(reviewer: Caller, harness: Caller, status: str) -> None:
    new_run(reviewer, "a")
    question = asked(harness, "a")
    with refused(InvalidTransition, question):
        update(harness, "a", status)
    assert update(harness, "a", summary="still waiting").minimal["state"]["status"] == "blocked"


# -- Paths -------------------------------------------------------------------------------------------


def test_a_body_step_is_addressed_through_its_instance(reviewer: Caller, harness: Caller) -> None:
    new_run(reviewer, loop("l", ["x"]), task("x"))
    with refused(ValidationFailed, "'l' has no instance yet"):
        update(harness, "x", "running")
    register(harness, "l", instance_id="first")
    for attempt in (
        lambda: update(harness, "x", "running"),
        lambda: ask(harness, "x"),
        lambda: mark(reviewer, "x", "old"),
        lambda: register(harness, "x"),
        lambda: answer(reviewer, "x", "qst_1"),
        lambda: resolve(reviewer, "x"),
    ):
        with refused(ValidationFailed, "l/first/x") as caught:
            attempt()
        assert caught.value.details["instances"] == ["first"]


def test_a_deep_body_step_names_a_path_that_really_leads_to_it(reviewer: Caller, harness: Caller) -> None:
    new_run(reviewer, loop("out", ["in"]), loop("in", ["x"]), task("x"))
    register(harness, "out")
    register(harness, "out/inst_00/in")
    with refused(ValidationFailed, "out/inst_00/in/inst_00/x"):
        update(harness, "x", "running")
    update(harness, "out/inst_00/in/inst_00/x", "running")


@pytest.mark.parametrize(
    ("path", "named"),
    [
        ("nope", "nope"),
        ("nope/inst_00/x", "nope"),
        ("l/nope/x", "nope"),
        ("l/inst_00/nope", "nope"),
        ("l/inst_00/in/nope/y", "nope"),
        ("l/inst_00/in/inst_00/nope", "nope"),
        ("l/inst_00/a", "'a'"),
        ("a/inst_00/x", "inst_00"),
    ],
)
def test_an_unknown_id_anywhere_in_a_path_is_named(
    reviewer: Caller, harness: Caller, path: str, named: str
) -> None:
    new_run(reviewer, "a", loop("l", ["x", "in"]), task("x"), loop("in", ["y"]), task("y"))
    register(harness, "l")
    register(harness, "l/inst_00/in")
    for attempt in (
        lambda: update(harness, path, "running"),
        lambda: register(harness, path),
        lambda: ask(harness, path),
        lambda: answer(reviewer, path, "qst_1"),
        lambda: withdraw(reviewer, path, "qst_1"),
        lambda: resolve(reviewer, path),
        lambda: mark(reviewer, path, "old"),
    ):
        with refused(NotFound, named):
            attempt()
    with refused(NotFound, "r2"):
        update(harness, path, "running", run_id="r2")


@pytest.mark.parametrize("path", ["nope/inst_00", "l/nope", "l/inst_00/x/nope", "l/inst_00/nope/inst_00"])
def test_an_unknown_id_in_an_instances_path_is_named(reviewer: Caller, harness: Caller, path: str) -> None:
    new_run(reviewer, loop("l", ["x"]), task("x"))
    register(harness, "l")
    for attempt in (lambda: update_instance(harness, path), lambda: mark(reviewer, path, "old")):
        with refused(NotFound, "nope"):
            attempt()


def test_ids_differ_by_case(reviewer: Caller, harness: Caller) -> None:
    new_run(reviewer, "a", "A")
    update(harness, "A", "completed")
    assert (state(harness, "a")["status"], state(harness, "A")["status"]) == ("pending", "completed")


# -- Artifacts ---------------------------------------------------------------------------------------


def test_an_artifact_id_is_taken_once_in_a_run(reviewer: Caller, harness: Caller) -> None:
    new_run(reviewer, "a", "b", loop("l", ["x"]), task("x"))
    register(harness, "l")
    one = {"artifact_id": "one", "type": "t", "ref": "r"}
    update(harness, "a", "running", artifacts=[one])
    for attempt in (
        lambda: update(harness, "a", artifacts=[one]),
        lambda: update(harness, "b", artifacts=[{"type": "t", "ref": "r"}, one]),
        lambda: update(harness, "l", artifacts=[one]),
        lambda: update(harness, "l/inst_00/x", artifacts=[one]),
        lambda: update_instance(harness, "l/inst_00", artifacts=[one]),
    ):
        with refused(Conflict, "one") as caught:
            attempt()
        assert caught.value.details["artifact_ids"] == ["one"]


def test_an_artifact_id_twice_in_one_report_is_refused(reviewer: Caller, harness: Caller) -> None:
    new_run(reviewer, "a")
    two = [{"artifact_id": name, "type": "t", "ref": "r"} for name in ("one", "two", "one")]
    with refused(Conflict, "one") as caught:
        update(harness, "a", artifacts=two)
    assert caught.value.details["artifact_ids"] == ["one"]


def test_a_superseded_artifact_keeps_its_id(reviewer: Caller, harness: Caller) -> None:
    new_run(reviewer, "a")
    one = {"artifact_id": "one", "type": "t", "ref": "r"}
    update(harness, "a", "completed", artifacts=[one])
    amend(reviewer, replay("a"), kind="history_edit")
    with refused(Conflict, "one"):
        update(harness, "a", "running", artifacts=[one])
    write = update(harness, "a", "running", artifacts=[one | {"artifact_id": "two"}])
    assert [made["artifact_id"] for made in write.minimal["state"]["artifacts"]] == ["two"]
    comment(reviewer, "one", "about the old one")
    write = update(harness, "a", summary="again")
    assert_agrees(harness, write)
    (before,) = write.minimal["state"]["history"]
    assert before["artifacts"][0]["comments"][0]["body"] == "about the old one"


def test_another_run_may_use_the_same_artifact_id(reviewer: Caller, harness: Caller) -> None:
    one = {"artifact_id": "one", "type": "t", "ref": "r"}
    for run_id in ("r1", "r2"):
        new_run(reviewer, "a", run_id=run_id)
        update(harness, "a", artifacts=[one], run_id=run_id)


def test_a_thousand_artifacts_in_one_report_and_as_many_again(reviewer: Caller, harness: Caller) -> None:
    new_run(reviewer, "a")
    for half in range(2):
        write = update(
            harness,
            "a",
            artifacts=[{"artifact_id": f"{half}-{i}", "type": "t", "data": {"i": i}} for i in range(1_000)],
        )
    assert [made["artifact_id"] for made in write.minimal["state"]["artifacts"]] == [
        f"{half}-{i}" for half in range(2) for i in range(1_000)
    ]
    assert_agrees(harness, write)
    with refused(Conflict, "1-7"):
        update(
            harness,
            "a",
            artifacts=[{"artifact_id": f"{n}", "type": "t", "ref": "r"} for n in range(999)]
            + [{"artifact_id": "1-7", "type": "t", "ref": "r"}],
        )


# -- Who, and at which moment ------------------------------------------------------------------------


def test_who_may_not_work_may_not_report(reviewer: Caller, viewer: Caller) -> None:
    new_run(reviewer)
    with refused(Forbidden, "report on a step"):
        update(viewer, "a", "running")


def test_a_report_keeps_its_door_and_its_principal(reviewer: Caller, harness: Caller) -> None:
    new_run(reviewer)
    update(harness, "a", "running")
    update(reviewer, "a", "completed")
    assert list(Report.objects.values_list("actor", "via")) == [("planner", "rest"), ("rita", "rest")]
    entries = AuditEntry.objects.filter(event="step.updated").order_by("id")
    assert list(entries.values_list("actor", flat=True)) == ["planner", "rita"]


def test_a_stale_if_match_is_refused(reviewer: Caller, harness: Caller) -> None:
    new_run(reviewer)
    update(harness, "a", "running", if_match=1)
    with refused(PreconditionFailed, "revision 2") as caught:
        update(harness, "a", "completed", if_match=1)
    assert (caught.value.details["revision"], caught.value.details["given"]) == (2, 1)
    update(harness, "a", "completed", if_match=2)


PLAN = ("a", "b", loop("l", ["x"]), task("x"), checkpoint("gate"), checkpoint("second"), "asker")


def arrange(reviewer: Caller, harness: Caller) -> str:
    """A run with something of every kind going on; the open question's id."""
    new_run(reviewer, *PLAN)
    register(harness, "l")
    update(harness, "gate", "running")
    update(harness, "second", "running")
    return asked(harness, "asker")


def everything_goes_on(reviewer: Caller, harness: Caller, question: str, status: str) -> None:
    for act in (
        lambda: update(harness, "b", "running"),
        lambda: update(harness, "b", "completed"),
        lambda: register(harness, "l"),
        lambda: update(harness, "l/inst_00/x", "running"),
        lambda: update_instance(harness, "l/inst_01"),
        lambda: update_instance(harness, "l/inst_01", "completed"),
        lambda: answer(reviewer, "asker", question),
        lambda: withdraw(
            harness, "asker", ask(harness, "asker").minimal["state"]["questions"][-1]["question_id"]
        ),
        lambda: resolve(reviewer, "gate"),
        lambda: mark(reviewer, "a", "old"),
    ):
        write = act()
        assert write.minimal["run_status"] == status
        assert_agrees(harness, write)
    assert_derived()


def test_a_paused_run_takes_everything_and_stays_paused(reviewer: Caller, harness: Caller) -> None:
    question = arrange(reviewer, harness)
    propose(harness, insert_after("a", task("n")))
    everything_goes_on(reviewer, harness, question, "paused_for_approval")
    with refused(InvariantViolation, "one pending amendment"):
        propose(harness, insert_after("a", task("m")))


def test_a_failed_run_takes_everything(reviewer: Caller, harness: Caller) -> None:
    question = arrange(reviewer, harness)
    update(harness, "a", "failed")
    everything_goes_on(reviewer, harness, question, "failed")
    propose(harness, replay("a"), kind="history_edit")


def refusing(reviewer: Caller, harness: Caller, question: str) -> list[Callable[[], Any]]:
    return [
        lambda: update(harness, "a", "running"),
        lambda: update(harness, "l", instances_closed=True),
        lambda: register(harness, "l"),
        lambda: update(harness, "l/inst_00/x", "running"),
        lambda: update_instance(harness, "l/inst_00"),
        lambda: ask(harness, "asker"),
        lambda: answer(reviewer, "asker", question),
        lambda: withdraw(harness, "asker", question),
        lambda: resolve(reviewer, "gate"),
    ]


def test_a_cancelled_run_takes_nothing_but_comments_and_marks(reviewer: Caller, harness: Caller) -> None:
    question = arrange(reviewer, harness)
    update(harness, "b", artifacts=[{"artifact_id": "one", "type": "t", "ref": "r"}])
    cancel_run(caller=reviewer, run_id="r1", reason="no money")
    for attempt in refusing(reviewer, harness, question):
        with refused(InvalidTransition, "cancelled"):
            attempt()
    comment(reviewer, "one")
    for path in ("a", "l", "l/inst_00", "l/inst_00/x", "gate"):
        write = mark(reviewer, path, "never counted")
        assert write.minimal["run_status"] == "cancelled"
        assert_agrees(reviewer, write)


def test_a_completed_run_takes_amendments_marks_and_comments_and_no_reports(
    reviewer: Caller, harness: Caller
) -> None:
    question = arrange(reviewer, harness)
    answer(reviewer, "asker", question)
    for path in ("a", "b", "asker", "l/inst_00/x"):
        update(harness, path, "completed", artifacts=[{"artifact_id": path[-1:], "type": "t", "ref": "r"}])
    for path in ("gate", "second"):
        resolve(reviewer, path)
    assert update(harness, "l", instances_closed=True).minimal["run_status"] == "completed"
    for attempt in refusing(reviewer, harness, question):
        with refused(InvalidTransition, "immutable|decided|answered|only a running step asks"):
            attempt()
    comment(reviewer, "a")
    assert mark(reviewer, "a", "old").minimal["run_status"] == "completed"
    amend(reviewer, replay("a"), kind="history_edit")
    assert Run.objects.get().status == "running"


def left_open_in_a_completed_run(reviewer: Caller, harness: Caller) -> str:
    """A tolerated branch failed fast: the work beside it is open, though the run is completed. The question asked."""
    new_run(
        reviewer,
        loop("out", ["in"], on_instance_failure="continue"),
        parallel("in", ["x"]),
        task("x"),
    )
    register(harness, "out")
    for _ in range(4):
        register(harness, "out/inst_00/in")
    question = asked(harness, "out/inst_00/in/inst_02/x")
    update(harness, "out/inst_00/in/inst_03/x", "running")
    update(harness, "out", instances_closed=True)
    assert update(harness, "out/inst_00/in/inst_00/x", "failed").minimal["run_status"] == "completed"
    return question


def test_a_completed_run_takes_no_reports_on_what_was_left_open_in_it(
    reviewer: Caller, harness: Caller
) -> None:
    question = left_open_in_a_completed_run(reviewer, harness)
    branches = "out/inst_00/in"
    for attempt in (
        lambda: update(harness, f"{branches}/inst_01/x", "completed"),
        lambda: update_instance(harness, f"{branches}/inst_01"),
        lambda: update_instance(harness, f"{branches}/inst_01", "running"),
        lambda: ask(harness, f"{branches}/inst_03/x"),
        lambda: answer(reviewer, f"{branches}/inst_02/x", question),
        lambda: withdraw(harness, f"{branches}/inst_02/x", question),
    ):
        with refused(InvalidTransition, "completed"):
            attempt()
    mark(reviewer, f"{branches}/inst_01/x", "cut short")


# -- Taking back -------------------------------------------------------------------------------------


def test_a_step_taken_back_to_pending_has_no_times(reviewer: Caller, harness: Caller) -> None:
    new_run(reviewer, "a")
    assert update(harness, "a", "running").minimal["state"]["started_at"] is not None
    write = update(harness, "a", "pending")
    assert (write.minimal["state"]["started_at"], write.minimal["state"]["completed_at"]) == (None, None)
    assert_agrees(harness, write)


def test_a_step_taken_back_behind_a_failure_is_skipped_with_what_waits_for_it(
    reviewer: Caller, harness: Caller
) -> None:
    new_run(reviewer, "a", task("b", depends_on=["a"]), task("c", depends_on=["b"]))
    update(harness, "b", "running")
    update(harness, "a", "failed")
    write = update(harness, "b", "pending")
    assert (write.minimal["state"]["status"], write.minimal["state"]["skip_cause"]) == (
        "skipped",
        "dependency",
    )
    assert "'a'" in write.minimal["state"]["summary"]
    assert state(harness, "c")["status"] == "skipped"
    assert_agrees(harness, write)
    assert_derived()


def test_a_failed_instance_keeps_its_body_when_steps_leave_it(reviewer: Caller, harness: Caller) -> None:
    """Finished instances keep theirs: what is left of it takes reports, though the plan says otherwise now."""
    new_run(
        reviewer,
        loop("l", ["x", "y", "gate"]),
        task("x"),
        task("y"),
        checkpoint("gate", depends_on=["y"]),
    )
    register(harness, "l")
    update(harness, "l/inst_00/x", "failed")
    amend(reviewer, change(loop("l", ["x"])), kind="history_edit")
    assert state(harness, "l/inst_00")["body"] == ["x", "y", "gate"]
    for act in (
        lambda: update(harness, "l/inst_00/y", "running"),
        lambda: update(harness, "l/inst_00/y", "pending"),
        lambda: update(harness, "l/inst_00/gate", "running"),
        lambda: resolve(reviewer, "l/inst_00/gate"),
        lambda: update(harness, "l/inst_00/y", "failed"),
        lambda: update(harness, "y", "completed"),
    ):
        write = act()
        assert_derived()
        assert_agrees(harness, write)
    made = amend(reviewer, remove("gate"), kind="history_edit")["amendment_id"]
    with refused(InvalidTransition, made):
        update(harness, "gate", "running")
    assert_derived()
