"""``/v1/workflows`` over HTTP (contract 1, 2 and 7)."""

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import AbstractUser
from rest_framework.test import APIClient

from tests.plans import plan, task

pytestmark = pytest.mark.django_db

Api = Callable[..., APIClient]


@pytest.fixture
def harness_api(api_as: Api, harness_token: str) -> APIClient:
    return api_as(harness_token)


@pytest.fixture
def person_api(api_as: Api, rita: AbstractUser) -> APIClient:
    return api_as(rita)


def submitted(api: APIClient, **keys: Any) -> dict[str, Any]:
    answer = api.post("/v1/workflows", plan(**keys))
    assert answer.status_code == 201, answer.content
    found: dict[str, Any] = answer.json()
    return found


def error(answer: Any, status: int) -> dict[str, Any]:
    assert answer.status_code == status, answer.content
    found: dict[str, Any] = answer.json()["error"]
    return found


def test_a_plan_goes_from_draft_to_approved(harness_api: APIClient, person_api: APIClient) -> None:
    made = harness_api.post("/v1/workflows", plan(workflow_id="w1"))
    assert made.status_code == 201
    assert made["Location"] == "/v1/workflows/w1"
    assert made.json()["created_at"].endswith("Z")
    approved = person_api.post("/v1/workflows/w1/approve")
    assert approved.status_code == 200
    assert approved.json()["status"] == "approved"
    assert approved.json()["steps"] == made.json()["steps"]
    assert [each["n"] for each in person_api.get("/v1/workflows/w1/versions").json()] == [1]
    assert person_api.get("/v1/workflows/w1/versions/1").json()["steps"] == made.json()["steps"]
    assert error(person_api.get("/v1/workflows/w1/versions/2"), 404)["code"] == "not_found"


@pytest.mark.parametrize(
    ("change", "pointer", "said"),
    [
        ({"title": " "}, "/title", "blank"),
        ({"title": None}, "/title", "text"),
        ({"source": "magic"}, "/source", "one of"),
        ({"created_at": "2026-01-01T00:00:00Z"}, "/created_at", "unknown field"),
        ({"review_notes": []}, "/review_notes", "unknown field"),
        ({"status": "approved"}, "/status", "unknown field"),
        ({"project": ""}, "/project", "blank"),
        ({"project": "a\nb"}, "/project", "one line"),
        ({"workflow_id": "a/b"}, "/workflow_id", "ASCII"),
        ({"workflow_id": ".."}, "/workflow_id", "ASCII"),
        ({"steps": []}, "/steps", "at least one step"),
        ({"steps": [task("a", color="red")]}, "/steps/0/color", "unknown field"),
        ({"steps": [task("a", goal="")]}, "/steps/0/goal", "blank"),
        ({"steps": [task("a", type="workflow_ref")]}, "/steps/0/type", "one of"),
        ({"steps": [task("a", ref_parameters={"x": "y"})]}, "/steps/0/ref_parameters", "must be empty"),
        ({"steps": [task("a", criteria=[" "])]}, "/steps/0/criteria/0", "must not be blank"),
        ({"steps": [task("a", criteria=[7])]}, "/steps/0/criteria/0", "must be a text"),
        ({"steps": [task("a", criteria=[{"id": "c1"}])]}, "/steps/0/criteria/0/text", "is required"),
        ({"steps": [task("a", depends_on=["z"])]}, "/steps/0/depends_on/0", "unknown step"),
        ({"steps": [task("a"), task("a")]}, "/steps/1/id", "duplicate step id"),
        ({"groups": [{"path": "g"}]}, "/groups/0/path", "neither a step's group"),
    ],
)
def test_a_malformed_plan_is_refused_with_its_place(
    harness_api: APIClient, change: dict[str, Any], pointer: str, said: str
) -> None:
    found = error(harness_api.post("/v1/workflows", plan() | change), 422)
    assert found["code"] == "validation_failed"
    assert found["details"]["pointer"] == pointer
    assert said in found["message"]
    assert len(found["details"]["errors"]) == 1
    assert harness_api.get("/v1/workflows").json() == []


def test_a_revision_that_no_draft_can_have_is_refused_before_anything_is_looked_up(
    harness_api: APIClient,
) -> None:
    submitted(harness_api, workflow_id="w1")
    body = {"title": "T", "steps": [task("a")], "based_on": 2**70}
    found = error(harness_api.put("/v1/workflows/w1", body), 422)
    assert found["details"]["pointer"] == "/based_on"
    assert error(harness_api.put("/v1/workflows/w1", body | {"based_on": 2**31 - 1}), 412)["details"]["since"]
    assert harness_api.get("/v1/workflows/w1").json()["revision"] == 1


def test_the_etag_moves_with_every_write_and_spares_reading(
    harness_api: APIClient, person_api: APIClient
) -> None:
    submitted(harness_api, workflow_id="w1")
    first = harness_api.get("/v1/workflows/w1")
    assert harness_api.get("/v1/workflows/w1", HTTP_IF_NONE_MATCH=first["ETag"]).status_code == 304
    for write in (
        lambda: person_api.post("/v1/workflows/w1/notes", {"body": "why?"}),
        lambda: person_api.patch("/v1/workflows/w1", {"project": "P"}),
        lambda: person_api.post("/v1/workflows/w1/send-back"),
        lambda: harness_api.put("/v1/workflows/w1", {"title": "T", "steps": [task("a")]}),
        lambda: person_api.post("/v1/workflows/w1/approve"),
        lambda: person_api.post("/v1/workflows/w1/reopen"),
        lambda: person_api.post("/v1/workflows/w1/archive"),
    ):
        before = harness_api.get("/v1/workflows/w1")["ETag"]
        assert write().status_code in {200, 201}
        assert harness_api.get("/v1/workflows/w1", HTTP_IF_NONE_MATCH=before).status_code == 200
    stale = person_api.patch("/v1/workflows/w1", {"project": "Q"}, HTTP_IF_MATCH=first["ETag"])
    assert error(stale, 412)["details"]["difference"]["removed"][0]["id"] == "b"


_AMENDMENT = {
    "proposed_by": "me",
    "kind": "forward",
    "reason": "more",
    "operations": [{"op": "insert_after", "target_step_id": "a", "step": task("n")}],
}


@pytest.mark.parametrize("prefer", ["return=minimal", "return=representation"])
def test_what_was_made_is_read_where_location_says_also_when_the_answer_was_kept(
    harness_api: APIClient, person_api: APIClient, prefer: str
) -> None:
    submitted(harness_api, workflow_id="w1")
    person_api.post("/v1/workflows/w1/approve")
    for number, (path, body) in enumerate(
        [
            ("/v1/workflows", plan(workflow_id="w2")),
            ("/v1/workflows/w1/clone", {}),
            ("/v1/workflows/w1/template", {"template_id": "t1"}),
            ("/v1/templates/t1/workflows", {}),
            ("/v1/workflows/w1/runs", {"run_id": "r1"}),
            ("/v1/runs/r1/amendments", _AMENDMENT),
        ]
    ):
        headers = {"prefer": prefer, "idempotency-key": f"k{number}"}
        made, kept = (harness_api.post(path, body, headers=headers) for _ in range(2))
        assert (made.status_code, kept["Idempotency-Replayed"]) == (201, "true")
        assert made["Location"] == kept["Location"]
        assert harness_api.get(made["Location"]).status_code == 200


@pytest.mark.parametrize("kind", ["workflow", "run", "amendment", "template"])
def test_what_is_not_there_is_named_with_where_to_look(harness_api: APIClient, kind: str) -> None:
    found = error(harness_api.get(f"/v1/{kind}s/nowhere"), 404)
    assert found["message"] == f"there is no {kind} 'nowhere': list_{kind}s (GET /v1/{kind}s) names them"
    assert found["details"] == {f"{kind}_id": "nowhere"}


@pytest.mark.parametrize("path", ["/v1/workflows/w1", "/v1/templates/t1"])
def test_a_deletion_takes_no_field(
    harness_api: APIClient, api_as: Api, owner: AbstractUser, path: str
) -> None:
    admin_api = api_as(owner)
    submitted(harness_api, workflow_id="w1")
    harness_api.post("/v1/workflows/w1/template", {"template_id": "t1"})
    found = error(admin_api.delete(path, {"reason": "old"}), 422)
    assert found["details"]["pointer"] == "/reason"
    assert admin_api.get(path).status_code == 200
    assert admin_api.delete(path).status_code == 200


def test_a_stale_approval_shows_what_changed(harness_api: APIClient, person_api: APIClient) -> None:
    made = submitted(harness_api, workflow_id="w1")
    revised = harness_api.put(
        "/v1/workflows/w1", {"title": "New", "steps": [*made["steps"], task("c")], "reason": "more"}
    )
    assert (revised.status_code, revised.json()["revision"], revised.json()["version"]) == (200, 2, 1)
    found = error(person_api.post("/v1/workflows/w1/approve", {"revision": 1}), 412)
    assert found["code"] == "precondition_failed"
    assert found["details"]["revision"] == 2
    assert [step["id"] for step in found["details"]["difference"]["added"]] == ["c"]
    assert person_api.post("/v1/workflows/w1/approve", {"revision": 2}).status_code == 200


def test_the_list_narrows_by_status_label_and_words(harness_api: APIClient, person_api: APIClient) -> None:
    submitted(harness_api, workflow_id="w1", title="Index the archive", project="P")
    submitted(harness_api, workflow_id="w2", title="Other", steps=[task("zeta-7")])
    person_api.post("/v1/workflows/w2/approve")
    ids = lambda query: [each["workflow_id"] for each in harness_api.get(f"/v1/workflows?{query}").json()]  # noqa: E731
    assert ids("") == ["w2", "w1"]
    assert ids("status=approved") == ["w2"]
    assert ids("project=P") == ["w1"]
    assert ids("project=") == ["w2"]
    assert ids("q=arch%20ind") == ["w1"]
    assert ids("q=zeta-7") == ["w2"]
    assert ids("q=%22*%20NEAR(") == []
    assert ids("q=") == ["w2", "w1"]
    assert "review_notes" not in harness_api.get("/v1/workflows").json()[0]
    assert error(harness_api.get("/v1/workflows?status=new"), 422)["details"]["parameter"] == "status"
    first = harness_api.get("/v1/workflows?limit=1")
    assert first["X-Total-Count"] == "2"
    following = first["Link"].split(">")[0].split("/v1/")[1]
    assert [each["workflow_id"] for each in harness_api.get(f"/v1/{following}").json()] == ["w1"]


def test_labels_change_at_any_status_and_null_is_not_left_out(
    harness_api: APIClient, person_api: APIClient
) -> None:
    submitted(harness_api, workflow_id="w1", project="P", origin_dir="/w")
    assert "nothing to change" in error(person_api.patch("/v1/workflows/w1", {}), 422)["message"]
    assert error(person_api.patch("/v1/workflows/w1", {"title": ""}), 422)["details"]["pointer"] == "/title"
    assert error(person_api.patch("/v1/workflows/w1", {"project": " "}), 422)
    found = person_api.patch("/v1/workflows/w1", {"project": None}).json()
    assert (found["project"], found["origin_dir"], found["title"]) == (None, "/w", "A plan")
    assert error(harness_api.patch("/v1/workflows/w1", {"project": "Q"}), 403)["code"] == "forbidden"
    assert person_api.get("/v1/projects").json() == [{"project": None, "workflows": 1}]


def test_notes_are_written_and_resolved_by_people(harness_api: APIClient, person_api: APIClient) -> None:
    submitted(harness_api, workflow_id="w1")
    assert (
        "'z'"
        in error(person_api.post("/v1/workflows/w1/notes", {"body": "x", "step_id": "z"}), 422)["message"]
    )
    assert error(harness_api.post("/v1/workflows/w1/notes", {"body": "x"}), 403)
    note = person_api.post("/v1/workflows/w1/notes", {"body": "why?", "step_id": "b", "author": "me"})
    assert note.status_code == 201
    assert (note.json()["author"], note.json()["step_goal"], note.json()["orphaned"]) == (
        "rita",
        "Do b",
        False,
    )
    place = f"/v1/workflows/w1/notes/{note.json()['note_id']}"
    harness_api.put("/v1/workflows/w1", {"title": "T", "steps": [task("a")]})
    assert harness_api.get("/v1/workflows/w1").json()["review_notes"][0]["orphaned"] is True
    assert error(harness_api.patch(place), 403)
    assert person_api.patch(place).json()["resolved_by"] == "rita"
    assert error(person_api.patch(place), 409)["code"] == "invalid_transition"
    assert person_api.get("/v1/workflows/w1/notes?resolved=false").json() == []
    assert person_api.patch(place, {"resolved": False}).json()["resolved_at"] is None
    assert len(person_api.get("/v1/workflows/w1/notes?resolved=false").json()) == 1
    assert error(person_api.patch("/v1/workflows/w1/notes/rvw_x"), 404)


def test_what_a_person_has_read_is_theirs_to_say(harness_api: APIClient, person_api: APIClient) -> None:
    submitted(harness_api, workflow_id="w1")
    etag = harness_api.get("/v1/workflows/w1")["ETag"]
    assert person_api.post("/v1/workflows/w1/seen", {"revision": 1}).json() == {
        "workflow_id": "w1",
        "revision": 1,
    }
    assert error(person_api.post("/v1/workflows/w1/seen", {"revision": 2}), 422)
    assert error(person_api.post("/v1/workflows/w1/seen", {}), 422)
    assert error(harness_api.post("/v1/workflows/w1/seen", {"revision": 1}), 403)
    assert harness_api.get("/v1/workflows/w1")["ETag"] == etag


def test_a_clone_begins_anew(harness_api: APIClient, person_api: APIClient) -> None:
    made = submitted(harness_api, workflow_id="w1", project="P", origin_dir="/w", generated_by="me")
    person_api.post("/v1/workflows/w1/archive", {"reason": "done"})
    clone = harness_api.post("/v1/workflows/w1/clone")
    assert clone.status_code == 201
    found = clone.json()
    assert (found["title"], found["status"], found["source"]) == ("A plan (copy)", "draft", "import")
    assert (found["generated_by"], found["project"], found["origin_dir"]) == (None, "P", "/w")
    assert (found["version"], found["revision"], found["steps"]) == (1, 1, made["steps"])
    assert error(harness_api.post("/v1/workflows/w1/clone?run_id=nowhere"), 404)
    assert error(harness_api.post("/v1/workflows/w1/clone?color=red"), 422)
    assert error(harness_api.post("/v1/workflows/w9/clone"), 404)


def test_two_plans_are_compared_by_name(harness_api: APIClient, person_api: APIClient) -> None:
    submitted(harness_api, workflow_id="w1")
    harness_api.put("/v1/workflows/w1", {"title": "A plan", "steps": [task("a", goal="Do a well")]})
    person_api.post("/v1/workflows/w1/approve")
    found = harness_api.get("/v1/workflows/w1/diff").json()
    assert (found["from"], found["to"]) == ("r1", "r2")
    assert [step["id"] for step in found["removed"]] == ["b"]
    assert found["changed"][0]["fields"]["goal"]["words"] == [["=", "Do a"], ["+", " well"]]
    found = harness_api.get("/v1/workflows/w1/diff?from=r2&to=v1").json()
    assert (found["from"], found["to"], found["same"]) == ("r2", "v1", True)
    assert error(harness_api.get("/v1/workflows/w1/diff?from=2"), 422)["details"]["parameter"] == "from"
    assert error(harness_api.get("/v1/workflows/w1/diff?from=r9"), 404)


def test_only_a_person_who_administers_deletes(
    api_as: Api, owner: AbstractUser, harness_api: APIClient, person_api: APIClient
) -> None:
    submitted(harness_api, workflow_id="w1")
    assert error(harness_api.delete("/v1/workflows/w1"), 403)
    assert error(person_api.delete("/v1/workflows/w1"), 403)
    found = api_as(owner).delete("/v1/workflows/w1")
    assert found.status_code == 200
    assert (found.json()["workflow_id"], found.json()["removed"]["revisions"]) == ("w1", 1)
    assert error(harness_api.get("/v1/workflows/w1"), 404)
    assert (
        "never used again" in error(harness_api.post("/v1/workflows", plan(workflow_id="w1")), 409)["message"]
    )


def test_a_repeated_submission_with_a_key_makes_one_workflow(harness_api: APIClient) -> None:
    first = harness_api.post("/v1/workflows", plan(), HTTP_IDEMPOTENCY_KEY="k")
    again = harness_api.post("/v1/workflows", plan(), HTTP_IDEMPOTENCY_KEY="k")
    assert (again.status_code, again.json()) == (201, first.json())
    assert len(harness_api.get("/v1/workflows").json()) == 1
