"""Every refusal has one shape, its code and its headers (contract 1)."""

import logging
from collections.abc import Callable
from typing import Any

import pytest
from django.core.exceptions import BadRequest, RequestDataTooBig, TooManyFieldsSent
from django.db import DataError, IntegrityError, InterfaceError
from django.http import HttpResponse
from django.http.multipartparser import MultiPartParserError
from rest_framework import exceptions as drf
from rest_framework.test import APIClient

from chief_project.shared.http import answer_to
from chief_project.shared.models import User

pytestmark = [pytest.mark.django_db, pytest.mark.urls("tests.api.probe")]


def refused(answer: HttpResponse, status: int, code: str) -> dict[str, Any]:
    """The error in ``answer``, which must be an envelope and nothing else."""
    assert answer.status_code == status, answer.content
    assert answer["Content-Type"] == "application/json"
    body: dict[str, Any] = answer.json()  # type: ignore[attr-defined]
    assert list(body) == ["error"]
    error: dict[str, Any] = body["error"]
    assert set(error) <= {"code", "message", "details"}
    assert error["code"] == code
    assert error["message"]
    return error


@pytest.fixture
def api(api_as: Callable[..., APIClient], harness_token: str) -> APIClient:
    return api_as(harness_token)


@pytest.mark.parametrize(
    "path", ["/v1/nowhere", "/v1/echo/", "/v1/", "/v1/runs/a%2Fb/x", "/v1/%00", "/v1/" + "é" * 10]
)
def test_what_no_route_matches_is_a_404_in_the_envelope_and_never_a_redirect(
    client: APIClient, path: str
) -> None:
    for method in (client.get, client.post, client.put, client.delete):
        refused(method(path), 404, "not_found")


@pytest.mark.urls("chief_project.urls")
def test_the_root_without_its_slash_is_a_404_too(client: APIClient) -> None:
    refused(client.get("/v1"), 404, "not_found")


def test_a_404_outside_v1_is_a_page_only_for_who_asks_for_one(client: APIClient) -> None:
    refused(client.get("/nowhere"), 404, "not_found")
    page = client.get("/nowhere", headers={"accept": "text/html,*/*"})
    assert page.status_code == 404
    assert page["Content-Type"].startswith("text/html")


def test_nobody_is_told_how_to_authenticate(client: APIClient) -> None:
    answer = client.get("/v1/tagged")
    error = refused(answer, 401, "unauthenticated")
    assert answer["WWW-Authenticate"].startswith("Bearer")
    assert "token" in error["message"]


def test_a_token_that_is_not_valid_is_a_401(client: APIClient) -> None:
    for value in ("Bearer chf_" + "x" * 43, "Bearer", "Bearer x", "Basic eA==", "Bearer chf_\u00e9"):
        answer = client.get("/v1/tagged", headers={"authorization": value})
        refused(answer, 401, "unauthenticated")


@pytest.mark.parametrize("method", ["DELETE", "PUT", "FOO", "TRACE", "CONNECT", "_respond"])
def test_a_method_the_route_does_not_take_is_a_405_that_says_which_it_takes(
    api: APIClient, method: str
) -> None:
    answer = api.generic(method, "/v1/echo")
    error = refused(answer, 405, "method_not_allowed")
    assert answer["Allow"] == "POST, PATCH, OPTIONS"
    assert "POST" in error["message"]


@pytest.mark.urls("chief_project.urls")
@pytest.mark.parametrize(
    ("path", "allowed"), [("/v1/schema/", "GET, HEAD, OPTIONS"), ("/v1/docs/", "GET, HEAD, OPTIONS")]
)
def test_the_description_is_only_read(client: APIClient, path: str, allowed: str) -> None:
    answer = client.post(path)
    refused(answer, 405, "method_not_allowed")
    assert answer["Allow"] == allowed
    asked = client.options(path)
    assert (asked.status_code, asked["Allow"], asked.content) == (204, allowed, b"")


@pytest.mark.urls("chief_project.urls")
def test_the_pages_of_the_description_refuse_json_in_json(client: APIClient) -> None:
    refused(client.get("/v1/docs/", headers={"accept": "application/json"}), 406, "not_acceptable")


def test_options_says_which_methods_there_are_and_nothing_else(client: APIClient) -> None:
    answer = client.options("/v1/echo")
    assert answer.status_code == 204
    assert answer["Allow"] == "POST, PATCH, OPTIONS"
    assert answer.content == b""
    assert "Access-Control-Allow-Origin" not in answer


def test_head_answers_like_get_without_a_body(api: APIClient) -> None:
    answer = api.head("/v1/tagged")
    assert answer.status_code == 200
    assert answer["ETag"] == '"12"'
    assert answer.content == b""


@pytest.mark.parametrize(
    "accept",
    [
        "*/*",
        "application/json",
        "application/*",
        "text/html, */*;q=0.1",
        "text/html;q=x, application/json",
        "",
    ],
)
def test_json_is_given_to_who_accepts_it(api: APIClient, accept: str) -> None:
    assert api.get("/v1/tagged", headers={"accept": accept}).status_code == 200


@pytest.mark.parametrize(
    "accept",
    ["text/html", "application/json;q=0", "application/json;q=0, */*", "garbage", ";;,,", "text/*", "\u00e9"],
)
def test_who_rules_json_out_gets_a_406(api: APIClient, accept: str) -> None:
    refused(api.get("/v1/tagged", headers={"accept": accept}), 406, "not_acceptable")


def test_a_fault_is_a_500_that_leaks_nothing_and_is_logged(
    api: APIClient, caplog: pytest.LogCaptureFixture
) -> None:
    api.raise_request_exception = False
    logging.getLogger("chief.http").propagate = True
    answer = api.get("/v1/broken")
    error = refused(answer, 500, "internal")
    assert "secret" not in error["message"]
    assert any(record.exc_info and "a secret" in str(record.exc_info[1]) for record in caplog.records)


def test_a_fault_is_a_500_in_the_envelope_in_debug_mode_too(api: APIClient, settings: Any) -> None:
    settings.DEBUG = True
    api.raise_request_exception = False
    refused(api.get("/v1/broken"), 500, "internal")
    refused(api.get("/v1/nowhere"), 404, "not_found")


def test_a_busy_database_is_a_503_that_says_when_to_come_back(api: APIClient) -> None:
    answer = api.post("/v1/broken")
    refused(answer, 503, "unavailable")
    assert answer["Retry-After"] == "1"


def test_a_foreign_host_is_refused_in_the_envelope(client: APIClient) -> None:
    error = refused(client.get("/v1/tagged", headers={"host": "evil.example"}), 422, "validation_failed")
    assert "not served to this host" in error["message"]


@pytest.mark.parametrize(
    ("problem", "status", "code"),
    [
        (drf.NotAuthenticated(), 401, "unauthenticated"),
        (drf.AuthenticationFailed(), 401, "unauthenticated"),
        (drf.PermissionDenied(), 403, "forbidden"),
        (drf.NotFound(), 404, "not_found"),
        (drf.NotAcceptable(), 406, "not_acceptable"),
        (drf.UnsupportedMediaType("text/csv"), 415, "unsupported_media_type"),
        (drf.ParseError(), 422, "validation_failed"),
        (drf.ValidationError({"a": ["is wrong"]}), 422, "validation_failed"),
        (RequestDataTooBig(), 413, "too_large"),
        (BadRequest(), 422, "validation_failed"),
        (TooManyFieldsSent(), 422, "validation_failed"),
        (MultiPartParserError(), 422, "validation_failed"),
        (IntegrityError(), 409, "conflict"),
        (DataError(), 422, "validation_failed"),
        (InterfaceError(), 503, "unavailable"),
        (drf.APIException(), 500, "internal"),
    ],
)
def test_the_table_knows_what_the_frameworks_raise(problem: Exception, status: int, code: str) -> None:
    answer = answer_to(problem)
    assert answer.status_code == status
    assert f'"code":"{code}"' in answer.content.decode()


def test_a_throttled_caller_is_told_how_long_to_wait() -> None:
    answer = answer_to(drf.Throttled(wait=12.4))
    assert answer.status_code == 429
    assert answer["Retry-After"] == "13"
    assert '"rate_limited"' in answer.content.decode()


def test_answers_are_private_and_run_no_script(api: APIClient) -> None:
    answer = api.get("/v1/tagged")
    assert answer["Cache-Control"] == "private, no-cache"
    assert "Authorization" in answer["Vary"]
    assert answer["Content-Security-Policy"] == "default-src 'none'; frame-ancestors 'none'"
    assert answer["X-Content-Type-Options"] == "nosniff"


@pytest.mark.django_db(transaction=True)
def test_a_session_without_its_csrf_token_reads_but_does_not_write(
    api_as: Callable[..., APIClient], owner: User
) -> None:
    api = api_as(owner, csrf=True)
    assert api.get("/v1/tagged").status_code == 200
    error = refused(api.post("/v1/reserve", {"title": "a"}, format="json"), 403, "forbidden")
    assert "X-CSRFToken" in error["message"]
    assert api.get("/v1/used").json() == []
    token = "a" * 32
    api.cookies["chief_csrf"] = token
    answer = api.post("/v1/reserve", {"title": "a"}, headers={"x-csrftoken": token}, format="json")
    assert answer.status_code == 201


# -- Preconditions and preferences -------------------------------------------------------------------


@pytest.mark.parametrize("tag", ['"12"', 'W/"12"', '"11", "12"', "*", '"x","12"'])
def test_who_holds_the_newest_revision_gets_a_304(api: APIClient, tag: str) -> None:
    answer = api.get("/v1/tagged", headers={"if-none-match": tag})
    assert answer.status_code == 304
    assert answer["ETag"] == '"12"'
    assert answer.content == b""


@pytest.mark.parametrize("tag", ['"11"', "12", "", '"12', "é"])
def test_who_holds_another_gets_the_document(api: APIClient, tag: str) -> None:
    assert api.get("/v1/tagged", headers={"if-none-match": tag}).json() == {"revision": 12}


@pytest.mark.parametrize("tag", ['"1"', 'W/"1"', "*", '"1", "x"', ' "1" '])
def test_a_write_is_made_on_the_revision_it_was_meant_for(api: APIClient, tag: str) -> None:
    answer = api.post("/v1/reserve", {"title": "a"}, headers={"if-match": tag}, format="json")
    assert answer.status_code == 201


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("tag", "status", "code"),
    [
        ('"2"', 412, "precondition_failed"),
        ('"abc"', 412, "precondition_failed"),
        ('"99999999999999999999"', 412, "precondition_failed"),
        ("1", 422, "validation_failed"),
        ('"1', 422, "validation_failed"),
        ('"1" "2"', 422, "validation_failed"),
        ('"1","2"', 422, "validation_failed"),
        ("", 422, "validation_failed"),
    ],
)
def test_a_write_on_another_revision_is_refused(api: APIClient, tag: str, status: int, code: str) -> None:
    answer = api.post("/v1/reserve", {"title": "a"}, headers={"if-match": tag}, format="json")
    refused(answer, status, code)
    assert api.get("/v1/used").json() == []


def test_if_match_is_never_ignored(api: APIClient) -> None:
    answer = api.post("/v1/echo", {"title": "a"}, headers={"if-match": '"1"'}, format="json")
    error = refused(answer, 412, "precondition_failed")
    assert "send it without" in error["message"]


@pytest.mark.parametrize(
    "wish", ["return=minimal", "RETURN=MINIMAL", 'return="minimal"; x=1, wait=5', "a, return = minimal"]
)
def test_a_write_to_a_run_answers_with_little_when_that_is_preferred(api: APIClient, wish: str) -> None:
    answer = api.post("/v1/run-write", headers={"prefer": wish})
    assert answer.json() == {"run_id": "r", "revision": 7}
    assert answer["Preference-Applied"] == "return=minimal"
    assert answer["ETag"] == '"7"'


@pytest.mark.parametrize(
    "wish", ["", "return=representation", "return=representation, return=minimal", "é;;=,"]
)
def test_a_write_to_a_run_answers_with_everything_otherwise(api: APIClient, wish: str) -> None:
    answer = api.post("/v1/run-write", headers={"prefer": wish})
    assert set(answer.json()) == {"run_id", "revision", "step_states", "updated_at"}
    assert answer.json()["updated_at"].endswith("Z")
    assert "Preference-Applied" not in answer
    assert answer["ETag"] == '"7"'


# -- Paths -------------------------------------------------------------------------------------------


def test_a_state_path_comes_as_its_ids(api: APIClient) -> None:
    answer = api.get("/v1/runs/run_1/state/s.1/inst_00/updates/updates")
    assert answer.json() == ["run_1", ["s.1", "inst_00", "updates"], True]


@pytest.mark.parametrize("path", ["a//b", "a/", "/a", "a b", "a%20b", "é", "a%0A", "a" * 201])
def test_what_cannot_be_a_state_path_matches_no_route(api: APIClient, path: str) -> None:
    refused(api.get(f"/v1/runs/r/state/{path}/updates"), 404, "not_found")
