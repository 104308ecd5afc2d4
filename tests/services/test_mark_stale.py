"""Stale marks (contract 3): a label on any step or instance that changes nothing else."""

from __future__ import annotations

import pytest

from chief_project.shared.caller import Caller
from chief_project.shared.errors import Forbidden
from chief_project.shared.models import AuditEntry
from runs.models import Report
from runs.selectors.runs import get_run
from tests.amendments import amend, remove, replay
from tests.derivation import assert_derived
from tests.plans import checkpoint, loop, parallel, task
from tests.refusals import refused
from tests.run_calls import asked, assert_agrees, mark, node_at, register, update
from tests.runs import new_run

pytestmark = pytest.mark.django_db


def everywhere(reviewer: Caller, harness: Caller) -> list[str]:
    """A run with a step at every status, and the paths to mark."""
    new_run(
        reviewer,
        "pending",
        "running",
        "completed",
        "failed",
        task("skipped", depends_on=["failed"]),
        "asking",
        "removed",
        checkpoint("gate"),
        parallel("p", ["x"]),
        task("x"),
    )
    register(harness, "p")
    update(harness, "running", "running")
    update(harness, "completed", "completed")
    update(harness, "failed", "failed")
    update(harness, "gate", "running")
    asked(harness, "asking")
    update(harness, "p/inst_00/x", "completed")
    amend(reviewer, remove("removed"))
    names = ("pending", "running", "completed", "failed", "skipped", "asking", "removed", "gate")
    return [*names, "p", "p/inst_00", "p/inst_00/x"]


def test_every_step_and_instance_can_be_marked_whatever_its_status(reviewer: Caller, harness: Caller) -> None:
    for path in everywhere(reviewer, harness):
        before = get_run(caller=harness, run_id="r1")
        write = mark(reviewer, path, "lost the race")
        stale = write.minimal["state"]["stale"]
        assert stale.pop("marked_at").endswith("Z")
        assert stale == {"reason": "lost the race", "marked_by": "rita", "actor": "rita", "via": "rest"}
        after = write.full()
        node_at(after, path)["stale"] = None
        moved = {"revision", "updated_at"}
        assert {k: v for k, v in after.items() if k not in moved} == {
            k: v for k, v in before.items() if k not in moved
        }
        assert after["revision"] == before["revision"] + 1
        assert write.minimal["next"] == {"items": [], "more": 0}
        assert_derived()


def test_the_answer_to_a_mark_is_what_the_run_says(reviewer: Caller, harness: Caller) -> None:
    for path in everywhere(reviewer, harness):
        assert_agrees(harness, mark(reviewer, path, "old"))


@pytest.mark.parametrize("reason", [None, "", "  \n"])
def test_null_and_blank_clear(reviewer: Caller, harness: Caller, reason: str | None) -> None:
    new_run(reviewer, loop("l", ["x"]), task("x"))
    register(harness, "l")
    for path in ("l", "l/inst_00", "l/inst_00/x"):
        mark(reviewer, path, "old")
        write = mark(reviewer, path, reason)
        assert write.minimal["state"]["stale"] is None
        assert_agrees(harness, write)
    events = AuditEntry.objects.filter(event__startswith="stale.").order_by("id")
    assert list(events.values_list("event", flat=True)) == ["stale.marked", "stale.cleared"] * 3


def test_clearing_what_is_not_marked_is_fine(reviewer: Caller, harness: Caller) -> None:
    new_run(reviewer, "a")
    assert mark(reviewer, "a", None).minimal["state"]["stale"] is None


def test_a_new_mark_replaces_the_old(reviewer: Caller, relay: Caller) -> None:
    new_run(reviewer, "a")
    mark(reviewer, "a", "old")
    stale = mark(relay, "a", "older", marked_by="Ada").minimal["state"]["stale"]
    assert (stale["reason"], stale["marked_by"], stale["actor"]) == ("older", "Ada", "relayer")
    assert mark(relay, "a", "oldest").minimal["state"]["stale"]["marked_by"] == "human"


def test_a_report_leaves_the_mark_and_a_replay_takes_it(reviewer: Caller, harness: Caller) -> None:
    new_run(reviewer, "a")
    mark(reviewer, "a", "old")
    assert update(harness, "a", "completed").minimal["state"]["stale"]["reason"] == "old"
    amend(reviewer, replay("a"), kind="history_edit")
    now = node_at(get_run(caller=harness, run_id="r1"), "a")
    assert now["stale"] is None
    assert now["history"][0]["stale"]["reason"] == "old"


def test_a_mark_is_no_report(reviewer: Caller, harness: Caller) -> None:
    new_run(reviewer, "a")
    mark(reviewer, "a", "old")
    assert Report.objects.count() == 0
    assert get_run(caller=harness, run_id="r1")["last_report_at"] is None


def test_who_may_not_decide_may_not_mark(reviewer: Caller, harness: Caller, viewer: Caller) -> None:
    new_run(reviewer, loop("l", ["x"]), task("x"))
    register(harness, "l")
    for caller in (harness, viewer):
        for path in ("l", "l/inst_00"):
            with refused(Forbidden, "mark work as stale"):
                mark(caller, path, "old")
