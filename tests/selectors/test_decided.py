"""What became of something that waited: who decided it, and what followed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from amendments.selectors.decided import decided_lately, what_became_of
from amendments.selectors.needs_you import needs_you
from amendments.services.approve_amendment import approve_amendment
from amendments.services.cancel_run import cancel_run
from amendments.services.delete_workflow import delete_workflow
from amendments.services.reject_amendment import reject_amendment
from chief_project.shared.caller import Caller
from chief_project.shared.paging import Paging
from runs.services.acknowledge_run import acknowledge_run
from runs.services.answer_question import answer_question
from runs.services.register_run import register_run
from runs.services.resolve_checkpoint import resolve_checkpoint
from runs.services.withdraw_question import withdraw_question
from tests.amendments import amend, propose, remove, replay
from tests.plans import checkpoint, parallel, task
from tests.runs import add_instance, new_run, report
from tests.selectors.test_waiting import ask
from tests.workflows import new_draft, revised
from workflows.services.approve_workflow import approve_workflow
from workflows.services.archive_workflow import archive_workflow
from workflows.services.reopen_workflow import reopen_workflow
from workflows.services.send_back_workflow import send_back_workflow


@pytest.fixture
def rita_in_browser(reviewer: Caller) -> Caller:
    return replace(reviewer, via="web")


def shown(caller: Caller) -> list[str]:
    return [each["card"] for each in needs_you(caller=caller, paging=Paging()).rows]


def became(caller: Caller, card: str) -> dict[str, Any]:
    return what_became_of(caller=caller, cards=[card])[card]


def told(document: dict[str, Any]) -> tuple[Any, ...]:
    return document["what"], document["by"], document["via"], document["reason"]


def test_what_still_waits_is_open(relay: Caller, viewer: Caller) -> None:
    new_draft(relay, task("a"))
    new_run(relay, checkpoint("gate"), task("a"), task("b"), task("c"))
    report(relay, "gate", "running")
    report(relay, "a", "running")
    ask(relay, "a", "Which?")
    propose(relay, remove("c"))
    new_run(relay, task("a"), run_id="r2")
    report(relay, "a", "failed", run_id="r2")
    cards = shown(viewer)
    assert len(cards) == 5
    found = what_became_of(caller=viewer, cards=cards)
    assert list(found) == cards
    assert all(each["open"] and each["what"] is None for each in found.values())
    assert {each["title"] for each in found.values()} == {"A plan"}


def test_an_approved_draft_says_who_and_which_run_came_of_it(relay: Caller, rita_in_browser: Caller) -> None:
    made = new_draft(relay, task("a"))
    (card,) = shown(relay)
    approve_workflow(caller=rita_in_browser, workflow_id=made["workflow_id"], reason="Small steps.")
    document = became(relay, card)
    assert told(document) == ("approved", "rita", "web", "Small steps.")
    assert (document["open"], document["then"]) == (False, None)
    register_run(caller=relay, workflow_id=made["workflow_id"], run_id="r1")
    register_run(caller=relay, workflow_id=made["workflow_id"], run_id="r2")
    assert became(relay, card)["then"]["run_id"] == "r1"


def test_a_draft_tells_the_first_that_ended_its_wait(relay: Caller, rita_in_browser: Caller) -> None:
    made = new_draft(relay, task("a"))
    workflow_id = made["workflow_id"]
    send_back_workflow(caller=rita_in_browser, workflow_id=workflow_id, reason="Say why.")
    assert told(became(relay, f"draft:{workflow_id}@1")) == ("sent_back", "rita", "web", "Say why.")
    made = revised(relay, made, task("a"), task("b"))
    assert told(became(relay, f"draft:{workflow_id}@1")) == ("sent_back", "rita", "web", "Say why.")
    assert became(relay, f"draft:{workflow_id}@2")["open"]
    revised(relay, made, task("a"), task("c"), reason="Better.")
    assert told(became(relay, f"draft:{workflow_id}@2")) == ("revised", "relayer", "rest", "Better.")
    archive_workflow(caller=rita_in_browser, workflow_id=workflow_id)
    assert told(became(relay, f"draft:{workflow_id}@3")) == ("archived", "rita", "web", None)


def test_a_reopened_draft_tells_the_later_decision(relay: Caller, rita_in_browser: Caller) -> None:
    made = new_draft(relay, task("a"), workflow_id="w1")
    revised(relay, made, task("b"))
    approve_workflow(caller=relay, workflow_id="w1")
    reopen_workflow(caller=relay, workflow_id="w1")
    assert became(relay, "draft:w1@2")["open"]
    assert became(relay, "draft:w1@1")["what"] == "revised"
    archive_workflow(caller=rita_in_browser, workflow_id="w1")
    assert told(became(relay, "draft:w1@2")) == ("archived", "rita", "web", None)


def test_an_amendment_says_who_decided_it_and_when_the_harness_went_on(
    relay: Caller, rita_in_browser: Caller
) -> None:
    new_run(relay, task("a"), task("b"), task("c"))
    first = propose(relay, remove("b"))["amendment_id"]
    reject_amendment(caller=rita_in_browser, amendment_id=first, reason="Not yet.")
    assert told(became(relay, f"amendment:{first}")) == ("rejected", "rita", "web", "Not yet.")
    assert became(relay, f"amendment:{first}")["then"] is None
    report(relay, "a", "running")
    report(relay, "a", "completed")
    document = became(relay, f"amendment:{first}")
    assert (document["then"]["what"], document["then"]["actor"]) == ("reported", "relayer")
    second = propose(relay, remove("b"))["amendment_id"]
    approve_amendment(caller=rita_in_browser, amendment_id=second)
    assert told(became(relay, f"amendment:{second}")) == ("approved", "rita", "web", None)
    assert became(relay, f"amendment:{second}")["then"] is None


def test_a_checkpoint_says_what_was_decided(relay: Caller, rita_in_browser: Caller) -> None:
    new_run(relay, parallel("p", ["gate"]), checkpoint("gate"), checkpoint("top"), task("a"))
    for index in (0, 1):
        add_instance(relay, "p")
        report(relay, f"p/inst_0{index}/gate", "running")
    report(relay, "top", "running")
    resolve_checkpoint(
        caller=rita_in_browser,
        run_id="r1",
        path=("p", "inst_01", "gate"),
        resolution={"decision": "rejected", "response": {}, "note": "Too slow."},
    )
    resolve_checkpoint(
        caller=rita_in_browser, run_id="r1", path=("top",), resolution={"decision": "approved"}
    )
    report(relay, "a", "running")
    found = what_became_of(
        caller=relay,
        cards=[
            "checkpoint:r1@p/inst_00/gate",
            "checkpoint:r1@p/inst_01/gate",
            "checkpoint:r1@top",
        ],
    )
    open_one, rejected, approved = found.values()
    assert open_one["open"]
    assert told(rejected) == ("rejected", "rita", "web", "Too slow.")
    assert told(approved) == ("approved", "rita", "web", None)
    assert (approved["path"], approved["then"]["actor"]) == ("top", "relayer")


def test_a_question_says_who_answered_or_that_it_was_withdrawn(
    relay: Caller, rita_in_browser: Caller
) -> None:
    new_run(relay, task("a"))
    report(relay, "a", "running")
    first = ask(relay, "a", "Which?")
    answer = {"question_id": first, "response": {"text": "This."}}
    answer_question(caller=rita_in_browser, run_id="r1", path=("a",), answer=answer)
    assert told(became(relay, f"question:{first}")) == ("answered", "rita", "web", None)
    second = ask(relay, "a", "And now?")
    withdraw_question(
        caller=relay, run_id="r1", path=("a",), withdrawal={"question_id": second, "reason": "Found it."}
    )
    document = became(relay, f"question:{second}")
    assert (document["what"], document["by"], document["reason"]) == ("withdrawn", "relayer", "Found it.")


def test_a_failed_run_says_who_left_it_so_or_that_it_runs_again(
    relay: Caller, rita_in_browser: Caller
) -> None:
    new_run(relay, task("a"))
    report(relay, "a", "failed")
    acknowledge_run(caller=rita_in_browser, run_id="r1")
    assert told(became(relay, "failed_run:r1")) == ("acknowledged", "rita", "web", None)
    amend(relay, replay("a"), kind="history_edit")
    assert told(became(relay, "failed_run:r1")) == ("went_on", None, None, None)


def test_cancelling_a_run_ends_all_its_cards_at_once(relay: Caller, rita_in_browser: Caller) -> None:
    new_run(relay, checkpoint("gate"), task("a"), task("b"), task("c"))
    report(relay, "gate", "running")
    report(relay, "a", "running")
    ask(relay, "a", "Which?")
    propose(relay, remove("c"))
    cards = shown(relay)
    assert len(cards) == 3
    cancel_run(caller=rita_in_browser, run_id="r1", reason="Called off.")
    assert shown(relay) == []
    found = what_became_of(caller=relay, cards=cards)
    assert {card.partition(":")[0]: (each["what"], each["by"]) for card, each in found.items()} == {
        "checkpoint": ("cancelled", "rita"),
        "question": ("withdrawn", "rita"),
        "amendment": ("withdrawn", "rita"),
    }
    assert all("Called off." in each["reason"] for each in found.values())


def test_a_checkpoint_that_an_amendment_took_out_went_on(relay: Caller, admin: Caller) -> None:
    new_run(relay, checkpoint("gate"), task("a"))
    report(relay, "gate", "running")
    amend(admin, remove("gate"))
    assert shown(relay) == []
    assert became(relay, "checkpoint:r1@gate")["what"] == "went_on"


def test_deleting_a_workflow_ends_its_cards(relay: Caller, admin: Caller) -> None:
    new_run(relay, checkpoint("gate"), task("a"), task("b"), workflow_id="w1")
    report(relay, "gate", "running")
    report(relay, "a", "running")
    ask(relay, "a", "Which?")
    propose(relay, remove("b"))
    cards = shown(relay)
    delete_workflow(caller=admin, workflow_id="w1")
    assert shown(relay) == []
    assert {each["what"] for each in what_became_of(caller=relay, cards=cards).values()} == {"gone"}


@pytest.mark.django_db
@pytest.mark.parametrize(
    "card",
    [
        "",
        "draft:",
        "draft:nothing@1",
        "draft:nothing@x",
        "draft:nothing",
        "draft:@99999999999999999999",
        "amendment:nothing",
        "checkpoint:r1",
        "checkpoint:r1@a/b/c",
        "checkpoint:@",
        "question:nothing",
        "failed_run:nothing",
        "other:thing",
    ],
)
def test_a_name_of_nothing_is_gone(viewer: Caller, card: str) -> None:
    assert became(viewer, card)["what"] == "gone"


def test_it_takes_as_many_statements_however_many_cards(relay: Caller, reviewer: Caller) -> None:
    counts = []
    for count in (1, 9):
        cards = []
        for number in range(count):
            name = f"{count}-{number}"
            made = new_draft(relay, task("a"), workflow_id=f"d{name}")
            approve_workflow(caller=relay, workflow_id=made["workflow_id"])
            register_run(caller=relay, workflow_id=made["workflow_id"])
            run_id = f"q{name}"
            new_run(relay, task("a"), task("b"), checkpoint("gate"), run_id=run_id)
            report(relay, "a", "running", run_id=run_id)
            report(relay, "gate", "running", run_id=run_id)
            question = ask(relay, "a", "Which?", run_id=run_id)
            amendment = propose(relay, remove("b"), run_id=run_id)["amendment_id"]
            new_run(relay, task("a"), run_id=f"f{name}")
            report(relay, "a", "failed", run_id=f"f{name}")
            cards += [
                f"draft:d{name}@1",
                f"checkpoint:{run_id}@gate",
                f"question:{question}",
                f"amendment:{amendment}",
                f"failed_run:f{name}",
            ]
        with CaptureQueriesContext(connection) as asked:
            assert "gone" not in {
                each["what"] for each in what_became_of(caller=reviewer, cards=cards).values()
            }
        counts.append(len(asked))
    assert counts[0] == counts[1] <= 12


def test_what_was_decided_lately_comes_newest_first_with_what_followed(
    relay: Caller, reviewer: Caller, viewer: Caller
) -> None:
    made = new_draft(relay, task("a"), workflow_id="d1", title="Tides")
    send_back_workflow(caller=reviewer, workflow_id="d1")
    revised(relay, made, task("b"), title="Tides")
    new_run(relay, task("a"), checkpoint("gate"), run_id="r1", workflow_id="w1", title="Trains")
    report(relay, "gate", "running")
    resolve_checkpoint(
        caller=reviewer, run_id="r1", path=("gate",), resolution={"decision": "rejected", "note": "No."}
    )
    report(relay, "a", "running")
    acknowledge_run(caller=reviewer, run_id="r1")
    with CaptureQueriesContext(connection) as asked:
        found = decided_lately(caller=viewer, limit=10)
    assert len(asked) == 3
    told = [
        (each["kind"], each["what"], each["by"], each["title"], each["then"] and each["then"]["what"])
        for each in found
    ]
    assert told == [
        ("failed_run", "acknowledged", "rita", "Trains", None),
        ("checkpoint", "rejected", "rita", "Trains", "reported"),
        ("draft", "approved", "human", "Trains", "registered"),
        ("draft", "sent_back", "rita", "Tides", "revised"),
    ]
    assert found[1]["path"] == "gate"
    assert len(decided_lately(caller=viewer, limit=2)) == 2


@pytest.mark.django_db
def test_nothing_was_decided_where_nothing_happened(viewer: Caller) -> None:
    assert decided_lately(caller=viewer, limit=10) == []
