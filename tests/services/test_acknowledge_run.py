"""A failed run that a person has seen and leaves failed (contract 3)."""

from __future__ import annotations

import pytest

from amendments.services.cancel_run import cancel_run
from amendments.services.reject_amendment import reject_amendment
from chief_project.shared.caller import Caller
from chief_project.shared.errors import Forbidden, InvalidTransition, NotFound, PreconditionFailed
from chief_project.shared.models import AuditEntry
from runs.selectors.runs import get_run
from runs.selectors.waiting import failed_runs_waiting
from tests.amendments import amend, insert_after, propose, replay
from tests.plans import checkpoint, parallel, task
from tests.refusals import refused
from tests.run_calls import acknowledge, assert_agrees, register, resolve, update
from tests.runs import new_run

pytestmark = pytest.mark.django_db


def failed(reviewer: Caller, harness: Caller) -> None:
    new_run(
        reviewer,
        "a",
        "b",
        "c",
        checkpoint("gate"),
        parallel("p", ["x"], on_instance_failure="continue"),
        task("x"),
    )
    update(harness, "a", "failed")


def seen(caller: Caller) -> dict[str, object] | None:
    kept: dict[str, object] | None = get_run(caller=caller, run_id="r1")["acknowledged"]
    return kept


def waiting() -> list[str]:
    return [each.document["run_id"] for each in failed_runs_waiting(mark=None, limit=10)]


def test_an_acknowledged_run_stays_failed_and_waits_for_nobody(reviewer: Caller, harness: Caller) -> None:
    failed(reviewer, harness)
    assert waiting() == ["r1"]
    write = acknowledge(reviewer, by="somebody else")
    run = write.full()
    assert run["status"] == "failed"
    assert run["acknowledged"].pop("at").endswith("Z")
    assert run["acknowledged"] == {"by": "rita", "actor": "rita", "via": "rest"}
    assert_agrees(reviewer, write)
    assert (write.minimal["revision"], write.minimal["run_status"], write.minimal["path"]) == (
        3,
        "failed",
        "",
    )
    assert waiting() == []
    entry = AuditEntry.objects.get(event="run.acknowledged")
    assert (entry.actor, entry.stream) == ("rita", "run:r1")


def test_a_run_that_has_not_failed_has_nothing_to_acknowledge(reviewer: Caller, harness: Caller) -> None:
    new_run(reviewer, "a")
    with refused(InvalidTransition, "running, not failed"):
        acknowledge(reviewer)
    update(harness, "a", "completed")
    with refused(InvalidTransition, "completed, not failed"):
        acknowledge(reviewer)


def test_a_paused_and_a_cancelled_run_are_not_failed(reviewer: Caller, harness: Caller) -> None:
    failed(reviewer, harness)
    propose(harness, insert_after("b", task("n")))
    with refused(InvalidTransition, "paused_for_approval"):
        acknowledge(reviewer)
    cancel_run(caller=reviewer, run_id="r1")
    with refused(InvalidTransition, "cancelled"):
        acknowledge(reviewer)


def test_once_is_enough(reviewer: Caller, admin: Caller, harness: Caller) -> None:
    failed(reviewer, harness)
    acknowledge(reviewer)
    with refused(InvalidTransition, "already, by rita"):
        acknowledge(admin)


def test_only_people_acknowledge(reviewer: Caller, harness: Caller, relay: Caller, viewer: Caller) -> None:
    failed(reviewer, harness)
    for caller in (harness, relay, viewer):
        with refused(Forbidden, "acknowledge a failed run"):
            acknowledge(caller)


def test_over_mcp_nobody_is_a_person(reviewer: Caller, harness: Caller) -> None:
    failed(reviewer, harness)
    agent = Caller(
        actor="rita's token", role=reviewer.role, via="mcp", user_id=reviewer.user_id, token_id=99, relay=True
    )
    with refused(Forbidden, "acknowledge a failed run"):
        acknowledge(agent)


def test_what_else_happens_leaves_it(reviewer: Caller, harness: Caller) -> None:
    failed(reviewer, harness)
    acknowledge(reviewer)
    update(harness, "b", "running")
    update(harness, "b", "completed")
    update(harness, "gate", "running")
    resolve(reviewer, "gate")
    register(harness, "p")
    update(harness, "p/inst_00/x", "completed")
    assert seen(reviewer) is not None
    assert waiting() == []


def test_another_failure_clears_it(reviewer: Caller, harness: Caller) -> None:
    failed(reviewer, harness)
    acknowledge(reviewer)
    update(harness, "b", "failed")
    assert seen(reviewer) is None
    assert waiting() == ["r1"]
    acknowledge(reviewer)
    update(harness, "gate", "running")
    resolve(reviewer, "gate", "rejected", note="no")
    assert seen(reviewer) is None


def test_another_failure_that_is_tolerated_clears_it_too(reviewer: Caller, harness: Caller) -> None:
    failed(reviewer, harness)
    register(harness, "p")
    acknowledge(reviewer)
    update(harness, "p/inst_00/x", "failed")
    assert seen(reviewer) is None


def test_it_is_kept_over_a_pause(reviewer: Caller, harness: Caller) -> None:
    failed(reviewer, harness)
    acknowledge(reviewer)
    amendment = propose(harness, insert_after("b", task("n")))["amendment_id"]
    assert seen(reviewer) is not None
    update(harness, "b", "running")
    reject_amendment(caller=reviewer, amendment_id=amendment)
    assert get_run(caller=reviewer, run_id="r1")["status"] == "failed"
    assert seen(reviewer) is not None
    amend(reviewer, insert_after("b", task("n")))
    assert seen(reviewer) is not None


def test_another_failure_during_a_pause_clears_it(reviewer: Caller, harness: Caller) -> None:
    failed(reviewer, harness)
    acknowledge(reviewer)
    propose(harness, insert_after("b", task("n")))
    update(harness, "b", "failed")
    assert seen(reviewer) is None


def test_a_replay_of_the_failure_clears_it_and_the_next_failure_waits_again(
    reviewer: Caller, harness: Caller
) -> None:
    failed(reviewer, harness)
    acknowledge(reviewer)
    amend(reviewer, replay("a"), kind="history_edit")
    assert seen(reviewer) is None
    update(harness, "a", "failed")
    assert waiting() == ["r1"]


def test_a_replay_of_one_of_two_failures_leaves_it(reviewer: Caller, harness: Caller) -> None:
    failed(reviewer, harness)
    update(harness, "b", "failed")
    acknowledge(reviewer)
    amend(reviewer, replay("a"), kind="history_edit")
    assert get_run(caller=reviewer, run_id="r1")["status"] == "failed"
    assert seen(reviewer) is not None


def test_unknown_runs_and_stale_revisions_are_refused(reviewer: Caller, harness: Caller) -> None:
    failed(reviewer, harness)
    with refused(NotFound, "nowhere"):
        acknowledge(reviewer, run_id="nowhere")
    with refused(PreconditionFailed, "revision 2"):
        acknowledge(reviewer, if_match=1)
