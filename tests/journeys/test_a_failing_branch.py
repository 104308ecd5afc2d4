"""A branch fails, under both policies, and is replayed by an amendment of the history: over REST."""

from __future__ import annotations

from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command

from tests.derivation import assert_derived
from tests.journeys.conftest import Client
from tests.plans import parallel, plan, task

pytestmark = pytest.mark.django_db


def running(agent: Client, person: Client, policy: str) -> None:
    """Three branches of ``try`` then ``judge``; ``report`` waits for all of them. The second branch fails."""
    steps = [
        parallel("race", ["try", "judge"], on_instance_failure=policy),
        task("try"),
        task("judge", depends_on=["try"]),
        task("report", depends_on=["race"]),
    ]
    agent.post("/workflows", plan(*steps, workflow_id="w1"), status=201)
    person.post("/workflows/w1/approve")
    agent.post("/workflows/w1/runs", {"run_id": "r1"}, status=201)
    for variant in "abc":
        agent.post("/runs/r1/steps/race/instances", {"metadata": {"variant": variant}}, status=201)
    for step in ("try", "judge"):
        branch(agent, 0, step, "completed")
    branch(agent, 1, "try", "running")
    branch(
        agent, 1, "try", "failed", artifacts=[{"artifact_id": "log", "type": "text/plain", "data": "boom"}]
    )


def branch(agent: Client, place: int, step: str, status: str, **keys: Any) -> Any:
    body = {"summary": f"{step} is {status}", "status": status} | keys
    return agent.post(f"/runs/r1/state/race/inst_{place:02d}/{step}/updates", body)


def replay(agent: Client, person: Client, **scope: str) -> Any:
    """Propose to replay, as history, and have it approved; a forward one is told what it is."""
    body = {
        "proposed_by": "planner",
        "kind": "forward",
        "reason": "The machine was out of memory.",
        "operations": [{"op": "replay_step"} | scope],
    }
    refused = agent.post("/runs/r1/amendments", body, status=409)["error"]
    assert refused["details"]["required_kind"] == "history_edit"
    made = agent.post("/runs/r1/amendments", body | {"kind": "history_edit"}, status=201)
    (waits,) = (each for each in person.get("/waiting") if each["kind"] == "amendment")
    assert waits["amendment_id"] == made["amendment_id"]
    person.post(f"/amendments/{made['amendment_id']}/approve", {"reason": "Once more."})
    assert_derived()
    return agent.get("/runs/r1")


def test_under_fail_fast_the_run_fails_until_the_branch_is_replayed(agent: Client, person: Client) -> None:
    running(agent, person, "fail_fast")
    run = agent.get("/runs/r1")
    race = run["step_states"]["race"]
    assert (run["status"], race["status"], race["failures"]) == ("failed", "failed", 0)
    assert [each["status"] for each in race["instances"]] == ["completed", "failed", "pending"]
    assert race["instances"][1]["step_states"]["judge"]["skip_cause"] == "dependency"
    assert "'try'" in race["instances"][1]["step_states"]["judge"]["summary"]
    assert run["step_states"]["report"]["skip_cause"] == "dependency"
    refused = agent.post("/runs/r1/steps/report/updates", {"summary": "x", "status": "running"}, status=409)
    assert "'race', which failed" in refused["error"]["message"]
    assert "replay_step" in refused["error"]["message"]
    agent.post("/runs/r1/steps/race/instances", {}, status=409)
    (waits,) = person.get("/waiting")
    assert (waits["kind"], waits["failed_steps"][0]["path"]) == ("failed_run", "race")
    person.post("/runs/r1/acknowledge")
    assert person.get("/waiting") == []

    run = replay(agent, person, target_step_id="race", instance_id="inst_01")
    assert (run["status"], run["acknowledged"]) == ("running", None)
    race = run["step_states"]["race"]
    assert (race["status"], run["step_states"]["report"]["status"]) == ("running", "pending")
    again = race["instances"][1]
    assert (again["status"], again["step_states"]["judge"]["status"]) == ("pending", "pending")
    assert again["history"][0]["step_states"]["try"]["artifacts"][0]["data"] == "boom"
    for place in (1, 2):
        for step in ("try", "judge"):
            branch(agent, place, step, "completed")
    agent.post("/runs/r1/steps/race/updates", {"summary": "All three.", "instances_closed": True})
    done = agent.post("/runs/r1/steps/report/updates", {"summary": "Written.", "status": "completed"})
    assert done["status"] == "completed"
    assert_derived()
    call_command("verify_audit", stdout=StringIO())


def test_under_continue_the_run_goes_on_and_tells_what_failed(agent: Client, person: Client) -> None:
    running(agent, person, "continue")
    run = agent.get("/runs/r1")
    race = run["step_states"]["race"]
    assert (run["status"], race["status"], race["failures"]) == ("running", "running", 1)
    second = race["instances"][1]
    assert (second["status"], second["failures"]) == ("completed", 1)
    assert [second["step_states"][step]["status"] for step in ("try", "judge")] == ["failed", "skipped"]
    assert run["step_states"]["report"]["status"] == "pending"
    assert person.get("/waiting") == []
    for step in ("try", "judge"):
        branch(agent, 2, step, "completed")
    closed = agent.post("/runs/r1/steps/race/updates", {"summary": "Over.", "instances_closed": True})
    assert (closed["step_states"]["race"]["status"], closed["step_states"]["race"]["failures"]) == (
        "completed",
        1,
    )
    agent.post("/runs/r1/steps/report/updates", {"summary": "Begun.", "status": "running"})

    # Only the failed copy of the step is replayed: the others finished well, and the construct opens for it alone.
    run = replay(agent, person, target_step_id="try", instance_id="inst_01")
    race = run["step_states"]["race"]
    assert (race["status"], race["failures"]) == ("running", 0)
    assert [each["status"] for each in race["instances"]] == ["completed", "pending", "completed"]
    assert race["instances_closed"] is True
    retried = race["instances"][1]["step_states"]
    assert retried["try"]["history"][0]["status"] == "failed"
    assert retried["judge"]["status"] == "pending"
    assert run["step_states"]["report"]["status"] == "running"  # what ran keeps its state
    for step in ("try", "judge"):
        branch(agent, 1, step, "completed")
    done = agent.post("/runs/r1/steps/report/updates", {"summary": "Written.", "status": "completed"})
    assert done["status"] == "completed"
    assert_derived()
    call_command("verify_audit", stdout=StringIO())
