"""Reads of a run take the same few statements at ten branches and at ten thousand (contract 3, "Cost")."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from chief_project.shared.caller import Caller
from tests.branches import run_with

pytestmark = pytest.mark.django_db(transaction=True)

SIZES = (10, 10_000)


@pytest.fixture
def api(reviewer: Caller, harness_token: str, api_as: Callable[..., APIClient]) -> APIClient:
    """A harness; runs ``r10`` and ``r10000`` have that many branches."""
    for size in SIZES:
        run_with(size, reviewer, run_id=f"r{size}")
    return api_as(harness_token)


def _get(api: APIClient, path: str, **headers: str) -> tuple[Any, int]:
    api.get("/v1/me")  # the token is read again every few seconds
    with CaptureQueriesContext(connection) as caught:
        answer = api.get(path, headers=headers)
    return answer, len(caught)


def test_a_whole_run_takes_at_most_twelve_statements(api: APIClient) -> None:
    counts = []
    for size in SIZES:
        answer, statements = _get(api, f"/v1/runs/r{size}")
        assert len(answer.json()["step_states"]["fan"]["instances"]) == size
        counts.append(statements)
    assert counts[0] == counts[1] <= 12


def test_a_run_that_has_not_changed_takes_one_statement(api: APIClient) -> None:
    for size in SIZES:
        tag = api.get(f"/v1/runs/r{size}")["ETag"]
        answer, statements = _get(api, f"/v1/runs/r{size}", if_none_match=tag)
        assert answer.status_code == 304
        assert answer.content == b""
        assert statements == 1


def test_what_is_next_takes_as_many_statements_however_many_branches_there_are(api: APIClient) -> None:
    counts = []
    for size in SIZES:
        answer, statements = _get(api, f"/v1/runs/r{size}/next")
        work = next(entry for entry in answer.json()["ready"] if entry["step_id"] == "work")
        assert work["count"] == size
        counts.append(statements)
    assert counts[0] == counts[1] <= 10


def test_what_is_next_in_a_run_that_has_not_changed_takes_one_statement(api: APIClient) -> None:
    for size in SIZES:
        tag = api.get(f"/v1/runs/r{size}/next")["ETag"]
        answer, statements = _get(api, f"/v1/runs/r{size}/next?limit=7", if_none_match=tag)
        assert answer.status_code == 304
        assert answer.content == b""
        assert statements == 1


def test_a_list_of_runs_does_not_read_their_trees(api: APIClient) -> None:
    answer, statements = _get(api, "/v1/runs")
    assert {run["run_id"] for run in answer.json()} == {f"r{size}" for size in SIZES}
    assert "step_states" not in answer.json()[0]
    assert statements <= 6
