"""What waits for a person, with what the decision needs."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from amendments.selectors.needs_you import needs_you, read_card, waiting_cards
from chief_project.shared.caller import Caller
from chief_project.shared.paging import Paging
from runs.models import StepState
from tests.amendments import amend, insert_after, propose, remove, replay, update
from tests.plans import checkpoint, loop, parallel, task
from tests.run_rows import THEN, instance_rows, run_row, state_row
from tests.runs import add_instance, new_run, report
from tests.selectors.test_waiting import ask
from tests.workflows import new_draft, revised
from workflows.selectors import UNLABELLED
from workflows.services.add_review_note import add_review_note
from workflows.services.mark_seen import mark_seen
from workflows.services.resolve_review_note import resolve_review_note


def cards(caller: Caller, **keys: Any) -> list[dict[str, Any]]:
    return needs_you(caller=caller, paging=Paging(), **keys).rows


def test_a_draft_says_what_it_holds(relay: Caller, reviewer: Caller) -> None:
    made = new_draft(
        relay, task("a"), loop("l", ["b"]), task("b"), checkpoint("gate", depends_on=["l"]), project="harbour"
    )
    (card,) = cards(reviewer)
    assert card["card"] == f"draft:{made['workflow_id']}@1"
    assert card["types"] == {"task": 2, "loop": 1, "checkpoint": 1}
    assert [step["step_id"] for step in card["begins"]] == ["a", "l", "gate"]
    assert card["begins"][2] == {"step_id": "gate", "type": "checkpoint", "goal": checkpoint("gate")["goal"]}
    assert card["top"] == 3
    assert (card["seen"], card["changes"], card["own_notes"]) == (None, None, {"open": 0, "all": 0})
    assert (card["submitted_by"], card["project"], card["kind"]) == ("relayer", "harbour", "draft")


def test_of_a_long_draft_the_first_steps_are_told(relay: Caller, reviewer: Caller) -> None:
    new_draft(relay, *(task(f"s{n}") for n in range(9)))
    (card,) = cards(reviewer)
    assert [step["step_id"] for step in card["begins"]] == ["s0", "s1", "s2", "s3", "s4", "s5"]
    assert card["top"] == 9


def test_a_draft_says_what_changed_since_this_person_looked(
    relay: Caller, reviewer: Caller, admin: Caller
) -> None:
    made = new_draft(relay, task("a"), task("b"), task("c"))
    workflow_id = made["workflow_id"]
    note = add_review_note(caller=reviewer, workflow_id=workflow_id, body="Why?", step_id="b")
    add_review_note(caller=reviewer, workflow_id=workflow_id, body="And when?")
    add_review_note(caller=admin, workflow_id=workflow_id, body="Mine.")
    resolve_review_note(caller=reviewer, workflow_id=workflow_id, note_id=note["note_id"])
    revised(relay, made, task("a", goal="Do it well", criteria=["it holds"]), task("c"), task("d"))
    (card,) = cards(reviewer)
    assert card["card"] == f"draft:{workflow_id}@2"
    assert card["seen"]["revision"] == 1
    assert card["changes"] == {
        "title": False,
        "added": ["d"],
        "removed": ["b"],
        "changed": [{"step_id": "a", "fields": ["goal", "criteria"]}],
        "groups": False,
        "same": False,
    }
    assert card["own_notes"] == {"open": 1, "all": 2}
    assert card["open_notes"] == 2
    mark_seen(caller=reviewer, workflow_id=workflow_id, revision=2)
    (card,) = cards(reviewer)
    assert (card["seen"]["revision"], card["changes"]) == (2, None)
    (card,) = cards(relay)
    assert (card["seen"], card["own_notes"]) == (None, {"open": 0, "all": 0})


def test_an_amendment_says_in_facts_what_each_operation_does(relay: Caller) -> None:
    new_run(relay, task("a", criteria=["it holds"]), task("b"), task("c"), task("d"))
    report(relay, "a", "completed", criteria_met={"c1": "It does."})
    made = propose(
        relay,
        insert_after("a", task("seed", goal="Try two more seeds")),
        update(task("seed", goal="Try three more seeds")),
        replay("a"),
        update(task("b", goal="Do b better", criteria=["it is better"])),
        remove("c"),
        kind="history_edit",
    )
    (card,) = cards(relay)
    assert card["card"] == f"amendment:{made['amendment_id']}"
    assert [(each.code, each.step.id, each.changed) for each in card["told"]] == [
        ("inserts", "seed", ()),
        ("rewords", "seed", ("goal",)),
        ("reruns", "a", ()),
        ("changes", "b", ("goal", "criteria")),
        ("removes", "c", ()),
    ]
    assert [each.standing and each.standing.word for each in card["told"]] == [
        None,
        None,
        "finished",
        "waiting",
        "waiting",
    ]
    assert card["edits"] == ["a"]


def test_an_amendment_of_a_body_step_counts_its_copies(relay: Caller) -> None:
    new_run(relay, parallel("p", ["b"], on_instance_failure="continue"), task("b"))
    for index, status in enumerate(("completed", "failed", "running")):
        add_instance(relay, "p")
        report(relay, f"p/inst_0{index}/b", status)
    propose(relay, replay("b", instance_id="inst_00"), kind="history_edit")
    (card,) = cards(relay)
    (told,) = card["told"]
    assert (told.path, told.standing.counts) == ("p/inst_00", {"completed": 1, "failed": 1, "running": 1})


def test_a_checkpoint_brings_what_led_to_it(relay: Caller) -> None:
    new_run(
        relay,
        loop("rounds", ["try", "look"]),
        task("try", criteria=["it holds", "it lasts"]),
        checkpoint("look", depends_on=["try"], fields=[{"name": "why"}]),
        task("after", depends_on=["rounds"]),
    )
    for index in (0, 1):
        add_instance(relay, "rounds", metadata={"month": f"2021-0{index + 1}"})
    report(relay, "rounds/inst_00/try", "running")
    report(
        relay,
        "rounds/inst_01/try",
        "completed",
        summary="Held for two days.",
        criteria_met={"c1": "yes", "c2": "yes"},
        artifacts=[{"artifact_id": "art_1", "type": "text/markdown", "ref": "notes/soak.md"}],
    )
    report(relay, "rounds/inst_01/look", "running", artifacts=[{"type": "note", "data": {"text": "see"}}])
    (card,) = cards(relay)
    assert card["card"] == "checkpoint:r1@rounds/inst_01/look"
    (evidence,) = card["evidence"]
    assert evidence["path"] == "rounds/inst_01/try"
    assert evidence["summary"] == "Held for two days."
    assert (evidence["status"], evidence["criteria"], evidence["criteria_met"]) == ("completed", 2, 2)
    assert evidence["artifacts"] == [
        {"artifact_id": "art_1", "type": "text/markdown", "description": None, "ref": "notes/soak.md"}
    ]
    assert len(card["artifacts"]) == 1
    assert (card["holds"], card["running"]) == (0, 1)
    assert card["heard"]["actor"] == "relayer"


def test_a_checkpoint_after_a_construct_tells_its_counts(relay: Caller) -> None:
    new_run(
        relay,
        parallel("p", ["b"], on_instance_failure="continue"),
        task("b"),
        checkpoint("gate", depends_on=["p"]),
        task("c", depends_on=["gate"]),
        task("d", depends_on=["c"]),
    )
    for index, status in enumerate(("completed", "failed")):
        add_instance(relay, "p")
        report(relay, f"p/inst_0{index}/b", status)
    report(relay, "p", instances_closed=True)
    report(relay, "gate", "running")
    (card,) = cards(relay)
    (evidence,) = card["evidence"]
    assert (evidence["status"], evidence["failures"], evidence["counts"]["completed"]) == ("completed", 1, 2)
    assert card["holds"] == 2


def test_a_question_says_who_asks_and_what_goes_on(relay: Caller) -> None:
    new_run(relay, task("a"), task("b"), task("c", depends_on=["a"]))
    report(relay, "a", "running")
    report(relay, "b", "running")
    question_id = ask(relay, "a", "Which?")
    (card,) = cards(relay)
    assert card["card"] == f"question:{question_id}"
    assert (card["asked_actor"], card["holds"], card["running"]) == ("relayer", 1, 1)


def test_a_failed_run_names_the_step_that_made_it_fail(relay: Caller) -> None:
    new_run(
        relay,
        loop("months", ["copy", "check"], instance_params=[{"name": "month"}]),
        task("copy"),
        task("check", depends_on=["copy"]),
        task("after", depends_on=["months"]),
    )
    for index in (0, 1):
        add_instance(relay, "months", metadata={"month": f"2021-0{index + 1}"})
    report(relay, "months/inst_00/copy", "completed")
    report(relay, "months/inst_00/check", "completed")
    report(
        relay,
        "months/inst_01/copy",
        "failed",
        summary="Checksums differ.",
        artifacts=[{"artifact_id": "diff", "type": "text/csv", "ref": "mismatch.csv"}],
    )
    (card,) = cards(relay)
    assert card["card"] == "failed_run:r1"
    (failure,) = card["failures"]
    assert failure["path"] == "months/inst_01/copy"
    assert failure["summary"] == "Checksums differ."
    assert failure["parameters"] == {"month": "2021-02"}
    assert failure["around"] == {"done": 1, "failed": 1, "of": 2}
    assert [each["artifact_id"] for each in failure["artifacts"]] == ["diff"]
    assert card["will_not_run"] == 2
    assert (card["counts"]["failed"], card["counts"]["skipped"]) == (1, 1)


def test_a_failure_that_was_tolerated_did_not_stop_the_run(relay: Caller) -> None:
    new_run(relay, parallel("p", ["b"], on_instance_failure="continue"), task("b"), task("c"))
    add_instance(relay, "p")
    report(relay, "p/inst_00/b", "failed")
    report(relay, "c", "failed", summary="No network.")
    (card,) = cards(relay)
    assert [each["path"] for each in card["failures"]] == ["c"]


def test_a_label_keeps_the_cards_of_its_workflows(relay: Caller) -> None:
    new_draft(relay, task("a"), project="harbour")
    new_draft(relay, task("a"), project="quay")
    new_draft(relay, task("a"), project=None)
    assert [card["project"] for card in cards(relay, project="quay")] == ["quay"]
    assert [card["project"] for card in cards(relay, project=UNLABELLED)] == [None]
    assert len(cards(relay)) == 3


@pytest.mark.django_db
def test_it_takes_as_many_statements_however_much_waits(relay: Caller, reviewer: Caller) -> None:
    counts = []
    for count in (1, 12):
        for number in range(count):
            name = f"{count}-{number}"
            made = new_draft(relay, task("a"), workflow_id=f"d{name}")
            mark_seen(caller=reviewer, workflow_id=made["workflow_id"], revision=1)
            revised(relay, made, task("a"), task("b"))
            run = run_row(
                parallel("p", ["gate"]),
                task("before"),
                checkpoint("gate"),
                checkpoint("top", depends_on=["before"]),
                run_id=f"r{name}",
                workflow_id=f"w{name}",
                status="waiting_on_human",
                blocked_on_person=2,
            )
            instance_rows(run, state_row(run, "p"), 1)
            StepState.objects.filter(run=run, step_id__in=["gate", "top"]).update(
                status="blocked", started_at=THEN
            )
            new_run(relay, task("a"), task("b"), task("c"), run_id=f"q{name}")
            report(relay, "a", "running", run_id=f"q{name}")
            ask(relay, "a", "Which?", run_id=f"q{name}")
            propose(relay, remove("b"), run_id=f"q{name}")
            new_run(relay, task("a"), run_id=f"f{name}")
            report(relay, "a", "failed", run_id=f"f{name}")
        cards(reviewer)
        with CaptureQueriesContext(connection) as asked:
            found = cards(reviewer)
        counts.append(len(asked))
        assert {each["kind"] for each in found} == {
            "draft",
            "checkpoint",
            "question",
            "amendment",
            "failed_run",
        }
    assert counts[0] == counts[1] <= 32


def test_an_amendment_that_was_applied_asks_for_nothing(relay: Caller) -> None:
    new_run(relay, task("a"), task("b"))
    amend(relay, remove("b"))
    assert cards(relay) == []


def test_each_card_can_be_read_by_its_name(relay: Caller, viewer: Caller) -> None:
    new_draft(relay, task("a"))
    new_run(relay, loop("l", ["gate"]), checkpoint("gate"), task("a"), task("b"))
    for index in (0, 1):
        add_instance(relay, "l")
        report(relay, f"l/inst_0{index}/gate", "running")
    report(relay, "a", "running")
    ask(relay, "a", "Which?")
    propose(relay, remove("b"))
    new_run(relay, task("a"), run_id="r2")
    report(relay, "a", "failed", run_id="r2")
    found = cards(viewer)
    assert len(found) == 6
    named = waiting_cards(caller=viewer, paging=Paging()).rows
    assert named == [{"card": card["card"], "since": card["since"]} for card in found]
    for card in found:
        assert read_card(caller=viewer, card=card["card"]) == card
    for nothing in ("", "draft:x@1", "draft:x", "checkpoint:r1", "checkpoint:r1@l/inst_02/gate", "other:r2"):
        assert read_card(caller=viewer, card=nothing) is None


def test_a_draft_that_moved_on_is_compared_with_what_was_shown(relay: Caller, reviewer: Caller) -> None:
    made = new_draft(relay, task("a"), workflow_id="w1")
    made = revised(relay, made, task("a"), task("b"))
    revised(relay, made, task("a"), task("b"), task("c"))
    card = read_card(caller=reviewer, card="draft:w1@2")
    assert card is not None
    assert (card["card"], card["seen"]["revision"], card["changes"]["added"]) == ("draft:w1@3", 2, ["c"])
    card = read_card(caller=reviewer, card="draft:w1@3")
    assert card is not None
    assert (card["seen"], card["changes"]) == (None, None)
