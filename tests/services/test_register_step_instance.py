"""Registering an iteration or a branch (contract 3, ``InstanceCreate``)."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from chief_project.shared.caller import Caller
from chief_project.shared.errors import (
    Conflict,
    Forbidden,
    InvalidTransition,
    InvariantViolation,
    ValidationFailed,
)
from chief_project.shared.models import AuditEntry
from runs.models import Report, StepInstance
from runs.selectors.runs import get_run
from tests.amendments import amend, remove, replay
from tests.amendments import update as change
from tests.branches import multiply
from tests.derivation import assert_derived
from tests.plans import checkpoint, loop, parallel, task
from tests.refusals import refused
from tests.run_calls import assert_agrees, node_at, register, update
from tests.runs import new_run

pytestmark = pytest.mark.django_db


def names(caller: Caller, path: str = "l") -> list[tuple[int, str]]:
    instances = node_at(get_run(caller=caller, run_id="r1"), path)["instances"]
    return [(each["index"], each["instance_id"]) for each in instances]


def params(*names: str, **keys: Any) -> list[dict[str, Any]]:
    return [{"name": name} | keys for name in names]


# -- What is registered ------------------------------------------------------------------------------


@pytest.mark.parametrize(("make", "kind"), [(loop, "iteration"), (parallel, "branch")])
def test_an_instance_has_a_pending_state_per_step_of_its_body(
    reviewer: Caller, harness: Caller, make: Any, kind: str
) -> None:
    new_run(reviewer, make("l", ["y", "x", "in"]), task("x"), task("y"), loop("in", ["z"]), task("z"))
    write = register(harness, "l", summary="The first.", metadata={"seed": 0})
    whole = write.full()
    assert {name: value for name, value in whole.items() if name != "step_states"} == {
        "instance_id": "inst_00",
        "parent_step_id": "l",
        "kind": kind,
        "index": 0,
        "status": "pending",
        "summary": "The first.",
        "artifacts": [],
        "metadata": {"seed": 0},
        "started_at": None,
        "completed_at": None,
        "body": ["y", "x", "in"],
        "stale": None,
        "history": [],
        "failures": 0,
    }
    assert list(whole["step_states"]) == ["y", "x", "in"]
    assert {state["status"] for state in whole["step_states"].values()} == {"pending"}
    assert whole["step_states"]["in"]["instances"] == []
    assert whole == node_at(get_run(caller=harness, run_id="r1"), "l/inst_00")
    assert_agrees(harness, write)
    assert_derived()


def test_the_construct_runs_from_its_first_instance_on(reviewer: Caller, harness: Caller) -> None:
    new_run(reviewer, loop("l", ["x"]), task("x"))
    register(harness, "l")
    fan = node_at(get_run(caller=harness, run_id="r1"), "l")
    assert fan["status"] == "running"
    assert fan["started_at"] is not None


def test_next_names_the_ready_steps_of_the_new_body(reviewer: Caller, harness: Caller) -> None:
    new_run(
        reviewer,
        loop("l", ["x", "y", "gate", "in"]),
        task("x"),
        task("y", depends_on=["x"]),
        checkpoint("gate"),
        loop("in", ["z"]),
        task("z"),
    )
    write = register(harness, "l")
    assert write.minimal["path"] == "l/inst_00"
    assert [(item["path"], item["type"]) for item in write.minimal["next"]["items"]] == [
        ("l/inst_00/x", "task"),
        ("l/inst_00/gate", "checkpoint"),
        ("l/inst_00/in", "loop"),
    ]
    assert_agrees(harness, write)
    deep = register(harness, "l/inst_00/in")
    assert [item["path"] for item in deep.minimal["next"]["items"]] == ["l/inst_00/in/inst_00/z"]
    assert_agrees(harness, deep)


def test_next_names_twenty_steps_at_most(reviewer: Caller, harness: Caller) -> None:
    body = [f"s{place}" for place in range(24)]
    new_run(reviewer, loop("l", body), *map(task, body))
    offered = register(harness, "l").minimal["next"]
    assert ([item["step_id"] for item in offered["items"]], offered["more"]) == (body[:20], 4)


def test_a_registration_is_logged_and_audited(reviewer: Caller, harness: Caller) -> None:
    new_run(reviewer, loop("l", ["x"]), task("x"))
    write = register(harness, "l", index=3, metadata={"a": [1]})
    assert Report.objects.values_list("kind", "path", "payload").get() == (
        "instance_registered",
        "l/inst_03",
        {"index": 3, "metadata": {"a": [1]}},
    )
    entry = AuditEntry.objects.get(event="instance.registered")
    assert (entry.actor, entry.via, entry.run_id) == ("planner", "rest", "r1")
    assert get_run(caller=harness, run_id="r1")["last_report_at"] is not None
    assert write.minimal["revision"] == 2


def test_an_instance_keeps_the_body_it_was_spawned_with(reviewer: Caller, harness: Caller) -> None:
    new_run(reviewer, loop("l", ["x"]), task("x"), "y")
    register(harness, "l")
    update(harness, "l/inst_00/x", "completed")
    amend(reviewer, change(loop("l", ["x", "y"])))
    assert node_at(get_run(caller=harness, run_id="r1"), "l/inst_00")["body"] == ["x"]
    assert register(harness, "l").full()["body"] == ["x", "y"]
    assert_derived()


# -- Index and id ------------------------------------------------------------------------------------


def test_index_and_id_default_to_the_next_free_ones(reviewer: Caller, harness: Caller) -> None:
    new_run(reviewer, loop("l", ["x"]), task("x"))
    for keys in ({}, {}, {"index": 7}, {}, {"index": 3}, {}):
        register(harness, "l", **keys)
    assert names(harness) == [
        (0, "inst_00"),
        (1, "inst_01"),
        (3, "inst_03"),
        (7, "inst_07"),
        (8, "inst_08"),
        (9, "inst_09"),
    ]


def test_the_number_in_an_id_has_two_digits_at_least(reviewer: Caller, harness: Caller) -> None:
    new_run(reviewer, loop("l", ["x"]), task("x"))
    for index in (9, 10, 100, 2**31 - 1):
        register(harness, "l", index=index)
    assert [name for _, name in names(harness)] == ["inst_09", "inst_10", "inst_100", "inst_2147483647"]


def test_after_the_largest_index_the_next_is_one_more(reviewer: Caller, harness: Caller) -> None:
    new_run(reviewer, loop("l", ["x"]), task("x"))
    register(harness, "l", index=2**31 - 1)
    write = register(harness, "l")
    assert write.minimal["state"]["index"] == 2**31
    register(harness, "l", index=0)
    assert [index for index, _ in names(harness)] == [0, 2**31 - 1, 2**31]


def test_a_default_id_that_somebody_took_gives_way_to_the_next_free_one(
    reviewer: Caller, harness: Caller
) -> None:
    new_run(reviewer, loop("l", ["x"]), task("x"))
    register(harness, "l", instance_id="inst_01")
    register(harness, "l", instance_id="inst_02")
    for _ in range(3):
        register(harness, "l")
    assert names(harness) == [
        (0, "inst_01"),
        (1, "inst_02"),
        (2, "inst_03"),
        (3, "inst_04"),
        (4, "inst_05"),
    ]


def test_a_taken_default_id_costs_the_same_however_many_instances_there_are(
    reviewer: Caller, harness: Caller
) -> None:
    new_run(reviewer, loop("l", ["x"]), task("x"))
    register(harness, "l")
    multiply("r1", "l/inst_00", 3_000)
    StepInstance.objects.filter(index=0).update(instance_id="inst_3000")
    with CaptureQueriesContext(connection) as taken:
        write = register(harness, "l")
    assert write.minimal["state"]["instance_id"] == "inst_3001"
    with CaptureQueriesContext(connection) as taken_again:
        write = register(harness, "l")
    assert write.minimal["state"]["instance_id"] == "inst_3002"
    assert len(taken_again) <= len(taken)
    assert not [
        query for query in taken if "LIKE" in query["sql"].upper()
    ]  # nothing reads every instance's id


def test_ids_and_indexes_count_within_their_construct_only(reviewer: Caller, harness: Caller) -> None:
    new_run(reviewer, loop("l", ["in"]), loop("in", ["x"]), task("x"), loop("m", ["y"]), task("y"))
    register(harness, "l", instance_id="same", index=4)
    register(harness, "m", instance_id="same", index=4)
    register(harness, "l/same/in", instance_id="same", index=4)
    register(harness, "l", instance_id="other")
    register(harness, "l/other/in", instance_id="same", index=4)
    update(harness, "l/same/in/same/x", "completed")
    assert node_at(get_run(caller=harness, run_id="r1"), "l/other/in/same/x")["status"] == "pending"


@pytest.mark.parametrize("index", [0, 2])
def test_a_used_index_is_a_conflict(reviewer: Caller, harness: Caller, index: int) -> None:
    new_run(reviewer, loop("l", ["x"]), task("x"))
    register(harness, "l", index=0)
    register(harness, "l", index=2)
    with refused(Conflict, f"index {index} .*3") as caught:
        register(harness, "l", index=index)
    assert caught.value.details["index"] == index
    with refused(Conflict, f"index {index}"):
        register(harness, "l", index=index, instance_id="another")


def test_a_used_id_is_a_conflict(reviewer: Caller, harness: Caller) -> None:
    new_run(reviewer, loop("l", ["x"]), task("x"))
    register(harness, "l", instance_id="mine")
    with refused(Conflict, "mine") as caught:
        register(harness, "l", instance_id="mine")
    assert caught.value.details["instance_id"] == "mine"
    register(harness, "l", instance_id="MINE")


@pytest.mark.parametrize("name", ["", "..", "a/b", "ä", "x" * 201])
def test_what_can_be_no_id_is_refused(reviewer: Caller, harness: Caller, name: str) -> None:
    new_run(reviewer, loop("l", ["x"]), task("x"))
    with refused(ValidationFailed, "instance_id"):
        register(harness, "l", instance_id=name)


def test_a_replayed_construct_counts_from_zero_again(reviewer: Caller, harness: Caller) -> None:
    new_run(reviewer, loop("l", ["x"]), task("x"))
    for _ in range(2):
        register(harness, "l")
    for name in ("inst_00", "inst_01"):
        update(harness, f"l/{name}/x", "completed")
    update(harness, "l", instances_closed=True)
    amend(reviewer, replay("l"), kind="history_edit")
    assert names(harness) == []
    register(harness, "l")
    assert names(harness) == [(0, "inst_00")]
    assert_derived()


# -- Refusals ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "wrong", "right"), [("l", "branch", "iteration"), ("p", "iteration", "branch")]
)
def test_a_wrong_kind_is_refused_and_the_right_one_taken(
    reviewer: Caller, harness: Caller, path: str, wrong: str, right: str
) -> None:
    new_run(reviewer, loop("l", ["x"]), task("x"), parallel("p", ["y"]), task("y"))
    with refused(ValidationFailed, right) as caught:
        register(harness, path, kind=wrong)
    assert caught.value.details["pointer"] == "/kind"
    assert register(harness, path, kind=right).minimal["state"]["kind"] == right


def test_only_a_construct_has_instances(reviewer: Caller, harness: Caller) -> None:
    new_run(reviewer, "a", checkpoint("gate"), loop("l", ["x"]), task("x"))
    register(harness, "l")
    for path in ("a", "gate", "l/inst_00/x"):
        with refused(ValidationFailed, "only a loop or parallel"):
            register(harness, path)


def test_a_closed_construct_takes_no_more(reviewer: Caller, harness: Caller) -> None:
    new_run(reviewer, loop("l", ["x"]), task("x"), "a")
    register(harness, "l")
    update(harness, "l", instances_closed=True)
    with refused(InvariantViolation, r"closed.*replay_step"):
        register(harness, "l")


def test_a_finished_construct_takes_no_more(reviewer: Caller, harness: Caller) -> None:
    new_run(reviewer, loop("l", ["x"]), task("x"), loop("m", ["y"]), task("y"), "a")
    update(harness, "l", instances_closed=True)
    register(harness, "m")
    update(harness, "m/inst_00/y", "failed")
    for path in ("l", "m"):
        with refused(InvalidTransition, r"immutable.*replay_step"):
            register(harness, path)


def test_required_parameters_are_asked_for_once_and_named(reviewer: Caller, harness: Caller) -> None:
    fan = parallel("p", ["x"], instance_params=params("paper", "seed") + params("note", required=False))
    new_run(reviewer, fan, task("x"))
    for metadata, missing in (
        ({}, ["paper", "seed"]),
        ({"paper": None, "seed": 0}, ["paper"]),
        ({"paper": "  ", "seed": ""}, ["paper", "seed"]),
        ({"note": "x", "paper": "a"}, ["seed"]),
    ):
        with refused(ValidationFailed, missing[0]) as caught:
            register(harness, "p", metadata=metadata)
        assert caught.value.details["missing"] == missing
        assert caught.value.details["pointer"] == "/metadata"
    with refused(ValidationFailed, "paper"):
        register(harness, "p")
    for metadata in ({"paper": 0, "seed": False}, {"paper": [], "seed": {}}, {"paper": "a", "seed": 0.0}):
        extra = metadata | {"tokens": 12, "note": None}
        assert register(harness, "p", metadata=extra).minimal["state"]["metadata"] == extra


def test_branches_that_are_registered_already_need_no_new_parameter(
    reviewer: Caller, harness: Caller
) -> None:
    new_run(reviewer, parallel("p", ["x"]), task("x"))
    register(harness, "p")
    amend(reviewer, change(parallel("p", ["x"], instance_params=params("paper"))))
    update(harness, "p/inst_00/x", "completed")
    with refused(ValidationFailed, "paper"):
        register(harness, "p")


def test_a_construct_whose_step_left_the_plan_takes_no_more_instances(
    reviewer: Caller, harness: Caller
) -> None:
    new_run(
        reviewer,
        parallel("p", ["l", "y"], on_instance_failure="continue"),
        loop("l", ["x"]),
        task("x"),
        task("y"),
    )
    for name in ("inst_00", "inst_01"):
        register(harness, "p")
        register(harness, f"p/{name}/l")
    register(harness, "p/inst_00/l")
    amend(reviewer, change(parallel("p", ["l", "y"])))
    update(harness, "p/inst_00/y", "failed")
    scope = {"instance_path": "p/inst_01/l/inst_00"}
    amend(reviewer, remove("x", **scope), remove("l", instance_id="inst_01"))
    assert node_at(get_run(caller=harness, run_id="r1"), "p/inst_00/l")["status"] == "running"
    with refused(InvariantViolation, "out of the plan"):
        register(harness, "p/inst_00/l")
    update(harness, "p/inst_00/l/inst_01/x", "completed")
    assert_derived("r1")


def test_a_viewer_may_not_register(reviewer: Caller, viewer: Caller) -> None:
    new_run(reviewer, loop("l", ["x"]), task("x"))
    with refused(Forbidden, "register an instance"):
        register(viewer, "l")
