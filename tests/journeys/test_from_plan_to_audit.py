"""A plan's whole life over REST: noted, sent back, revised, approved, run, asked about, amended, finished, audited."""

from __future__ import annotations

from io import StringIO
from itertools import pairwise

import pytest
from django.core.management import call_command

from tests.derivation import assert_derived
from tests.journeys.conftest import Client
from tests.plans import checkpoint, parallel, plan, task

pytestmark = pytest.mark.django_db


def first_draft() -> list[dict[str, object]]:
    return [
        task("collect", criteria=["Every source is named"]),
        parallel("read", ["summarise"], depends_on=["collect"], instance_params=[{"name": "paper"}]),
        task("summarise"),
        task("write", depends_on=["read"]),
    ]


def second_draft() -> list[dict[str, object]]:
    *steps, write = first_draft()
    gate = checkpoint("gate", depends_on=["read"], fields=[{"name": "audience"}])
    return [*steps, gate, write | {"depends_on": ["gate"]}]


def test_a_plan_is_reviewed_run_amended_and_finished_and_the_log_tells_it(
    agent: Client, person: Client
) -> None:
    # The harness plans; a person reads, notes, and sends it back.
    made = agent.post("/workflows", plan(*first_draft(), workflow_id="w1", project="papers"), status=201)
    assert (made["status"], made["review"]["state"]) == ("draft", "waiting")
    (waits,) = person.get("/waiting")
    assert (waits["kind"], waits["workflow_id"]) == ("draft", "w1")
    agent.post("/workflows/w1/notes", {"body": "Looks good to me."}, status=403)
    note = person.post(
        "/workflows/w1/notes", {"body": "Who is it for? Ask before writing.", "step_id": "write"}, status=201
    )
    agent.post("/workflows/w1/runs", status=409)
    person.post("/workflows/w1/send-back", {"reason": "One gate is missing."})
    assert person.get("/waiting") == []  # it waits for its harness now

    # The harness reads what is wanted, and revises.
    seen = agent.get("/workflows/w1")
    assert seen["review"]["state"] == "sent_back"
    assert [each["body"] for each in seen["review_notes"]] == [note["body"]]
    revised = agent.put("/workflows/w1", {"title": "A plan", "steps": second_draft(), "reason": "A gate."})
    assert (revised["revision"], revised["version"], revised["review"]["state"]) == (2, 1, "waiting")
    difference = person.get("/workflows/w1/diff?from=r1&to=r2")
    assert "gate" in str(difference)
    person.post("/workflows/w1/approve", {"revision": 1}, status=412)
    person.patch(f"/workflows/w1/notes/{note['note_id']}", {"resolved": True})
    approved = person.post("/workflows/w1/approve", {"revision": 2, "reason": "Go."})
    assert approved["status"] == "approved"

    # The run: report, branch out, ask, wait for a person.
    run = agent.post("/workflows/w1/runs", {"run_id": "r1", "metadata": {"seed": 1}}, status=201)
    assert list(run["step_states"]) == ["collect", "read", "gate", "write"]
    todo = agent.get("/runs/r1/next")
    assert [step["path"] for step in todo["ready"]] == ["collect"]
    agent.post("/runs/r1/steps/collect/updates", {"summary": "Begun.", "status": "running"})
    refused = agent.post(
        "/runs/r1/steps/collect/updates", {"summary": "Done.", "status": "completed"}, status=409
    )
    assert refused["error"]["details"]["unmet"] == [{"id": "c1", "text": "Every source is named"}]
    told = agent.post(
        "/runs/r1/steps/collect/updates",
        {
            "summary": "Two papers.",
            "status": "completed",
            "criteria_met": {"c1": "See the list."},
            "artifacts": [{"artifact_id": "sources", "type": "text/plain", "data": "one\ntwo"}],
        },
        Prefer="return=minimal",
    )
    assert [item["path"] for item in told["next"]["items"]] == ["read"]
    agent.post("/runs/r1/steps/read/instances", {"metadata": {}}, status=422)
    for paper in ("one", "two"):
        agent.post("/runs/r1/steps/read/instances", {"metadata": {"paper": paper}}, status=201)
    agent.post("/runs/r1/steps/read/instances/inst_00/updates", {"summary": "Short.", "status": "completed"})
    second = "/runs/r1/steps/read/instances/inst_01/steps/summarise"
    agent.post(f"{second}/updates", {"summary": "Begun.", "status": "running"})
    asked = agent.post("/runs/r1/questions/read/inst_01/summarise", {"text": "Which edition?"}, status=201)
    assert asked["status"] == "waiting_on_human"
    (waits,) = person.get("/waiting")
    assert (waits["kind"], waits["path"], waits["text"]) == (
        "question",
        "read/inst_01/summarise",
        "Which edition?",
    )
    assert waits["parameters"] == {"paper": "two"}
    reply = {"question_id": waits["question_id"], "response": {"text": "The second."}}
    agent.post("/runs/r1/answers/read/inst_01/summarise", reply, status=403)
    answered = person.post("/runs/r1/answers/read/inst_01/summarise", reply)
    assert answered["status"] == "running"
    person.post("/runs/r1/artifacts/sources/comments", {"body": "Thank you."}, status=201)
    agent.post(f"{second}/updates", {"summary": "Long.", "status": "completed"})
    agent.post("/runs/r1/steps/read/updates", {"summary": "Both.", "instances_closed": True})
    reached = agent.post("/runs/r1/steps/gate/updates", {"summary": "Here.", "status": "running"})
    assert reached["status"] == "waiting_on_human"
    person.post("/runs/r1/steps/gate/resolution", {"decision": "approved"}, status=422)
    passed = person.post(
        "/runs/r1/steps/gate/resolution", {"decision": "approved", "response": {"audience": "Students"}}
    )
    assert passed["step_states"]["gate"]["checkpoint"]["decided_by"] == "owner"

    # The harness learns that something is missing: an amendment, which a person approves.
    step = task("check", depends_on=["write"], goal="Check the references")
    amendment = agent.post(
        "/runs/r1/amendments",
        {
            "proposed_by": "planner",
            "kind": "forward",
            "reason": "References break.",
            "operations": [{"op": "insert_after", "target_step_id": "write", "step": step}],
        },
        status=201,
    )
    assert agent.get("/runs/r1")["status"] == "paused_for_approval"
    written = agent.post("/runs/r1/steps/write/updates", {"summary": "Written.", "status": "completed"})
    assert written["status"] == "paused_for_approval"  # accepted, and still paused
    agent.post(f"/amendments/{amendment['amendment_id']}/approve", status=403)
    decided = person.post(f"/amendments/{amendment['amendment_id']}/approve", {"reason": "Good catch."})
    assert (decided["status"], decided["decided_by"], decided["resulting_workflow_version"]) == (
        "approved",
        "owner",
        2,
    )
    assert [each["id"] for each in agent.get("/runs/r1/definition?applied=0")["steps"]][-1] == "write"
    assert [each["id"] for each in agent.get("/runs/r1/definition")["steps"]][-1] == "check"
    done = agent.post("/runs/r1/steps/check/updates", {"summary": "All fine.", "status": "completed"})
    assert done["status"] == "completed"
    assert agent.get("/runs/r1/next")["done"] is True
    agent.post("/runs/r1/steps/check/updates", {"summary": "Again."}, status=409)

    # Nothing that was said is lost, and the log holds together.
    updates = agent.get("/runs/r1/updates?limit=1000")
    assert [each["number"] for each in updates] == list(range(1, len(updates) + 1))
    assert updates[1]["payload"]["criteria_met"] == {"c1": "See the list."}
    agent.get("/audit", status=403)
    of_workflow = person.get("/audit?workflow_id=w1&limit=1000")
    events = [entry["event"] for entry in of_workflow if entry["run_id"] is None]
    assert events == [
        "workflow.created",
        "workflow.note_added",
        "workflow.sent_back",
        "workflow.revised",
        "workflow.note_resolved",
        "workflow.approved",
    ]
    of_run = person.get("/audit?run_id=r1&limit=1000")
    told_by = {
        event: {e["actor"] for e in of_run if e["event"] == event} for event in {e["event"] for e in of_run}
    }
    assert told_by == {
        "run.registered": {"planner"},
        "step.updated": {"planner"},
        "instance.registered": {"planner"},
        "instance.updated": {"planner"},
        "step.question_asked": {"planner"},
        "step.question_answered": {"owner"},
        "checkpoint.resolved": {"owner"},
        "artifact.commented": {"owner"},
        "amendment.proposed": {"planner"},
        "amendment.approved": {"owner"},
    }
    for before, after in pairwise(of_run):
        assert after["prev_hash"] == before["hash"]
    call_command("verify_audit", stdout=StringIO())
    assert_derived()
