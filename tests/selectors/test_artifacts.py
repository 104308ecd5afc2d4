"""One artifact, with what was said about it and where it comes from, in a fixed number of statements."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from chief_project.shared.caller import Caller
from chief_project.shared.errors import NotFound
from runs.models import Artifact
from runs.selectors.kept import get_artifact
from tests.amendments import amend, replay
from tests.plans import parallel, task
from tests.run_calls import comment, update, update_instance
from tests.runs import add_instance, new_run

pytestmark = pytest.mark.django_db

STEPS = [
    task("a", goal="Read it"),
    parallel("p", ["x"], instance_params=[{"name": "paper"}], depends_on=["a"]),
    task("x", goal="Read {{ paper }}"),
]


def a_run(reviewer: Caller, harness: Caller) -> None:
    new_run(reviewer, *STEPS)
    brought = {"artifact_id": "one", "type": "text/plain", "description": "The first", "ref": "out/one.txt"}
    update(
        harness,
        "a",
        "completed",
        artifacts=[brought, {"artifact_id": "two", "type": "note", "data": {"n": 1}}],
    )
    add_instance(harness, "p", metadata={"paper": "p0"})
    update(
        harness, "p/inst_00/x", artifacts=[{"artifact_id": "three", "type": "image/png", "ref": "out/3.png"}]
    )
    update_instance(
        harness, "p/inst_00", artifacts=[{"artifact_id": "four", "type": "note", "data": None, "ref": "4"}]
    )


def read(caller: Caller, artifact_id: str) -> dict[str, Any]:
    return get_artifact(caller=caller, run_id="r1", artifact_id=artifact_id)


def test_an_artifact_tells_what_it_is_where_it_comes_from_and_what_was_said(
    reviewer: Caller, harness: Caller, viewer: Caller
) -> None:
    a_run(reviewer, harness)
    comment(reviewer, "one", "First.")
    comment(reviewer, "one", "Second.")
    made = read(viewer, "one")
    assert (made["type"], made["description"], made["ref"], made["data"]) == (
        "text/plain",
        "The first",
        "out/one.txt",
        None,
    )
    assert (made["path"], made["step_id"], made["goal"], made["superseded"]) == ("a", "a", "Read it", False)
    assert [said["body"] for said in made["comments"]] == ["First.", "Second."]
    reported = made["reported"]
    assert (reported["by"], reported["number"]) == ("planner", 1)
    assert reported["at"] == Artifact.objects.get(artifact_id="one").created_at


def test_an_artifact_of_a_branch_names_it_and_its_goal_is_the_branch_s(
    reviewer: Caller, harness: Caller
) -> None:
    a_run(reviewer, harness)
    assert (read(harness, "three")["path"], read(harness, "three")["goal"]) == ("p/inst_00/x", "Read p0")
    assert (read(harness, "four")["path"], read(harness, "four")["step_id"]) == ("p/inst_00", "p")


def test_the_ones_before_and_after_it_are_named(reviewer: Caller, harness: Caller) -> None:
    a_run(reviewer, harness)
    ways = [(read(harness, name)["previous"], read(harness, name)["next"]) for name in ("one", "two", "four")]
    assert ways == [(None, "two"), ("one", "three"), ("three", None)]


def test_a_superseded_one_still_tells_where_it_was_reported(reviewer: Caller, harness: Caller) -> None:
    a_run(reviewer, harness)
    amend(reviewer, replay("a"), kind="history_edit")
    made = read(reviewer, "one")
    assert (made["superseded"], made["path"], made["goal"]) == (True, "a", "Read it")
    assert made["reported"]["by"] == "planner"


@pytest.mark.parametrize(
    ("run_id", "artifact_id", "said"),
    [("r1", "nine", "run 'r1' has no artifact 'nine'"), ("r9", "one", "no run 'r9'")],
)
def test_what_is_not_there_is_named(
    reviewer: Caller, harness: Caller, run_id: str, artifact_id: str, said: str
) -> None:
    a_run(reviewer, harness)
    with pytest.raises(NotFound, match=said):
        get_artifact(caller=reviewer, run_id=run_id, artifact_id=artifact_id)


@pytest.mark.parametrize("count", [1, 30])
def test_it_costs_the_same_however_much_there_is(reviewer: Caller, harness: Caller, count: int) -> None:
    a_run(reviewer, harness)
    for number in range(count):
        comment(reviewer, "three")
        update(
            harness, "p/inst_00/x", artifacts=[{"artifact_id": f"more{number}", "type": "note", "ref": "x"}]
        )
    read(reviewer, "three")
    with CaptureQueriesContext(connection) as caught:
        read(reviewer, "three")
    assert len(caught) == 7
