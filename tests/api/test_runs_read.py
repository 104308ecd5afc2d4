"""Runs over REST: what is read, how it is asked for, and that every route reaches its operation."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.http import HttpResponse
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from amendments.documents_waiting import WaitingItem
from amendments.domain.operations import Operation
from amendments.services.approve_amendment import approve_amendment
from amendments.services.propose_amendment import propose_amendment
from chief_project.shared.caller import Caller
from runs.documents import ListedRun, RunDefinition, RunNext, RunState, RunUpdate
from tests.plans import checkpoint, loop, parallel, task
from tests.run_rows import instance_rows, run_row, state_row
from tests.runs import add_instance, new_run, report
from tests.workflows import new_approved, new_draft


@pytest.fixture
def api(api_as: Callable[..., APIClient], relay_token: str) -> APIClient:
    """The same principal as the caller ``relay``."""
    return api_as(relay_token)


@pytest.fixture
def person(api_as: Callable[..., APIClient], reviewer: Caller) -> APIClient:
    return api_as(reviewer)


def body_of(answer: HttpResponse, status: int = 200) -> Any:
    assert answer.status_code == status, answer.content
    return json.loads(answer.content)


def refused(answer: HttpResponse, status: int, code: str) -> dict[str, Any]:
    error: dict[str, Any] = body_of(answer, status)["error"]
    assert error["code"] == code
    return error


def post(
    api: APIClient, path: str, body: dict[str, Any] | None = None, status: int = 200, **headers: str
) -> Any:
    return body_of(api.post(f"/v1{path}", body or {}, headers=headers), status)


# -- Reading -----------------------------------------------------------------------------------------


def test_a_run_carries_its_revision_as_etag_and_is_not_built_for_who_has_it(
    relay: Caller, api: APIClient
) -> None:
    new_run(relay, task("a"))
    first = api.get("/v1/runs/r1")
    document = body_of(first)
    assert first["ETag"] == f'"{document["revision"]}"'
    with CaptureQueriesContext(connection) as caught:
        again = api.get("/v1/runs/r1", headers={"If-None-Match": first["ETag"]})
    assert again.status_code == 304
    assert again.content == b""
    assert len([query for query in caught if "runs_stepstate" in query["sql"]]) == 0
    report(relay, "a", "running")
    assert api.get("/v1/runs/r1", headers={"If-None-Match": first["ETag"]}).status_code == 200


def test_times_are_iso_in_utc_with_milliseconds(relay: Caller, api: APIClient) -> None:
    new_run(relay, task("a"))
    report(relay, "a", "running")
    document = body_of(api.get("/v1/runs/r1"))
    for moment in (
        document["created_at"],
        document["last_report_at"],
        document["step_states"]["a"]["started_at"],
    ):
        assert len(moment) == len("2026-01-02T03:04:05.678Z")
        assert moment.endswith("Z")


def test_the_plan_is_included_on_request_and_nothing_else_is(relay: Caller, api: APIClient) -> None:
    new_run(relay, task("a"))
    assert "plan" not in body_of(api.get("/v1/runs/r1"))
    assert body_of(api.get("/v1/runs/r1?include=plan"))["plan"]["steps"][0]["id"] == "a"
    assert "include" in refused(api.get("/v1/runs/r1?include=all"), 422, "validation_failed")["message"]


def test_a_tree_sixty_four_deep_is_answered(api: APIClient) -> None:
    run = run_row(*[loop(f"l{number}", [f"l{number + 1}"]) for number in range(64)], task("l64"))
    inside = None
    for number in range(64):
        (inside,) = instance_rows(run, state_row(run, f"l{number}", inside), 1)
    here = body_of(api.get("/v1/runs/r1"))["step_states"]
    for number in range(64):
        here = here[f"l{number}"]["instances"][0]["step_states"]
    assert here["l64"]["status"] == "pending"
    deep = "/".join(f"l{number}/inst_00" for number in range(64)) + "/l64"
    found = body_of(api.get(f"/v1/runs/r1/next?path={deep}"))
    assert [place["path"] for place in found["ready"][0]["places"]] == [deep]


def test_an_unknown_run_is_a_404_that_names_it_on_every_reading_route(api: APIClient) -> None:
    for rest in ("", "/definition", "/next", "/updates"):
        assert "nowhere" in refused(api.get(f"/v1/runs/nowhere{rest}"), 404, "not_found")["message"]


def test_the_definition_after_no_amendment_and_out_of_range(relay: Caller, api: APIClient) -> None:
    new_run(relay, task("a"))
    document = body_of(api.get("/v1/runs/r1/definition?applied=0"))
    assert document["applied_amendment_ids"] == []
    assert [step["id"] for step in document["steps"]] == ["a"]
    for bad in ("1", "99999999999999999999", "-1", "x"):
        error = refused(api.get(f"/v1/runs/r1/definition?applied={bad}"), 422, "validation_failed")
        assert "applied" in error["message"]


def test_lists_are_bare_arrays_with_a_link_to_the_next_page(relay: Caller, api: APIClient) -> None:
    for name in ("r1", "r2", "r3"):
        new_run(relay, task("a"), run_id=name)
    first = api.get("/v1/runs?limit=2")
    assert [run["run_id"] for run in body_of(first)] == ["r3", "r2"]
    assert first["X-Total-Count"] == "3"
    link = first["Link"].split(";")[0].strip("<>")
    second = api.get(link[link.index("/v1") :])
    assert [run["run_id"] for run in body_of(second)] == ["r1"]
    assert "Link" not in second


def test_trees_are_in_a_list_only_when_expanded(relay: Caller, api: APIClient) -> None:
    assert body_of(api.get("/v1/runs?expand=step_states")) == []
    new_run(relay, task("a"))
    assert "step_states" not in body_of(api.get("/v1/runs"))[0]
    assert list(body_of(api.get("/v1/runs?expand=step_states"))[0]["step_states"]) == ["a"]


def test_an_unknown_status_sort_or_parameter_is_refused_by_name(api: APIClient) -> None:
    for query, name in (("status=asleep", "status"), ("sort=size", "sort"), ("colour=red", "colour")):
        error = refused(api.get(f"/v1/runs?{query}"), 422, "validation_failed")
        assert error["details"]["parameter"] == name


def test_odd_texts_in_query_strings_find_nothing_and_break_nothing(relay: Caller, api: APIClient) -> None:
    new_run(relay, task("a"))
    for odd in ("%25_%27%22", "a" * 3000, "%F0%9F%98%80", "a%2Fb%2F%2F"):
        assert api.get(f"/v1/runs?q={odd}").status_code == 200
        for route in ("next", "updates"):
            assert api.get(f"/v1/runs/r1/{route}?path={odd}").status_code in {404, 422}
    for route in ("runs?q=%00", "runs/r1/next?path=%00", "runs/r1/updates?path=a%00"):
        assert api.get(f"/v1/{route}").status_code in {404, 422}


def test_reports_are_listed_by_path_in_pages(relay: Caller, api: APIClient) -> None:
    new_run(relay, parallel("p", ["b"]), task("b"), task("a"))
    add_instance(relay, "p")
    for status in ("running", "completed"):
        report(relay, "p/inst_00/b", status)
    page = api.get("/v1/runs/r1/updates?path=p/inst_00/b&limit=1")
    (first,) = body_of(page)
    assert first["payload"]["status"] == "running"
    link = page["Link"].split(";")[0].strip("<>")
    (second,) = body_of(api.get(link[link.index("/v1") :]))
    assert second["payload"]["status"] == "completed"


def test_next_says_what_is_ready(relay: Caller, api: APIClient) -> None:
    new_run(relay, task("a"), task("b", depends_on=["a"]))
    document = body_of(api.get("/v1/runs/r1/next"))
    assert [entry["path"] for entry in document["ready"]] == ["a"]
    assert document["done"] is False
    assert body_of(api.get("/v1/runs/r1/next?path=b&limit=1"))["ready"] == []
    assert "limit" in refused(api.get("/v1/runs/r1/next?limit=0"), 422, "validation_failed")["message"]


def test_next_carries_the_revision_as_etag_and_is_not_built_for_who_has_it(
    relay: Caller, api: APIClient
) -> None:
    new_run(relay, task("a"))
    report(relay, "a", "running")
    first = api.get("/v1/runs/r1/next")
    assert first["ETag"] == f'"{body_of(first)["revision"]}"' == api.get("/v1/runs/r1")["ETag"]
    seen = {"If-None-Match": first["ETag"]}
    assert api.get("/v1/runs/r1/next", headers=seen).status_code == 304
    asked = post(api, "/runs/r1/questions/a", {"text": "Which?"}, 201)
    changed = api.get("/v1/runs/r1/next", headers=seen)
    assert body_of(changed)["revision"] == asked["revision"]
    answer = {
        "question_id": body_of(changed)["blocked"][0]["places"][0]["question"]["question_id"],
        "response": {"text": "This."},
    }
    post(api, "/runs/r1/answers/a", answer)
    changed = api.get("/v1/runs/r1/next", headers={"If-None-Match": changed["ETag"]})
    (told,) = body_of(changed)["ready"][0]["places"][0]["answers"]
    assert told["response"] == {"text": "This."}
    refused(api.get("/v1/runs/r2/next", headers=seen), 404, "not_found")


def test_what_waits_is_listed_for_everyone_who_may_read(
    relay: Caller, viewer: Caller, api_as: Callable[..., APIClient]
) -> None:
    new_draft(relay, task("a"))
    (item,) = body_of(api_as(viewer).get("/v1/waiting"))
    assert item["kind"] == "draft"
    WaitingItem.model_validate_json(json.dumps(item))


# -- Writing: every route ----------------------------------------------------------------------------


def test_a_run_is_registered_with_a_body_or_without(relay: Caller, api: APIClient) -> None:
    workflow_id = new_approved(relay, task("a"))["workflow_id"]
    document = post(api, f"/workflows/{workflow_id}/runs", {"run_id": "mine", "metadata": {"k": [1]}}, 201)
    assert (document["run_id"], document["metadata"]) == ("mine", {"k": [1]})
    assert body_of(api.post(f"/v1/workflows/{workflow_id}/runs"), 201)["run_id"].startswith("run_")
    refused(api.post(f"/v1/workflows/{workflow_id}/runs", {"run_id": "mine"}), 409, "conflict")
    refused(api.post(f"/v1/workflows/{workflow_id}/runs", {"run_id": "a/b"}), 422, "validation_failed")
    refused(api.post(f"/v1/workflows/{workflow_id}/runs", {"name": "x"}), 422, "validation_failed")


def test_the_fixed_routes_are_short_cases_of_the_state_path(relay: Caller, api: APIClient) -> None:
    new_run(
        relay, parallel("p", ["b", "c"]), task("b"), task("c"), parallel("q", ["d"]), task("d"), task("a")
    )
    said = {"summary": "Going.", "status": "running"}
    assert post(api, "/runs/r1/steps/p/instances", {}, 201)["instance_id"] == "inst_00"
    assert post(api, "/runs/r1/state/p/instances", {"index": 4}, 201)["instance_id"] == "inst_04"
    post(api, "/runs/r1/steps/q/instances", {}, 201)
    post(api, "/runs/r1/steps/a/updates", said)
    post(api, "/runs/r1/state/a/updates", {"summary": "Still going."})
    post(api, "/runs/r1/steps/p/instances/inst_00/steps/b/updates", said)
    post(api, "/runs/r1/state/p/inst_00/c/updates", said)
    post(api, "/runs/r1/steps/p/instances/inst_00/updates", {"summary": "Half way."})
    document = post(api, "/runs/r1/instance-updates/q/inst_00", {"summary": "Done.", "status": "completed"})
    states = document["step_states"]
    assert states["a"]["summary"] == "Still going."
    assert states["p"]["instances"][0]["summary"] == "Half way."
    assert [state["status"] for state in states["p"]["instances"][0]["step_states"].values()] == [
        "running"
    ] * 2
    assert states["q"]["instances"][0]["step_states"]["d"]["status"] == "completed"


def test_questions_are_asked_answered_and_withdrawn_on_both_kinds_of_route(
    relay: Caller, api: APIClient
) -> None:
    new_run(relay, task("a"))
    report(relay, "a", "running")
    routes = (
        (
            "/runs/r1/steps/a/questions",
            "/runs/r1/steps/a/questions/answer",
            "/runs/r1/steps/a/questions/withdraw",
        ),
        ("/runs/r1/questions/a", "/runs/r1/answers/a", "/runs/r1/question-withdrawals/a"),
    )
    for ask, answer, withdraw in routes:
        asked = post(api, ask, {"text": "Which?", "fields": [{"name": "x"}]}, 201)
        assert asked["step_states"]["a"]["status"] == "blocked"
        assert asked["status"] == "waiting_on_human"
        question_id = asked["step_states"]["a"]["questions"][-1]["question_id"]
        answered = post(api, answer, {"question_id": question_id, "response": {"x": "This."}})
        assert answered["step_states"]["a"]["questions"][-1]["response"] == {"x": "This."}
        asked = post(api, ask, {"text": "And?"}, 201)
        question_id = asked["step_states"]["a"]["questions"][-1]["question_id"]
        withdrawn = post(api, withdraw, {"question_id": question_id, "reason": "Found it."})
        assert withdrawn["step_states"]["a"]["status"] == "running"
        assert withdrawn["step_states"]["a"]["questions"][-1]["closed"]["reason"] == "Found it."


def test_checkpoints_are_resolved_on_both_kinds_of_route(relay: Caller, api: APIClient) -> None:
    new_run(relay, checkpoint("one"), checkpoint("two", fields=[{"name": "why"}]))
    report(relay, "one", "running")
    report(relay, "two", "running")
    post(api, "/runs/r1/steps/one/resolution", {"decision": "approved"})
    document = post(
        api, "/runs/r1/resolutions/two", {"decision": "rejected", "note": "Not yet.", "decided_by": "ann"}
    )
    assert document["step_states"]["one"]["status"] == "completed"
    assert document["step_states"]["two"]["checkpoint"]["decided_by"] == "ann"
    assert document["step_states"]["two"]["checkpoint"]["actor"] == relay.actor


def test_stale_marks_go_on_steps_and_instances_on_both_kinds_of_route(relay: Caller, api: APIClient) -> None:
    new_run(relay, parallel("p", ["b"]), task("b"), task("a"))
    add_instance(relay, "p")
    mark = {"reason": "Another branch won."}
    for route in ("/runs/r1/steps/a/stale", "/runs/r1/stale/a"):
        assert post(api, route, mark)["step_states"]["a"]["stale"]["reason"] == "Another branch won."
        assert post(api, route, {"reason": None})["step_states"]["a"]["stale"] is None
    for route in ("/runs/r1/steps/p/instances/inst_00/stale", "/runs/r1/instance-stale/p/inst_00"):
        instance = post(api, route, mark)["step_states"]["p"]["instances"][0]
        assert instance["stale"]["marked_by"] == "human"
        assert post(api, route)["step_states"]["p"]["instances"][0]["stale"] is None


def test_a_comment_answers_the_artifact(
    relay: Caller, api: APIClient, person: APIClient, reviewer: Caller
) -> None:
    new_run(relay, task("a"))
    report(relay, "a", "completed", artifacts=[{"artifact_id": "art", "type": "json", "data": {"n": 1}}])
    artifact = post(person, "/runs/r1/artifacts/art/comments", {"body": "Good.", "author": "someone"}, 201)
    assert artifact["artifact_id"] == "art"
    assert artifact["data"] == {"n": 1}
    assert artifact["comments"][0]["author"] == reviewer.actor
    refused(api.post("/v1/runs/r1/artifacts/art/comments", {"body": "x"}), 403, "forbidden")
    refused(person.post("/v1/runs/r1/artifacts/none/comments", {"body": "x"}), 404, "not_found")


def test_a_failed_run_is_acknowledged_by_a_person(relay: Caller, person: APIClient, reviewer: Caller) -> None:
    new_run(relay, task("a"))
    report(relay, "a", "failed")
    assert post(person, "/runs/r1/acknowledge")["acknowledged"]["by"] == reviewer.actor
    refused(person.post("/v1/runs/r1/acknowledge"), 409, "invalid_transition")


def test_the_minimal_answer_says_what_changed(relay: Caller, api: APIClient) -> None:
    new_run(relay, task("a"), task("b", depends_on=["a"]))
    answer = api.post(
        "/v1/runs/r1/steps/a/updates",
        {"summary": "Done.", "status": "completed"},
        headers={"Prefer": "return=minimal"},
    )
    document = body_of(answer)
    assert document.keys() == {"run_id", "revision", "run_status", "path", "state", "next"}
    assert document["state"]["status"] == "completed"
    assert document["path"] == "a"
    assert answer["ETag"] == f'"{document["revision"]}"'


def test_a_stale_if_match_is_refused_and_writes_nothing(relay: Caller, api: APIClient) -> None:
    revision = new_run(relay, task("a"))["revision"]
    said = {"summary": "Going.", "status": "running"}
    post(api, "/runs/r1/steps/a/updates", said, **{"If-Match": f'"{revision}"'})
    again = api.post("/v1/runs/r1/steps/a/updates", said, headers={"If-Match": f'"{revision}"'})
    refused(again, 412, "precondition_failed")
    assert body_of(api.get("/v1/runs/r1"))["revision"] == revision + 1


# -- Malformed ---------------------------------------------------------------------------------------


def test_a_path_that_ends_on_the_wrong_kind_says_which_form_is_wanted(relay: Caller, api: APIClient) -> None:
    new_run(relay, parallel("p", ["b"]), task("b"))
    add_instance(relay, "p")
    said = {"summary": "x"}
    steps = ("state/p/inst_00/updates", "state/p/inst_00/instances", "stale/p/inst_00", "questions/p/inst_00")
    for route in steps:
        body = {"text": "x"} if route.startswith("questions") else {} if "updates" not in route else said
        error = refused(api.post(f"/v1/runs/r1/{route}", body), 422, "validation_failed")
        assert "step/instance/step" in error["message"]
    for route in ("instance-updates/p", "instance-stale/p/inst_00/b"):
        body = said if "updates" in route else {}
        error = refused(api.post(f"/v1/runs/r1/{route}", body), 422, "validation_failed")
        assert "step/instance" in error["message"]
    deep = "/".join(["p", "inst_00"] * 70) + "/b"
    refused(api.post(f"/v1/runs/r1/state/{deep}/updates", said), 404, "not_found")


@pytest.mark.parametrize(
    ("body", "pointer", "words"),
    [
        ({"status": "running"}, "/summary", "required"),
        ({"summary": "  "}, "/summary", "blank"),
        ({"summary": "x", "status": "blocked"}, "/status", "one of"),
        ({"summary": "x", "status": "skipped"}, "/status", "one of"),
        ({"summary": "x", "colour": "red"}, "/colour", "unknown field"),
        ({"summary": "x", "metadata": []}, "/metadata", "object"),
        ({"summary": "x", "criteria_met": {"c1": ""}}, "/criteria_met/c1", "blank"),
        ({"summary": "x", "artifacts": [{"ref": "f"}]}, "/artifacts/0/type", "required"),
        ({"summary": "x", "artifacts": [{"type": "t"}]}, "/artifacts/0", "needs a 'ref'"),
        (
            {"summary": "x", "artifacts": [{"type": "t", "ref": "f", "comments": []}]},
            "/artifacts/0",
            "not a harness's to report",
        ),
        (
            {"summary": "x", "artifacts": [{"type": "t", "ref": "f", "artifact_id": "a/b"}]},
            "/artifacts/0/artifact_id",
            "",
        ),
        ({"summary": "x", "instances_closed": "yes"}, "/instances_closed", "true or false"),
    ],
)
def test_a_malformed_report_is_refused_with_a_pointer_and_writes_nothing(
    relay: Caller, api: APIClient, body: dict[str, Any], pointer: str, words: str
) -> None:
    revision = new_run(relay, task("a"))["revision"]
    error = refused(api.post("/v1/runs/r1/steps/a/updates", body), 422, "validation_failed")
    assert error["details"]["pointer"] == pointer
    assert words in error["message"]
    assert body_of(api.get("/v1/runs/r1"))["revision"] == revision


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"index": -1}, "/index"),
        ({"index": 2**31}, "/index"),
        ({"index": 2**70}, "/index"),
        ({"index": 1.5}, "/index"),
        ({"index": True}, "/index"),
        ({"kind": "lap"}, "/kind"),
        ({"instance_id": ".."}, "/instance_id"),
        ({"summary": ""}, "/summary"),
        ({"metadata": None}, "/metadata"),
    ],
)
def test_a_malformed_instance_is_refused_with_a_pointer(
    relay: Caller, api: APIClient, body: dict[str, Any], pointer: str
) -> None:
    new_run(relay, loop("l", ["b"]), task("b"))
    error = refused(api.post("/v1/runs/r1/steps/l/instances", body), 422, "validation_failed")
    assert error["details"]["pointer"] == pointer


@pytest.mark.parametrize(
    ("route", "body", "pointer"),
    [
        ("steps/a/questions", {"text": " "}, "/text"),
        ("steps/a/questions", {"text": "x", "fields": [{"name": "n"}, {"name": "n"}]}, "/fields"),
        ("steps/a/questions/answer", {"question_id": "q"}, "/response"),
        ("steps/a/questions/answer", {"question_id": "q", "response": {"text": 1}}, "/response/text"),
        ("steps/a/questions/withdraw", {}, "/question_id"),
        ("steps/a/resolution", {"decision": "maybe"}, "/decision"),
        ("steps/a/stale", {"reason": 1}, "/reason"),
        ("artifacts/x/comments", {"body": ""}, "/body"),
        ("acknowledge", {"by": ""}, "/by"),
    ],
)
def test_a_malformed_decision_is_refused_with_a_pointer(
    relay: Caller, person: APIClient, route: str, body: dict[str, Any], pointer: str
) -> None:
    new_run(relay, task("a"))
    error = refused(person.post(f"/v1/runs/r1/{route}", body), 422, "validation_failed")
    assert error["details"]["pointer"] == pointer


# -- As described ------------------------------------------------------------------------------------


def test_answers_have_exactly_the_keys_that_the_description_gives_them(
    relay: Caller, api: APIClient, person: APIClient, reviewer: Caller
) -> None:
    new_run(
        relay,
        parallel("p", ["b", "c"], on_instance_failure="continue", instance_params=[{"name": "k"}]),
        task("b", criteria=["Seen"]),
        task("c", depends_on=["b"]),
        checkpoint("gate", fields=[{"name": "why"}]),
        task("a"),
        task("x"),
        checkpoint("first"),
        task("y", depends_on=["first"]),
        groups=[],
    )
    for key in ("one", "two"):
        add_instance(relay, "p", metadata={"k": key})
    report(
        relay, "p/inst_00/b", "failed", artifacts=[{"artifact_id": "art", "type": "json", "data": {"n": 1}}]
    )
    post(api, "/runs/r1/instance-stale/p/inst_00", {"reason": "Lost."})
    report(relay, "gate", "running")
    report(relay, "a", "running")
    post(api, "/runs/r1/questions/a", {"text": "Which?", "fields": [{"name": "x"}]}, 201)
    report(relay, "y", "running")
    asked = post(api, "/runs/r1/questions/y", {"text": "Which?"}, 201)
    question_id = asked["step_states"]["y"]["questions"][-1]["question_id"]
    post(api, "/runs/r1/answers/y", {"question_id": question_id, "response": {"text": "This."}})
    report(relay, "first", "running")
    post(api, "/runs/r1/resolutions/first", {"decision": "approved"})
    report(relay, "x", "failed", summary="No network.")
    post(person, "/runs/r1/artifacts/art/comments", {"body": "Look."}, 201)

    def check() -> None:
        RunState.model_validate_json(api.get("/v1/runs/r1?include=plan").content)
        RunNext.model_validate_json(api.get("/v1/runs/r1/next").content)
        RunDefinition.model_validate_json(api.get("/v1/runs/r1/definition").content)
        for route, model in (
            ("/runs", ListedRun),
            ("/runs?expand=step_states", ListedRun),
            ("/runs/r1/updates", RunUpdate),
            ("/waiting", WaitingItem),
        ):
            rows = body_of(api.get(f"/v1{route}"))
            assert rows
            for row in rows:
                model.model_validate_json(json.dumps(row))

    check()
    replays = [
        Operation(op="replay_step", target="x"),
        Operation(op="replay_step", target="p", instance_id="inst_00"),
    ]
    amendment_id = propose_amendment(
        caller=relay,
        run_id="r1",
        proposed_by="planner",
        kind="history_edit",
        reason="Once more.",
        operations=replays,
    ).full()["amendment_id"]
    check()
    approve_amendment(caller=reviewer, amendment_id=amendment_id)
    document = body_of(api.get("/v1/runs/r1"))
    assert document["step_states"]["x"]["history"][0]["summary"] == "No network."
    instance = document["step_states"]["p"]["instances"][0]
    assert instance["history"][0]["step_states"]["b"]["artifacts"][0]["comments"][0]["body"] == "Look."
    check()
