"""``GET /v1/audit``: who reads it, how it is searched, what an entry shows (contract 8)."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from chief_project.shared import audit, clock
from chief_project.shared.caller import Caller
from chief_project.shared.clock import iso
from chief_project.shared.models import AuditEntry
from runs.services.register_run import register_run
from tests.workflows import new_approved

ApiAs = Callable[..., APIClient]


def note(caller: Caller, event: str = "auth.test", **keys: Any) -> None:
    """An entry in the rest."""
    audit.record(
        caller=caller, event=event, at=keys.pop("at", clock.now()), detail=keys.pop("detail", {}), **keys
    )


def listed(api: APIClient, **query: Any) -> list[dict[str, Any]]:
    answer = api.get("/v1/audit", query)
    assert answer.status_code == 200, answer.content
    entries: list[dict[str, Any]] = answer.json()
    return entries


def test_people_and_viewers_read_it_and_harnesses_dont(
    api_as: ApiAs,
    viewer: Caller,
    reviewer: Caller,
    admin: Caller,
    harness_token: str,
    relay_token: str,
    make_token: Any,
) -> None:
    for who in (viewer, reviewer, admin, make_token("viewer")):
        assert api_as(who).get("/v1/audit").status_code == 200
    for token in (harness_token, relay_token):
        answer = api_as(token).get("/v1/audit")
        assert answer.status_code == 403
        assert "may not read the audit log" in answer.json()["error"]["message"]
    assert api_as(None).get("/v1/audit").status_code == 401


def test_an_entry_shows_who_what_when_and_its_links(api_as: ApiAs, admin: Caller) -> None:
    new_approved(admin, workflow_id="wf_1")
    created, approved = listed(api_as(admin), workflow_id="wf_1")
    assert set(created) == {
        "id",
        "at",
        "event",
        "workflow_id",
        "run_id",
        "amendment_id",
        "detail",
        "actor",
        "via",
        "prev_hash",
        "hash",
    }
    assert (created["event"], approved["event"]) == ("workflow.created", "workflow.approved")
    assert (created["actor"], created["via"], created["detail"]["via"]) == ("owner", "rest", "rest")
    assert (created["prev_hash"], approved["prev_hash"]) == ("", created["hash"])
    entry = AuditEntry.objects.get(pk=created["id"])
    assert created["at"] == iso(entry.at)
    assert created["hash"] == audit.chain_hash("", entry.text)


def test_numbers_come_back_as_they_were_received(api_as: ApiAs, admin: Caller) -> None:
    note(admin, detail={"big": 2**70, "float": 1.0, "small": -3})
    (entry,) = listed(api_as(admin), event="auth.test")
    assert entry["detail"] == {"big": 2**70, "float": 1.0, "small": -3, "via": "rest"}


def test_each_filter_narrows_and_all_of_them_must_match(api_as: ApiAs, admin: Caller) -> None:
    for number in (1, 2):
        new_approved(admin, workflow_id=f"wf_{number}")
        register_run(caller=admin, workflow_id=f"wf_{number}", run_id=f"run_{number}")
    note(admin, workflow_id="wf_1", run_id="run_1", amendment_id="amd_1", event="auth.test")
    api = api_as(admin)
    assert {entry["workflow_id"] for entry in listed(api, workflow_id="wf_1")} == {"wf_1"}
    assert len(listed(api, workflow_id="wf_1")) == 4
    assert [entry["event"] for entry in listed(api, run_id="run_2")] == ["run.registered"]
    assert [entry["amendment_id"] for entry in listed(api, amendment_id="amd_1")] == ["amd_1"]
    assert len(listed(api, event="workflow.approved")) == 2
    assert len(listed(api, event="workflow.approved", workflow_id="wf_2")) == 1
    assert listed(api, event="workflow.approved", run_id="run_1") == []
    assert listed(api, workflow_id="wf_unknown") == []


def test_a_span_of_time_includes_both_ends(api_as: ApiAs, admin: Caller) -> None:
    start = clock.now()
    for minutes in range(4):
        note(admin, at=start + timedelta(minutes=minutes), detail={"n": minutes})

    def numbers(**query: Any) -> list[int]:
        return [entry["detail"]["n"] for entry in listed(api_as(admin), event="auth.test", **query)]

    one, two = iso(start + timedelta(minutes=1)), iso(start + timedelta(minutes=2))
    assert numbers(since=one) == [1, 2, 3]
    assert numbers(until=two) == [0, 1, 2]
    assert numbers(since=one, until=two) == [1, 2]
    assert numbers(since=one.replace("Z", "+00:00")) == [1, 2, 3]


def test_it_comes_oldest_first_in_pages_that_follow_on(api_as: ApiAs, admin: Caller) -> None:
    for number in range(7):
        note(admin, detail={"n": number})
    api = api_as(admin)
    seen: list[int] = []
    answer = api.get("/v1/audit", {"event": "auth.test", "limit": 3})
    assert answer["X-Total-Count"] == "7"
    while True:
        seen += [entry["detail"]["n"] for entry in answer.json()]
        if "Link" not in answer:
            break
        url = answer["Link"].split(">")[0].removeprefix("<")
        answer = api.get(url.removeprefix("http://127.0.0.1:8000"))
    assert seen == list(range(7))


@pytest.mark.parametrize(
    ("query", "parameter"),
    [
        ({"workflow": "wf_1"}, "workflow"),
        ({"workflow_id": "a b"}, "workflow_id"),
        ({"run_id": ""}, "run_id"),
        ({"event": "x" * 61}, "event"),
        ({"since": "yesterday"}, "since"),
        ({"since": "2026-01-31T12:00:00"}, "since"),
        ({"until": "0001-01-01T00:00:00+14:00"}, "until"),
        ({"limit": "0"}, "limit"),
        ({"limit": "1001"}, "limit"),
        ({"cursor": "made-up"}, "cursor"),
        ({"event": "a\0b"}, "event"),
    ],
)
def test_a_query_that_cant_be_meant_is_refused_by_name(
    query: dict[str, str], parameter: str, api_as: ApiAs, admin: Caller
) -> None:
    answer = api_as(admin).get("/v1/audit", query)
    assert answer.status_code == 422
    error = answer.json()["error"]
    assert error["code"] == "validation_failed"
    assert error["details"]["parameter"] == parameter


@pytest.mark.parametrize("method", ["post", "put", "patch", "delete"])
def test_nothing_changes_the_log(method: str, api_as: ApiAs, admin: Caller) -> None:
    note(admin)
    before = AuditEntry.objects.count()
    answer = getattr(api_as(admin), method)("/v1/audit", {}, format="json")
    assert answer.status_code == 405
    assert AuditEntry.objects.count() == before


def test_a_page_takes_the_same_statements_whatever_its_size(
    api_as: ApiAs, admin: Caller, make_token: Any
) -> None:
    api = api_as(make_token("viewer"))
    api.get("/v1/audit")
    for number in range(30):
        note(admin, detail={"n": number})
    for limit in (1, 25):
        with CaptureQueriesContext(connection) as statements:
            api.get("/v1/audit", {"limit": limit})
        assert len(statements) == 2  # the rows, and how many there are
