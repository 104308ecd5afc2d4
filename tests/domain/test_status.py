"""What a status follows from: each sentence of contract 3, "what the server derives", by hand."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runs.domain.status import (
    STATUSES,
    construct_status,
    empty_tally,
    instance_status,
    move,
    run_status,
)

NOW = datetime(2030, 1, 1, tzinfo=UTC)
LATER = NOW + timedelta(minutes=5)
POLICIES = ["fail_fast", "continue"]


def tally(**counts: int) -> dict[str, int]:
    return empty_tally() | counts


@dataclass
class Node:
    status: str = "pending"
    started_at: datetime | None = None
    completed_at: datetime | None = None


tallies = st.fixed_dictionaries({status: st.integers(0, 3) for status in STATUSES})


# -- Constructs --------------------------------------------------------------------------------------


@pytest.mark.parametrize("policy", POLICIES)
def test_a_construct_is_pending_until_it_has_an_instance_or_is_reported_on(policy: str) -> None:
    assert construct_status(tally(), policy=policy, closed=False, started=False) == "pending"
    assert construct_status(tally(), policy=policy, closed=False, started=True) == "running"
    assert construct_status(tally(pending=1), policy=policy, closed=False, started=False) == "running"


@pytest.mark.parametrize("policy", POLICIES)
def test_a_construct_closed_without_instances_is_completed(policy: str) -> None:
    assert construct_status(tally(), policy=policy, closed=True, started=False) == "completed"
    assert construct_status(tally(), policy=policy, closed=True, started=True) == "completed"


@pytest.mark.parametrize("policy", POLICIES)
def test_a_construct_with_every_instance_done_goes_on_until_it_is_closed(policy: str) -> None:
    assert construct_status(tally(completed=3), policy=policy, closed=False, started=False) == "running"
    assert construct_status(tally(completed=3), policy=policy, closed=True, started=False) == "completed"


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("open_one", ["pending", "running", "blocked"])
def test_a_closed_construct_waits_for_its_last_instance(policy: str, open_one: str) -> None:
    counts = tally(completed=2, **{open_one: 1})
    assert construct_status(counts, policy=policy, closed=True, started=True) == "running"


@pytest.mark.parametrize("closed", [True, False])
def test_under_fail_fast_one_failed_instance_fails_the_construct(closed: bool) -> None:
    counts = tally(failed=1, running=2, completed=5)
    assert construct_status(counts, policy="fail_fast", closed=closed, started=True) == "failed"


def test_under_continue_a_failed_instance_counts_as_done() -> None:
    assert (
        construct_status(tally(failed=1, completed=1), policy="continue", closed=True, started=True)
        == "completed"
    )
    assert (
        construct_status(tally(failed=1, running=1), policy="continue", closed=True, started=True)
        == "running"
    )
    assert construct_status(tally(failed=2), policy="continue", closed=False, started=True) == "running"


@pytest.mark.parametrize("policy", POLICIES)
def test_skipped_instances_are_done(policy: str) -> None:
    assert construct_status(tally(skipped=2), policy=policy, closed=True, started=False) == "completed"


# -- Instances ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("policy", POLICIES)
def test_an_instance_is_pending_until_something_in_it_begins(policy: str) -> None:
    assert instance_status(tally(pending=2), policy=policy, started=False) == "pending"
    assert instance_status(tally(pending=2), policy=policy, started=True) == "running"
    assert instance_status(tally(pending=1, running=1), policy=policy, started=False) == "running"
    assert instance_status(tally(pending=1, blocked=1), policy=policy, started=False) == "running"
    assert instance_status(tally(pending=1, completed=1), policy=policy, started=False) == "running"


@pytest.mark.parametrize("policy", POLICIES)
def test_an_instance_is_completed_once_its_body_is_done(policy: str) -> None:
    assert instance_status(tally(completed=2), policy=policy, started=False) == "completed"
    assert instance_status(tally(completed=1, skipped=1), policy=policy, started=False) == "completed"
    assert instance_status(tally(completed=1, blocked=1), policy=policy, started=False) == "running"


def test_a_failed_body_step_fails_its_instance_under_fail_fast_only() -> None:
    counts = tally(failed=1, completed=1)
    assert instance_status(counts, policy="fail_fast", started=False) == "failed"
    assert instance_status(counts, policy="continue", started=False) == "completed"
    assert instance_status(tally(failed=1, skipped=2), policy="continue", started=False) == "completed"
    assert instance_status(tally(failed=1, pending=1), policy="continue", started=False) == "running"
    assert instance_status(tally(failed=1, pending=1), policy="fail_fast", started=False) == "failed"


@given(tallies, st.booleans())
def test_an_instance_never_fails_under_continue(counts: dict[str, int], started: bool) -> None:
    assert instance_status(counts, policy="continue", started=started) != "failed"


@given(tallies, st.booleans())
def test_an_instance_follows_the_rule_of_a_closed_construct(counts: dict[str, int], started: bool) -> None:
    """Contract 3: "the same rule over its own body's states"; a body never grows, so it is as if closed."""
    if sum(counts.values()):
        begun = counts["running"] + counts["blocked"] + counts["completed"] + counts["failed"]
        for policy in POLICIES:
            ours = instance_status(counts, policy=policy, started=started)
            theirs = construct_status(counts, policy=policy, closed=True, started=started)
            if ours == "pending":
                assert not begun
                assert theirs == "running"  # it has an instance
            else:
                assert ours == theirs


# -- The run -----------------------------------------------------------------------------------------


def test_a_failed_top_level_step_comes_before_everything() -> None:
    counts = tally(failed=1, blocked=1, running=1, completed=1)
    assert run_status(counts, blocked_on_person=1) == "failed"


def test_a_run_is_completed_when_every_top_level_step_is_completed_or_skipped() -> None:
    assert run_status(tally(completed=1, skipped=2), blocked_on_person=0) == "completed"
    assert run_status(tally(skipped=2), blocked_on_person=0) == "completed"
    assert run_status(tally(completed=2), blocked_on_person=1) == "completed"


@pytest.mark.parametrize("open_one", ["pending", "running"])
def test_a_run_waits_for_a_person_while_anything_in_its_tree_does(open_one: str) -> None:
    assert run_status(tally(**{open_one: 1}), blocked_on_person=1) == "waiting_on_human"
    assert run_status(tally(**{open_one: 1}), blocked_on_person=0) == "running"


def test_a_blocked_step_that_waits_for_no_person_leaves_the_run_running() -> None:
    assert run_status(tally(blocked=1, completed=1), blocked_on_person=0) == "running"


# -- Times -------------------------------------------------------------------------------------------


def test_the_times_follow_the_status() -> None:
    node = Node()
    assert move(node, "running", NOW)
    assert (node.started_at, node.completed_at) == (NOW, None)
    assert move(node, "blocked", LATER)
    assert (node.started_at, node.completed_at) == (NOW, None)
    assert move(node, "completed", LATER)
    assert (node.started_at, node.completed_at) == (NOW, LATER)


@pytest.mark.parametrize("status", ["completed", "failed"])
def test_what_is_finished_at_once_began_then_too(status: str) -> None:
    node = Node()
    move(node, status, NOW)
    assert (node.started_at, node.completed_at) == (NOW, NOW)


@pytest.mark.parametrize("was", ["running", "blocked", "completed", "failed", "skipped"])
def test_back_to_pending_clears_both_times(was: str) -> None:
    node = Node(was, NOW, NOW)
    assert move(node, "pending", LATER)
    assert (node.started_at, node.completed_at) == (None, None)


def test_a_construct_that_opens_again_is_no_longer_complete() -> None:
    node = Node("completed", NOW, NOW)
    move(node, "running", LATER)
    assert (node.started_at, node.completed_at) == (NOW, None)


def test_a_skipped_step_that_never_began_has_no_times() -> None:
    node = Node()
    move(node, "skipped", NOW)
    assert (node.started_at, node.completed_at) == (None, None)


@given(st.sampled_from(STATUSES))
def test_the_same_status_again_moves_nothing(status: str) -> None:
    node = Node(status, NOW, NOW)
    assert not move(node, status, LATER)
    assert (node.started_at, node.completed_at) == (NOW, NOW)
