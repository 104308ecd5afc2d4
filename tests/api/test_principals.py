"""Who is let in below ``/v1``, by which credential, and what ``GET /v1/me`` says of them (contract 9)."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from chief_project.shared import principals
from chief_project.shared.caller import Caller, Role
from chief_project.shared.models import User
from chief_project.shared.services.set_active import set_active
from chief_project.shared.services.set_role import set_role

ApiAs = Callable[..., APIClient]
Make = Callable[..., str]
BEARER = "Authorization: Bearer chf_"


def test_nobody_is_told_to_sign_in(api_as: ApiAs) -> None:
    answer = api_as(None).get("/v1/me")
    assert answer.status_code == 401
    assert answer.json()["error"]["code"] == "unauthenticated"
    assert BEARER in answer.json()["error"]["message"]
    assert answer["WWW-Authenticate"].startswith("Bearer")


def test_a_harness_sees_its_name_and_its_rights(api_as: ApiAs, harness_token: str) -> None:
    assert api_as(harness_token).get("/v1/me").json() | {"principal": "", "token": None} == {
        "principal": "",
        "actor": "planner",
        "role": "harness",
        "rights": ["read", "work"],
        "relay": False,
        "person": False,
        "signed_in": False,
        "username": None,
        "token": None,
    }
    token = api_as(harness_token).get("/v1/me").json()["token"]
    assert token["name"] == "planner"
    assert harness_token.startswith(token["prefix"])
    assert harness_token not in str(token)


def test_a_relaying_harness_may_decide_and_no_more(api_as: ApiAs, relay_token: str) -> None:
    me = api_as(relay_token).get("/v1/me").json()
    assert me["relay"] is True
    assert me["rights"] == ["read", "work", "decide"]


@pytest.mark.parametrize(
    ("role", "rights"),
    [
        (Role.VIEWER, ["read", "oversee"]),
        (Role.REVIEWER, ["read", "oversee", "work", "decide", "review"]),
        (Role.ADMIN, ["read", "oversee", "work", "decide", "review", "administer"]),
    ],
)
def test_a_signed_in_person_has_the_rights_of_their_role(
    role: Role, rights: list[str], api_as: ApiAs, rita: User, admin: Caller
) -> None:
    set_role(caller=admin, user_id=rita.pk, role=role)
    me = api_as(rita).get("/v1/me").json()
    assert (me["principal"], me["actor"], me["username"]) == (f"user:{rita.pk}", "rita", "rita")
    assert (me["role"], me["rights"], me["signed_in"], me["person"]) == (role.value, rights, True, True)
    assert me["token"] is None


def test_a_persons_token_counts_as_them_and_is_a_principal_of_its_own(
    api_as: ApiAs, make_token: Make, rita: User
) -> None:
    me = api_as(make_token("reviewer", username="rita", name="laptop")).get("/v1/me").json()
    assert (me["actor"], me["username"], me["person"], me["signed_in"]) == ("rita", "rita", True, False)
    assert me["principal"] == f"token:{me['token']['token_id']}"
    assert me["token"]["name"] == "laptop"


@pytest.mark.parametrize(
    ("header", "said"),
    [
        ("Basic b3duZXI6cGFzcw==", "takes no 'Basic' credentials"),
        ("Token chf_" + "0" * 64, "takes no 'Token' credentials"),
        ("chf_" + "0" * 64, BEARER),
        ("Bearer\tchf_" + "0" * 64, BEARER),
        ("Bearer", BEARER),
        ("Bearer something-else", BEARER),
        ("Bearer chf_a chf_b", BEARER),
        ("Bearer chf_" + "0" * 64, "unknown, revoked or expired"),
        ("Bearer chf_short", "unknown, revoked or expired"),
        ("Bearer chf_" + "é" * 64, "unknown, revoked or expired"),
        ("Bearer chf_" + "0" * 5000, "unknown, revoked or expired"),
    ],
)
def test_a_credential_that_fails_is_refused_and_says_how_to_send_one(
    header: str, said: str, api_as: ApiAs
) -> None:
    answer = api_as(None).get("/v1/me", HTTP_AUTHORIZATION=header)
    assert answer.status_code == 401
    assert answer.json()["error"]["code"] == "unauthenticated"
    assert said in answer.json()["error"]["message"]
    assert "0000" not in answer.content.decode()  # no part of a token is said back


def test_the_scheme_may_be_written_in_any_case(api_as: ApiAs, harness_token: str) -> None:
    answer = api_as(None).get("/v1/me", HTTP_AUTHORIZATION=f"bearer {harness_token}")
    assert answer.json()["actor"] == "planner"


def test_a_bad_token_isnt_saved_by_a_good_session(api_as: ApiAs, rita: User) -> None:
    api = api_as(rita)
    assert api.get("/v1/me", HTTP_AUTHORIZATION="Bearer chf_" + "0" * 64).status_code == 401


@pytest.mark.parametrize("name", ["token", "access_token", "authorization", "api_key"])
def test_a_token_in_the_url_or_a_cookie_opens_nothing(name: str, api_as: ApiAs, harness_token: str) -> None:
    api = api_as(None)
    assert api.get("/v1/me", {name: harness_token}).status_code == 401
    api.cookies[name] = harness_token
    assert api.get("/v1/me").status_code == 401


def test_a_person_without_a_role_may_do_nothing_and_is_told_whom_to_ask(
    api_as: ApiAs, rita: User, admin: Caller
) -> None:
    api = api_as(rita)
    set_role(caller=admin, user_id=rita.pk, role=None)
    answer = api.get("/v1/me")
    assert answer.status_code == 403
    assert answer.json()["error"]["code"] == "forbidden"
    assert "ask an admin" in answer.json()["error"]["message"]


def test_a_deactivated_persons_session_ends(api_as: ApiAs, rita: User, admin: Caller) -> None:
    api = api_as(rita)
    assert api.get("/v1/me").status_code == 200
    set_active(caller=admin, user_id=rita.pk, active=False)
    assert api.get("/v1/me").status_code == 401


def test_a_sessions_writes_need_the_csrf_token_and_a_tokens_dont(
    api_as: ApiAs, owner: User, make_token: Make
) -> None:
    body = {"rules": []}
    answer = api_as(owner, csrf=True).put("/v1/config/approval-policy", body, format="json")
    assert answer.status_code == 403
    assert answer.json()["error"]["code"] == "forbidden"
    assert "CSRF" in answer.json()["error"]["message"]
    api = api_as(make_token("admin", username="owner"), csrf=True)
    assert api.put("/v1/config/approval-policy", body, format="json").status_code == 200


def test_a_session_with_the_csrf_token_writes(owner: User) -> None:
    api = APIClient(enforce_csrf_checks=True)
    api.force_login(owner, backend="django.contrib.auth.backends.ModelBackend")
    api.get("/")  # the page has a form, and so sets the cookie
    answer = api.put(
        "/v1/config/approval-policy",
        {"rules": []},
        format="json",
        HTTP_X_CSRFTOKEN=api.cookies["chief_csrf"].value,
    )
    assert answer.status_code == 200


def test_a_warm_token_costs_no_statement_to_authenticate(api_as: ApiAs, harness_token: str) -> None:
    api = api_as(harness_token)
    api.get("/v1/me")
    with CaptureQueriesContext(connection) as statements:
        api.get("/v1/me")
    assert [s["sql"] for s in statements if "shared_apitoken" not in s["sql"]] == []
    assert len(statements) == 1  # what `me` itself reads


def test_a_cold_token_costs_one_read_and_now_and_then_one_write(api_as: ApiAs, harness_token: str) -> None:
    api = api_as(harness_token)
    for expected in (3, 2):  # its first use is kept; the next within minutes isn't
        principals.token_cache.forget()
        with CaptureQueriesContext(connection) as statements:
            api.get("/v1/me")
        assert len(statements) == expected


def test_answers_are_private_to_their_principal(api_as: ApiAs, harness_token: str) -> None:
    answer = api_as(harness_token).get("/v1/me")
    assert "private" in answer["Cache-Control"]
    assert "Authorization" in answer["Vary"]


def test_a_session_of_the_pages_is_one_of_the_api(client: Client, rita: User) -> None:
    client.force_login(rita, backend="django.contrib.auth.backends.ModelBackend")
    assert client.get("/v1/me").json()["actor"] == "rita"
    client.post("/signout")
    assert client.get("/v1/me").status_code == 401
