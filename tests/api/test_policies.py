"""``GET|PUT /v1/config/approval-policy`` and ``/v1/config/workflow-approval-policy`` (contract 5)."""

from collections.abc import Callable
from typing import Any

import pytest
from rest_framework.test import APIClient

from chief_project.shared.caller import Caller
from chief_project.shared.models import AuditEntry, ConfigDocument, User

AMENDMENTS = "/v1/config/approval-policy"
WORKFLOWS = "/v1/config/workflow-approval-policy"
GUARDS = {AMENDMENTS: "amendment.kind == 'forward'", WORKFLOWS: "workflow.template_id == 'tpl_1'"}
Clients = Callable[..., APIClient]


@pytest.fixture(params=[AMENDMENTS, WORKFLOWS])
def url(request: pytest.FixtureRequest) -> str:
    return request.param  # type: ignore[no-any-return]


def put(api: APIClient, url: str, *rules: Any) -> Any:
    return api.put(url, {"rules": list(rules)}, format="json")


def nothing_written() -> bool:
    return (
        not ConfigDocument.objects.exists()
        and not AuditEntry.objects.filter(event__startswith="config.").exists()
    )


def test_a_policy_is_written_and_read_back(url: str, owner: User, api_as: Clients) -> None:
    api = api_as(owner)
    assert api.get(url).json() == {"rules": []}
    rule = {"match": GUARDS[url], "auto_approve": True}
    answer = put(api, url, rule, {"id": "rest", "match": "true", "auto_approve": False})
    assert answer.status_code == 200
    assert answer.json() == {
        "rules": [{"id": "rule_1"} | rule, {"id": "rest", "match": "true", "auto_approve": False}]
    }
    assert api.get(url).json() == answer.json()
    assert put(api, url, *answer.json()["rules"]).json() == answer.json()


def test_what_a_person_put_in_a_text_comes_back_as_typed(owner: User, api_as: Clients) -> None:
    match = " amendment.kind == \"forward\" &&\n amendment.proposed_by == 'naïve \\'漢\\'' "
    assert (
        put(api_as(owner), AMENDMENTS, {"match": match, "auto_approve": True}).json()["rules"][0]["match"]
        == match
    )


def test_who_may_write_and_read(
    url: str,
    api_as: Clients,
    rita: User,
    vic: User,
    harness_token: str,
    relay_token: str,
    owner: User,
    make_token: Callable[..., str],
) -> None:
    for who, may_read in ((rita, True), (vic, True), (harness_token, False), (relay_token, False)):
        api = api_as(who)
        refused = put(api, url)
        assert refused.status_code == 403
        assert refused.json()["error"]["code"] == "forbidden"
        assert "ask an admin" in refused.json()["error"]["message"]
        assert api.get(url).status_code == (200 if may_read else 403)
    nobody = api_as(None)
    assert nobody.get(url).status_code == put(nobody, url).status_code == 401
    assert nothing_written()
    assert put(api_as(make_token("admin", username="owner")), url).status_code == 200


@pytest.mark.parametrize(
    ("body", "where", "said"),
    [
        ({}, "/rules", "required"),
        ({"rules": None}, "/rules", "null"),
        ({"rules": {}}, "/rules", "array"),
        ({"rules": [], "name": "x"}, "/name", "unknown field 'name'"),
        ({"rules": ["true"]}, "/rules/0", "object"),
        (
            {"rules": [{"match": "true", "auto_approve": False, "why": ""}]},
            "/rules/0/why",
            "unknown field 'why'",
        ),
        ({"rules": [{"match": "true"}]}, "/rules/0/auto_approve", "required"),
        ({"rules": [{"match": "true", "auto_approve": "false"}]}, "/rules/0/auto_approve", "true or false"),
        ({"rules": [{"auto_approve": False}]}, "/rules/0/match", "required"),
        ({"rules": [{"match": 1, "auto_approve": False}]}, "/rules/0/match", "text"),
        ({"rules": [{"match": " ", "auto_approve": False}]}, "/rules/0/match", "blank"),
        ({"rules": [{"match": "true", "auto_approve": False, "id": "a b"}]}, "/rules/0/id", "is not an id"),
        ({"rules": [{"match": "true", "auto_approve": False, "id": None}]}, "/rules/0/id", "null"),
        ({"rules": [{"match": "(", "auto_approve": False}]}, "/rules/0/match", "at character 1"),
        ({"rules": [{"match": "(" * 4_000, "auto_approve": False}]}, "/rules/0/match", "nested more than 64"),
        ({"rules": [{"match": "!" * 4_000, "auto_approve": False}]}, "/rules/0/match", "nested more than 64"),
        (
            {"rules": [{"match": "t" * 4_001, "auto_approve": False}]},
            "/rules/0/match",
            "at most 4000 characters",
        ),
        ({"rules": [{"match": "true", "auto_approve": True}]}, "/rules/0/match", "human decision"),
        ({"rules": [{"match": "true", "auto_approve": False}] * 201}, "/rules", "at most 200 rules"),
    ],
)
def test_a_malformed_policy_is_a_422_that_says_where(
    url: str, owner: User, api_as: Clients, body: Any, where: str, said: str
) -> None:
    answer = api_as(owner).put(url, body, format="json")
    assert answer.status_code == 422
    error = answer.json()["error"]
    assert error["code"] == "validation_failed"
    assert error["details"]["pointer"] == where
    assert said in error["message"]
    assert nothing_written()


def test_a_syntax_error_comes_with_offset_and_expectations(owner: User, api_as: Clients) -> None:
    rule = {"match": "amendment.kind = 'forward'", "auto_approve": True}
    details = put(api_as(owner), AMENDMENTS, rule).json()["error"]["details"]
    assert (details["offset"], details["end"], details["found"]) == (15, 16, "'='")
    assert details["expected"] == ["'=='", "'!='", "'in'", "'subset_of'"]
    assert details["pointed"].splitlines() == ["amendment.kind = 'forward'", " " * 15 + "^"]


def test_a_query_parameter_is_refused_by_name(url: str, admin: Caller, api_as: Clients) -> None:
    assert "'dry'" in api_as(admin).get(f"{url}?dry=1").json()["error"]["message"]
