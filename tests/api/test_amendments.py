"""The amendment routes and the run's cancellation, as a client sees them (contract 3, 4 and 9)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from rest_framework.test import APIClient

from amendments.models import Amendment
from chief_project.shared.caller import Caller
from chief_project.shared.models import User
from runs.models import Run
from tests.amendments import insert_after, proposal, remove, replay, update
from tests.plans import loop, task
from tests.runs import add_instance, new_run, report

pytestmark = pytest.mark.django_db

Client = Callable[..., APIClient]
RUN = "/v1/runs/r1"
KEYS = {
    "amendment_id", "run_id", "workflow_id", "proposed_by", "kind", "reason", "operations", "status", "created_at",
    "decided_at", "decided_by", "decision_reason", "resulting_workflow_version", "actor", "via", "decided_actor",
    "decided_via",
}  # fmt: skip


@pytest.fixture
def person(api_as: Client, rita: User) -> APIClient:
    return api_as(rita)


@pytest.fixture
def agent(api_as: Client, harness_token: str) -> APIClient:
    return api_as(harness_token)


def send(client: APIClient, path: str, body: Any = None, *, status: int = 200, **headers: str) -> Any:
    """POST, check the status, and return the JSON."""
    answer = client.post(path, {} if body is None else body, format="json", headers=headers)
    assert answer.status_code == status, answer.content
    return answer.json()


def test_the_life_of_an_amendment(reviewer: Caller, person: APIClient, agent: APIClient) -> None:
    run = new_run(reviewer)
    made = send(agent, f"{RUN}/amendments", proposal(insert_after("a", task("n"))), status=201)
    assert set(made) == KEYS
    assert made["created_at"].endswith("Z")
    assert set(made["operations"][0]) == {"op", "target_step_id", "instance_id", "instance_path", "step"}
    one = f"/v1/amendments/{made['amendment_id']}"
    assert agent.get(one).json() == made
    assert agent.get(f"{RUN}/amendments").json() == [made]
    assert agent.get("/v1/amendments?status=pending_approval&run_id=r1").json() == [made]
    assert agent.get("/v1/amendments?status=approved").json() == []
    assert agent.get(f"{one}/diff").json()["operations"][0]["after"]["id"] == "n"
    decided = send(person, f"{one}/approve", {"decided_by": "somebody else", "reason": "good"})
    assert (decided["status"], decided["decided_by"], decided["decision_reason"]) == (
        "approved",
        "rita",
        "good",
    )
    workflow = person.get(f"/v1/workflows/{run['workflow_id']}").json()
    assert workflow["version"] == decided["resulting_workflow_version"] == 2
    refused = send(person, f"{one}/reject", status=409)
    assert refused["error"]["code"] == "invalid_transition"


def test_an_approval_needs_no_body_and_moves_the_workflows_etag(reviewer: Caller, person: APIClient) -> None:
    run = new_run(reviewer)
    before = person.get(f"/v1/workflows/{run['workflow_id']}")["ETag"]
    made = send(person, f"{RUN}/amendments", proposal(remove("b")), status=201)
    assert person.get(f"/v1/workflows/{run['workflow_id']}")["ETag"] == before
    answer = person.post(f"/v1/amendments/{made['amendment_id']}/approve")
    assert answer.status_code == 200
    assert person.get(f"/v1/workflows/{run['workflow_id']}")["ETag"] != before


def test_rejecting_and_withdrawing(reviewer: Caller, person: APIClient, agent: APIClient) -> None:
    new_run(reviewer)
    made = send(agent, f"{RUN}/amendments", proposal(remove("b")), status=201)
    decided = send(
        person, f"/v1/amendments/{made['amendment_id']}/reject", {"decided_by": "human", "reason": "no"}
    )
    assert decided["status"] == "rejected"
    made = send(agent, f"{RUN}/amendments", proposal(remove("b")), status=201)
    taken = send(agent, f"/v1/amendments/{made['amendment_id']}/withdraw", {"reason": "moot"})
    assert (taken["status"], taken["decided_by"]) == ("withdrawn", "planner")


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"proposed_by": "p", "kind": "forward", "reason": "r"}, "/operations"),
        (proposal(), "/operations"),
        (proposal(remove("b"), reason=" "), "/reason"),
        (proposal(remove("b"), proposed_by=""), "/proposed_by"),
        (proposal(remove("b"), kind="sideways"), "/kind"),
        (proposal(remove("b"), status="approved"), "/status"),
        (proposal(remove("b") | {"op": "erase_step"}), "/operations/0/op"),
        (proposal(remove("b") | {"extra": 1}), "/operations/0/extra"),
        (proposal(remove("b") | {"step": task("b")}), "/operations/0"),
        (proposal({"op": "insert_after", "target_step_id": "a"}), "/operations/0"),
        (proposal({"op": "update_step", "target_step_id": "a"}), "/operations/0"),
        (proposal(replay("a", instance_id="i", instance_path="l/i")), "/operations/0"),
        (proposal(replay("a", instance_path="l/i/x")), "/operations/0/instance_path"),
        (proposal(replay("a", instance_path=[])), "/operations/0/instance_path"),
        (proposal(replay("a", instance_path="/")), "/operations/0/instance_path"),
        (proposal(insert_after("a", task("n", type="dream"))), "/operations/0/step/type"),
        (proposal(insert_after("a", task("n", goal=""))), "/operations/0/step/goal"),
    ],
)
def test_a_malformed_proposal_is_422_and_says_where(
    reviewer: Caller, agent: APIClient, body: dict[str, Any], pointer: str
) -> None:
    new_run(reviewer)
    refused = send(agent, f"{RUN}/amendments", body, status=422)["error"]
    assert refused["code"] == "validation_failed"
    assert refused["details"]["pointer"] == pointer
    assert not Amendment.objects.exists()


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        (proposal(remove("nobody")), 404, "not_found"),
        (proposal(insert_after("a", task("b"))), 409, "conflict"),
        (proposal(update(task("a")) | {"target_step_id": "b"}), 422, "validation_failed"),
        (proposal(remove("a"), remove("b")), 422, "validation_failed"),
        (proposal(replay("a"), kind="history_edit"), 409, "invariant_violation"),
        (proposal(remove("x", instance_id="inst_09")), 404, "not_found"),
        (proposal(insert_after("x", task("n"), instance_id="inst_00")), 422, "validation_failed"),
    ],
)
def test_a_refusal_has_its_status_code_and_names_the_operation(
    reviewer: Caller, agent: APIClient, body: dict[str, Any], status: int, code: str
) -> None:
    new_run(reviewer, "a", "b", loop("l", ["x"]), task("x"))
    add_instance(reviewer, "l")
    if status == 422 and len(body["operations"]) == 2:
        body = proposal(remove("a"), remove("b"), remove("x"), remove("l"))
    refused = send(agent, f"{RUN}/amendments", body, status=status)["error"]
    assert refused["code"] == code
    if len(body["operations"]) == 1:
        assert refused["details"]["operation"] == 0


def test_an_amendment_without_operations_is_told_to_have_one(reviewer: Caller, agent: APIClient) -> None:
    new_run(reviewer)
    refused = send(agent, f"{RUN}/amendments", proposal(), status=422)["error"]
    assert refused["message"] == "/operations: must have at least 1 entry"


def test_the_required_kind_is_in_the_details(reviewer: Caller, agent: APIClient) -> None:
    new_run(reviewer)
    report(reviewer, "a", "completed")
    refused = send(agent, f"{RUN}/amendments", proposal(update(task("a"))), status=409)["error"]
    assert refused["details"]["required_kind"] == "history_edit"


def test_an_instance_path_is_a_text_or_an_array_and_comes_back_as_a_text(
    reviewer: Caller, agent: APIClient
) -> None:
    new_run(reviewer, loop("l", ["x"]), task("x"))
    add_instance(reviewer, "l")
    for given in ("l/inst_00", ["l", "inst_00"]):
        body = proposal(update(task("x", goal="New"), instance_path=given))
        made = send(agent, f"{RUN}/amendments", body, status=201)
        assert made["operations"][0]["instance_path"] == "l/inst_00"
        send(agent, f"/v1/amendments/{made['amendment_id']}/withdraw")


def test_who_may_do_what(
    reviewer: Caller,
    agent: APIClient,
    api_as: Client,
    make_token: Callable[..., str],
    relay_token: str,
    vic: User,
) -> None:
    new_run(reviewer)
    viewer, nobody = api_as(vic), api_as(None)
    send(viewer, f"{RUN}/amendments", proposal(remove("b")), status=403)
    send(nobody, f"{RUN}/amendments", proposal(remove("b")), status=401)
    made = send(agent, f"{RUN}/amendments", proposal(remove("b")), status=201)
    one = f"/v1/amendments/{made['amendment_id']}"
    assert viewer.get(one).status_code == 200
    assert viewer.get(f"{one}/diff").status_code == 200
    assert nobody.get(one).status_code == 401
    for client in (viewer, agent):
        for verb in ("approve", "reject"):
            send(client, f"{one}/{verb}", status=403)
        send(client, f"{RUN}/cancel", status=403)
    other = api_as(make_token("harness", name="another"))
    send(other, f"{one}/withdraw", status=403)
    decided = send(api_as(relay_token), f"{one}/approve", {"decided_by": "Ada"})
    assert (decided["decided_by"], decided["decided_actor"]) == ("Ada", "relayer")


def test_unknown_things_are_404(reviewer: Caller, person: APIClient) -> None:
    for path in ("/v1/runs/nowhere/amendments", "/v1/amendments?run_id=nowhere", "/v1/amendments/amd_1"):
        assert person.get(path).status_code == 404
    for path in ("approve", "reject", "withdraw"):
        send(person, f"/v1/amendments/amd_1/{path}", status=404)
    send(person, "/v1/runs/nowhere/amendments", proposal(remove("b")), status=404)
    send(person, "/v1/runs/nowhere/cancel", status=404)
    assert person.get("/v1/amendments?status=unknown").status_code == 422


def test_if_match_names_the_runs_revision(reviewer: Caller, person: APIClient) -> None:
    new_run(reviewer)
    stale = person.get(RUN)["ETag"]
    answer = person.post(
        f"{RUN}/amendments", proposal(remove("b")), format="json", headers={"If-Match": stale}
    )
    assert answer.status_code == 201
    one = f"/v1/amendments/{answer.json()['amendment_id']}"
    for verb in ("approve", "reject", "withdraw"):
        send(person, f"{one}/{verb}", status=412, **{"If-Match": stale})
    send(person, f"{RUN}/cancel", status=412, **{"If-Match": stale})
    assert person.get(RUN)["ETag"] == answer["ETag"]
    send(person, f"{one}/approve", **{"If-Match": answer["ETag"]})


def test_the_minimal_answer_names_the_run_and_the_amendment(reviewer: Caller, person: APIClient) -> None:
    new_run(reviewer)
    minimal = {"Prefer": "return=minimal"}
    made = send(person, f"{RUN}/amendments", proposal(insert_after("a", task("n"))), status=201, **minimal)
    assert made["run_status"] == "paused_for_approval"
    decided = send(person, f"/v1/amendments/{made['amendment_id']}/approve", **minimal)
    assert decided["amendment_status"] == "approved"
    assert [entry["step_id"] for entry in decided["next"]["items"]] == ["n"]


def test_a_repeated_proposal_with_its_key_is_made_once(reviewer: Caller, agent: APIClient) -> None:
    new_run(reviewer)
    body, key = proposal(remove("b")), {"Idempotency-Key": "once"}
    first = send(agent, f"{RUN}/amendments", body, status=201, **key)
    again = send(agent, f"{RUN}/amendments", body, status=201, **key)
    assert again["amendment_id"] == first["amendment_id"]
    assert Amendment.objects.count() == 1


def test_cancelling_answers_the_run(reviewer: Caller, person: APIClient) -> None:
    new_run(reviewer)
    send(person, f"{RUN}/amendments", proposal(remove("b")), status=201)
    now = send(person, f"{RUN}/cancel", {"reason": "over"})
    assert (now["status"], now["cancelled"]["by"], now["cancelled"]["reason"]) == (
        "cancelled",
        "rita",
        "over",
    )
    assert {state["skip_cause"] for state in now["step_states"].values()} == {"cancelled"}
    assert person.get(f"{RUN}/amendments").json()[0]["status"] == "withdrawn"
    assert send(person, f"{RUN}/cancel", status=409)["error"]["code"] == "invalid_transition"
    assert Run.objects.get().status == "cancelled"


def test_a_refused_approval_of_a_sibling_is_a_conflict(reviewer: Caller, person: APIClient) -> None:
    run = new_run(reviewer, "a", "b")
    send(person, f"/v1/workflows/{run['workflow_id']}/runs", {"run_id": "r2"}, status=201)
    made = send(person, f"{RUN}/amendments", proposal(remove("b")), status=201)
    send(person, f"/v1/amendments/{made['amendment_id']}/approve")
    made = send(person, "/v1/runs/r2/amendments", proposal(update(task("b", goal="New"))), status=201)
    refused = send(person, f"/v1/amendments/{made['amendment_id']}/approve", status=409)["error"]
    assert refused["code"] == "conflict"
    assert "sibling run" in refused["message"]
    assert person.get("/v1/runs/r2").json()["status"] == "paused_for_approval"
