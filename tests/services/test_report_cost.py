"""A report takes the same few statements however many branches its run has (contract 3, "Cost").

Counted on the wire: the request comes over HTTP with a token, BEGIN and COMMIT count.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from chief_project.shared.caller import Caller
from chief_project.shared.principals import token_cache
from runs.models import Run, StepInstance, StepState
from runs.services.tree_store import load_tree
from tests.branches import ARTIFACTS, KINDS, STARTS, Branches, Kind, run_with
from workflows.mappers import load_plan

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _token_stays_cached(monkeypatch: pytest.MonkeyPatch) -> None:
    """The bounds are for a token that was read a moment ago; a slow machine would let it grow old."""
    monkeypatch.setattr(token_cache, "ttl", 3600)


def _send(api: APIClient, run: Branches, branch: int, report: dict[str, Any], **headers: str) -> Any:
    headers = {"prefer": "return=minimal"} | headers
    answer = api.post(run.report_to(branch), report, headers=headers)
    assert answer.status_code == 200, answer.content
    return answer.json()


def _statements(
    api: APIClient, run: Branches, branch: int, report: dict[str, Any], **headers: str
) -> list[str]:
    with CaptureQueriesContext(connection) as caught:
        _send(api, run, branch, report, **headers)
    return [query["sql"] for query in caught]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_a_report_takes_no_more_statements_at_ten_thousand_branches_than_at_ten(
    kind: Kind, reviewer: Caller, harness_token: str, api_as: Callable[..., APIClient]
) -> None:
    api = api_as(harness_token)
    counts = {}
    for size in (10, 10_000):
        run = run_with(size, reviewer, run_id=f"r{size}", deep=kind.deep, policy=kind.policy)
        branch = size // 2
        run.dig(branch, reviewer)
        for report in kind.before:
            _send(api, run, branch, report)
        api.get("/v1/me")
        headers = {"idempotency_key": "k" * size.bit_length()} if kind.key else {}
        statements = _statements(api, run, branch, kind.report, **headers)
        assert statements[0].startswith("BEGIN")
        assert statements[-1] == "COMMIT"
        counts[size] = len(statements)
    assert counts[10] == counts[10_000]
    assert counts[10_000] <= kind.at_most


def test_a_report_that_finishes_everything_around_it_takes_two_statements_more_a_construct(
    reviewer: Caller, harness_token: str, api_as: Callable[..., APIClient]
) -> None:
    api = api_as(harness_token)
    closing, done = (
        {"summary": "No more.", "instances_closed": True},
        {"summary": "Done.", "status": "completed"},
    )
    counts = {}
    for size in (10, 10_000):
        run = run_with(size, reviewer, run_id=f"r{size}", deep=3)
        run.dig(7, reviewer)
        for path, said in (
            ("inner1", closing),
            ("after_inner1", done),
            ("inner1/inst_00/inner2", closing),
            ("inner1/inst_00/after_inner2", done),
            ("inner1/inst_00/inner2/inst_00/after_work", done),
        ):
            route = f"/v1/runs/{run.run_id}/state/fan/inst_07/{path}/updates"
            assert api.post(route, said).status_code == 200
        counts[size] = len(_statements(api, run, 7, done))
        branch = StepInstance.objects.get(run__run_id=run.run_id, instance_id="inst_07")
        assert branch.status == "completed"
    assert counts[10] == counts[10_000]
    assert counts[10_000] <= 9 + 2 * 2 + 3


def test_a_wide_failure_skips_its_dependents_in_bulk(
    reviewer: Caller, harness_token: str, api_as: Callable[..., APIClient]
) -> None:
    api = api_as(harness_token)
    counts = []
    for run_id, behind in (("few", 2), ("many", 2_000)):
        run = run_with(10, reviewer, run_id=run_id, policy="fail_fast", behind=behind)
        api.get("/v1/me")
        counts.append(len(_statements(api, run, 3, {"summary": "It broke.", "status": "failed"})))
        skipped = StepState.objects.filter(run__run_id=run_id, status="skipped", skip_cause="dependency")
        assert skipped.count() == 2 * behind  # behind the step in its branch, and behind the construct
    assert counts[0] == counts[1] <= 12


def test_the_multiplied_branches_are_what_registering_them_gives(
    reviewer: Caller, harness_token: str, api_as: Callable[..., APIClient]
) -> None:
    """The other tests of this file lean on it."""
    run = run_with(4, reviewer)
    api = api_as(harness_token)
    answer = api.post("/v1/runs/r1/steps/fan/instances", {}, headers={"prefer": "return=minimal"})
    assert answer.json()["state"]["instance_id"] == "inst_04"
    row = Run.objects.get(run_id=run.run_id)
    fan = load_tree(row, load_plan(row.plan_id)).tree.states["fan"]
    assert fan.instances is not None
    assert [(name, instance.index) for name, instance in fan.instances.items()] == [
        (f"inst_{index:02d}", index) for index in range(5)
    ]
    assert fan.tally == fan.tally | {"pending": 5, "running": 0}
    assert fan.next_index == 5
    columns = [field.attname for field in StepInstance._meta.concrete_fields]
    own = {"id", "instance_id", "index"}
    copied, registered = (
        StepInstance.objects.filter(instance_id=name).values(*(c for c in columns if c not in own)).get()
        for name in ("inst_03", "inst_04")
    )
    assert copied == registered
    for name in ("inst_03", "inst_04"):
        states = StepState.objects.filter(instance__instance_id=name).order_by("pk")
        assert list(states.values_list("step_id", "status", "type")) == [
            ("work", "pending", "task"),
            ("after_work", "pending", "task"),
        ]


def test_later_artifacts_cost_what_the_first_did(
    reviewer: Caller, harness_token: str, api_as: Callable[..., APIClient]
) -> None:
    run, api = run_with(10, reviewer), api_as(harness_token)
    report = STARTS | {"artifacts": ARTIFACTS}
    counts = []
    for _ in range(3):
        api.get("/v1/me")
        counts.append(len(_statements(api, run, 1, report)))
    assert max(counts) <= 10
    assert len(_send(api, run, 1, STARTS)["state"]["artifacts"]) == 3 * len(ARTIFACTS)
