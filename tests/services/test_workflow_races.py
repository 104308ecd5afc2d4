"""Two at once: what one of them decides holds, and the other is told (design: one lock order)."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from threading import Barrier
from typing import Any

import pytest
from django.db import connection

from chief_project.shared.caller import Caller, Role
from chief_project.shared.errors import ChiefError
from chief_project.shared.models import AuditEntry
from tests.plans import task
from tests.workflows import new_draft, revised
from workflows import models, selectors
from workflows.services.add_review_note import add_review_note
from workflows.services.approve_workflow import approve_workflow
from workflows.services.archive_workflow import archive_workflow

pytestmark = pytest.mark.django_db(transaction=True)

HARNESS = Caller(actor="planner", role=Role.HARNESS, via="rest", token_id=1, relay=True)


def at_once(*calls: Callable[[], Any]) -> list[Any]:
    """What each call answers, or the code of its refusal, when all begin together."""
    start = Barrier(len(calls))

    def run(call: Callable[[], Any]) -> Any:
        try:
            start.wait()
            return call()
        except ChiefError as refusal:
            return refusal.code
        finally:
            connection.close()

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(run, calls))


def chain_holds(workflow_id: str) -> bool:
    entries = AuditEntry.objects.filter(stream=f"workflow:{workflow_id}").order_by("position")
    found = list(entries.values_list("position", "prev_hash", "hash"))
    return [position for position, _, _ in found] == list(range(1, len(found) + 1)) and all(
        later[1] == former[2] for former, later in pairwise(found)
    )


def test_of_two_approvals_one_holds() -> None:
    new_draft(HARNESS, workflow_id="w1")
    answers = at_once(*[lambda: approve_workflow(caller=HARNESS, workflow_id="w1")["status"]] * 4)
    assert sorted(answers) == ["approved", "invalid_transition", "invalid_transition", "invalid_transition"]
    assert models.Version.objects.count() == 1
    assert chain_holds("w1")


def test_an_approval_never_holds_for_a_text_that_was_not_read() -> None:
    for number in range(5):
        name = f"w{number}"
        draft = new_draft(HARNESS, "a", workflow_id=name)
        revision, approval = at_once(
            lambda draft=draft: revised(HARNESS, draft, task("b"))["revision"],  # type: ignore[misc]
            lambda name=name: approve_workflow(caller=HARNESS, workflow_id=name, revision=1)["status"],  # type: ignore[misc]
        )
        assert (revision, approval) in [(2, "precondition_failed"), ("invalid_transition", "approved")]
        found = selectors.get_workflow(caller=HARNESS, workflow_id=name)
        assert [step["id"] for step in found["steps"]] == (["b"] if revision == 2 else ["a"])
        assert chain_holds(name)


def test_of_twins_with_one_id_one_is_made() -> None:
    answers = at_once(*[lambda: new_draft(HARNESS, workflow_id="w1")["status"]] * 4)
    assert sorted(answers) == ["conflict", "conflict", "conflict", "draft"]
    assert (models.Workflow.objects.count(), models.Plan.objects.count()) == (1, 1)


def test_no_write_is_lost_in_the_etag_or_the_audit() -> None:
    rita = Caller(actor="cli", role=Role.ADMIN, via="cli")
    draft = new_draft(HARNESS, "a", workflow_id="w1")
    at_once(*[lambda: revised(HARNESS, draft, task("b"))["revision"]] * 6)
    found = selectors.get_workflow(caller=HARNESS, workflow_id="w1")
    assert found["revision"] == 7
    assert selectors.workflow_etag(caller=HARNESS, workflow_id="w1") == 7
    assert list(models.Revision.objects.order_by("number").values_list("number", flat=True)) == list(
        range(1, 8)
    )
    assert chain_holds("w1")
    assert at_once(
        lambda: archive_workflow(caller=rita, workflow_id="w1")["status"],
        lambda: add_review_note(caller=HARNESS, workflow_id="w1", body="x"),
    ) == ["archived", "forbidden"]
