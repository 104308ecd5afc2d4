"""Cancelling a run (contract 3): everything ends at once, and nothing is derived afterwards."""

from __future__ import annotations

from typing import Any

import pytest

from amendments.models import Amendment
from amendments.services.cancel_run import cancel_run
from chief_project.shared.caller import Caller
from chief_project.shared.errors import (
    ChiefError,
    Forbidden,
    InvalidTransition,
    NotFound,
    PreconditionFailed,
)
from chief_project.shared.models import AuditEntry
from runs.models import Run, StepInstance, StepState
from runs.selectors.runs import get_run
from runs.services.ask_question import ask_question
from runs.services.mark_stale import mark_step_stale
from tests.amendments import approve, propose, replay
from tests.plans import checkpoint, loop, task
from tests.runs import add_instance, new_run, report

pytestmark = pytest.mark.django_db


def cancel(caller: Caller, **keys: Any) -> dict[str, Any]:
    return cancel_run(caller=caller, run_id="r1", **keys).full()


def test_everything_unfinished_is_skipped_and_what_is_finished_stays(reviewer: Caller) -> None:
    new_run(reviewer, "a", task("b", depends_on=["a"]), loop("l", ["x"]), task("x"), checkpoint("gate"))
    report(reviewer, "a", "completed")
    report(reviewer, "gate", "running")
    for _ in range(2):
        add_instance(reviewer, "l")
    report(reviewer, "l/inst_00/x", "completed")
    report(reviewer, "l/inst_01/x", "running")
    now = cancel(reviewer, reason="no money")
    assert now["status"] == "cancelled"
    states = now["step_states"]
    assert {name: (state["status"], state["skip_cause"]) for name, state in states.items()} == {
        "a": ("completed", None),
        "b": ("skipped", "cancelled"),
        "l": ("skipped", "cancelled"),
        "gate": ("skipped", "cancelled"),
    }
    first, second = states["l"]["instances"]
    assert (first["status"], first["step_states"]["x"]["status"]) == ("completed", "completed")
    assert (second["status"], second["step_states"]["x"]["skip_cause"]) == ("skipped", "cancelled")
    assert states["gate"]["completed_at"] is not None
    assert states["b"]["completed_at"] is None  # it never began
    assert now["cancelled"]["by"] == "rita"
    assert now["cancelled"]["reason"] == "no money"


def test_tallies_and_counts_tell_the_same_as_the_rows(reviewer: Caller) -> None:
    new_run(reviewer, "a", loop("l", ["x"]), task("x"), checkpoint("gate"))
    report(reviewer, "gate", "running")
    add_instance(reviewer, "l")
    cancel(reviewer)
    run = Run.objects.get()
    assert (run.n_skipped, run.n_pending, run.n_running, run.n_blocked) == (3, 0, 0, 0)
    assert run.blocked_on_person == 0
    assert StepState.objects.get(step_id="l").n_skipped == 1
    assert StepInstance.objects.get().n_skipped == 1


def test_a_step_that_waited_for_a_failed_one_keeps_its_reason(reviewer: Caller) -> None:
    new_run(reviewer)
    report(reviewer, "a", "failed")
    states = cancel(reviewer)["step_states"]
    assert (states["a"]["status"], states["b"]["skip_cause"]) == ("failed", "dependency")
    run = Run.objects.get()
    assert (run.acknowledged, run.failed_at) == (None, None)


def test_a_pending_amendment_is_withdrawn(reviewer: Caller, harness: Caller) -> None:
    new_run(reviewer, "a")
    report(reviewer, "a", "completed")
    made = propose(harness, replay("a"), kind="history_edit")
    now = cancel(reviewer, reason="over")
    assert now["pending_amendment_id"] is None
    amendment = Amendment.objects.get()
    assert (amendment.status, amendment.decided_by) == ("withdrawn", "rita")
    assert amendment.decision_reason == "the run was cancelled: over"
    with pytest.raises(InvalidTransition, match="withdrawn already"):
        approve(reviewer, made["amendment_id"])
    events = list(AuditEntry.objects.filter(stream="run:r1").order_by("id").values_list("event", flat=True))
    assert events[-2:] == ["run.cancelled", "amendment.withdrawn"]
    assert AuditEntry.objects.get(event="amendment.withdrawn").amendment_id == made["amendment_id"]


def test_open_questions_are_closed(reviewer: Caller) -> None:
    new_run(reviewer, "a")
    report(reviewer, "a", "running")
    ask_question(caller=reviewer, run_id="r1", path=("a",), question={"text": "Which?", "fields": []})
    question = cancel(reviewer, reason="over")["step_states"]["a"]["questions"][0]
    assert (question["closed"]["by"], question["closed"]["actor"]) == ("rita", "rita")
    assert "over" in question["closed"]["reason"]
    assert question["answered_at"] is None
    assert StepState.objects.get().open_question is None


@pytest.mark.parametrize("reported", ["running", "failed"])
def test_a_run_is_cancelled_from_any_status_but_completed_and_cancelled(
    reviewer: Caller, reported: str
) -> None:
    new_run(reviewer)
    report(reviewer, "a", reported)
    assert cancel(reviewer)["status"] == "cancelled"
    with pytest.raises(InvalidTransition, match="cancelled already"):
        cancel(reviewer)


def test_a_completed_run_cannot_be_cancelled(reviewer: Caller) -> None:
    new_run(reviewer, "a")
    report(reviewer, "a", "completed")
    with pytest.raises(InvalidTransition, match="completed already"):
        cancel(reviewer)
    assert Run.objects.get().cancelled is None


def test_afterwards_nothing_but_marks_and_comments_is_accepted(reviewer: Caller) -> None:
    new_run(reviewer, loop("l", ["x"]), task("x"), "a")
    cancel(reviewer)
    for attempt in (
        lambda: report(reviewer, "a", "running"),
        lambda: add_instance(reviewer, "l"),
        lambda: propose(reviewer, replay("a"), kind="history_edit"),
    ):
        with pytest.raises(ChiefError) as refused:
            attempt()
        assert refused.value.status == 409
    mark_step_stale(caller=reviewer, run_id="r1", path=("a",), mark={"reason": "old"})
    now = get_run(caller=reviewer, run_id="r1")
    assert now["status"] == "cancelled"
    assert now["step_states"]["a"]["stale"]["reason"] == "old"
    assert now["step_states"]["a"]["status"] == "skipped"


def test_a_relayed_cancellation_keeps_the_claim(relay: Caller) -> None:
    new_run(relay)
    now = cancel(relay, decided_by="Ada")
    assert (now["cancelled"]["by"], now["cancelled"]["actor"]) == ("Ada", relay.actor)


def test_who_may_not_decide_may_not_cancel(reviewer: Caller, harness: Caller, viewer: Caller) -> None:
    run = new_run(reviewer)
    for caller in (harness, viewer):
        with pytest.raises(Forbidden):
            cancel(caller)
    assert get_run(caller=reviewer, run_id="r1") == run


def test_unknown_runs_and_stale_revisions_are_refused(reviewer: Caller) -> None:
    with pytest.raises(NotFound):
        cancel_run(caller=reviewer, run_id="nowhere")
    run = new_run(reviewer)
    report(reviewer, "a", "running")
    with pytest.raises(PreconditionFailed):
        cancel(reviewer, if_match=run["revision"])
    assert Run.objects.get().status == "running"
