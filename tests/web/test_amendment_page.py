"""The page of an amendment: what it would do in words, drawn, and operation by operation; and one decision."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from amendments.models import Amendment
from amendments.services.approve_amendment import approve_amendment
from amendments.services.withdraw_amendment import withdraw_amendment
from chief_project.shared.caller import Caller
from chief_project.shared.models import AuditEntry, User
from runs.models import Run
from runs.services.register_run import register_run
from tests.amendments import amend, approve, insert_after, propose, remove, replay, update
from tests.plans import checkpoint, loop, task
from tests.runs import add_instance, new_run, report
from workflows.mappers import plan_cache

pytestmark = pytest.mark.django_db
WebAs = Callable[..., Client]


def words(content: bytes) -> str:
    """The page's text as it is read: no tags, blanks run together."""
    text = re.sub(r"<(script|style)\b.*?</\1>", "", content.decode(), flags=re.DOTALL)
    text = re.sub(r"<wbr>", "", text)
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", text)))


def said(web: Client, amendment_id: str, **query: str) -> str:
    answer = web.get(f"/amendments/{amendment_id}", query)
    assert answer.status_code == 200, answer.content.decode()[-800:]
    return words(answer.content)


def big(caller: Caller) -> str:
    """An edit of history with every kind of operation, of a run that has finished ``a``."""
    new_run(
        caller,
        task("a", goal="Measure once", criteria=["It is fast", "It is small"]),
        task("b", depends_on=["a"]),
        task("c", depends_on=["b"]),
        task("d"),
    )
    report(caller, "a", "completed", criteria_met={"c1": "yes", "c2": "yes"})
    report(caller, "d", "running")
    made = propose(
        caller,
        insert_after("a", task("n", goal="Check the seeds", depends_on=["a"])),
        update(task("a", goal="Measure three times", criteria=["It is fast", "It is tiny", "It lasts"])),
        replay("a"),
        update(task("c", depends_on=["a"])),
        remove("b"),
        kind="history_edit",
        reason="One seed can't tell.",
    )
    return str(made["amendment_id"])


# -- Reading -----------------------------------------------------------------------------------------


def test_it_says_in_plain_words_what_would_change(web_as: WebAs, reviewer: Caller, vic: User) -> None:
    text = said(web_as(vic), big(reviewer))
    for part in (
        "What would change",
        "Adds n after a : Check the seeds",
        "Runs a again, after changing the goal and the criteria, and keeps its old result.",
        "c waits for a instead of b .",
        "Removes b , which has not started.",
        "The other step stays as it is.",
        "One seed can't tell.",
        "This edits history. a is finished.",
        "No policy may decide this. It takes a person.",
        "Still moving d",
        "version 1 becomes 2",
    ):
        assert part in text, part


def test_each_operation_is_told_field_by_field_with_what_is_kept(
    web_as: WebAs, reviewer: Caller, vic: User
) -> None:
    page = web_as(vic).get(f"/amendments/{big(reviewer)}").content
    assert "Measure <del>once</del><ins>three times</ins>" in page.decode()
    text = words(page)
    for part in (
        "c1 stays as it was",
        "Counts no longer: the answers to c2, because they ask something else now.",
        "Completed becomes Pending",
        "its id is never used again",
    ):
        assert part in text, part
    assert (
        text.index("1 Insert") < text.index("2 Update") < text.index("3 Run again") < text.index("5 Remove")
    )


@pytest.mark.parametrize("view", ["before", "both", "after"])
def test_the_plan_is_drawn_with_ghosts(web_as: WebAs, reviewer: Caller, vic: User, view: str) -> None:
    page = web_as(vic).get(f"/amendments/{big(reviewer)}", {"view": view}).content.decode()
    svg = page[page.index('<svg class="graph') :]
    assert ('data-id="n"' in svg) is (view != "before")
    assert ('data-id="b"' in svg) is (view != "after")
    assert ("x-added" in svg and "x-removed" in svg) is (view == "both")
    assert f'aria-current="true">{view.capitalize()}</a>' in page


def test_whom_a_step_waits_for_is_drawn_for_who_reads_it(
    web_as: WebAs, reviewer: Caller, vic: User, rita: User
) -> None:
    new_run(reviewer, "a", checkpoint("c"))
    report(reviewer, "c", "running")
    made = propose(reviewer, insert_after("a", task("n")))["amendment_id"]
    assert "Waiting for you" in said(web_as(rita), made)
    read = said(web_as(vic), made)
    assert "Waiting for a person" in read
    assert "for you" not in read


def test_why_no_policy_may_decide_is_said_of_checkpoints_too(
    web_as: WebAs, reviewer: Caller, vic: User
) -> None:
    new_run(reviewer, "a", checkpoint("c"))
    gone = propose(reviewer, remove("c"))["amendment_id"]
    text = said(web_as(vic), gone)
    assert "Removes the checkpoint c , which has not started. Nobody is asked there any more." in text
    assert "No policy may decide this: it removes checkpoint 'c' ." in text


def test_a_plain_amendment_warns_of_nothing(web_as: WebAs, reviewer: Caller, rita: User) -> None:
    new_run(reviewer)
    page = web_as(rita).get(f"/amendments/{propose(reviewer, insert_after('a', task('n')))['amendment_id']}")
    text = words(page.content)
    assert "edits history" not in text
    assert "No policy" not in text
    assert "Nothing waits for it." in text
    assert "Approve amendment" in text


def test_a_replay_names_its_instance(web_as: WebAs, reviewer: Caller, vic: User) -> None:
    new_run(reviewer, loop("l", ["x"]), task("x"))
    add_instance(reviewer, "l")
    report(reviewer, "l/inst_00/x", "completed")
    add_instance(reviewer, "l")
    report(reviewer, "l/inst_01/x", "completed")
    made = propose(reviewer, replay("x", instance_id="inst_00"), kind="history_edit")
    text = said(web_as(vic), made["amendment_id"])
    assert "Runs x again in l/inst_00 and keeps its old result." in text
    assert "what is finished there becomes" in text
    assert "2 × " not in text, "the other iteration stays as it is"


def test_where_the_workflow_differs_from_the_run_is_told(web_as: WebAs, reviewer: Caller, rita: User) -> None:
    run = new_run(reviewer, "a", "b")
    register_run(caller=reviewer, workflow_id=run["workflow_id"], run_id="r2")
    changes = propose(reviewer, update(task("b", goal="Do b twice")), run_id="r2")["amendment_id"]
    first = amend(reviewer, update(task("b", goal="Do b slowly")))["amendment_id"]
    text = said(web_as(rita), changes)
    assert "Where the workflow’s own plan differs from this run’s" in text
    assert "1 other run is under way" in text
    amend(reviewer, remove("b"))
    text = said(web_as(rita), changes)
    assert "It doesn’t fit the workflow’s own plan any more." in text
    assert "Clone the workflow as this run has it" in text
    assert "What changed" in said(web_as(rita), first)


# -- Deciding ----------------------------------------------------------------------------------------


def test_it_is_approved_with_a_reason(web_as: WebAs, reviewer: Caller, rita: User) -> None:
    name = big(reviewer)
    answer = web_as(rita).post(f"/amendments/{name}/approve", {"reason": "Yes."}, follow=True)
    assert answer.redirect_chain == [(f"/amendments/{name}", 303)]
    text = words(answer.content)
    assert "Approved. The run goes on under the new plan, version 2." in text
    assert "What changed" in text
    row = Amendment.objects.get()
    assert (row.status, row.decided_by, row.decision_reason, row.decided_via) == (
        "approved",
        "rita",
        "Yes.",
        "web",
    )


def test_it_is_rejected_with_a_reason(web_as: WebAs, reviewer: Caller, rita: User) -> None:
    name = big(reviewer)
    answer = web_as(rita).post(f"/amendments/{name}/reject", {"reason": "Not now."}, follow=True)
    text = words(answer.content)
    assert "Rejected. The plan stays as it is, and the run goes on." in text
    assert "Not now." in text
    assert "What would have changed" in text
    assert Amendment.objects.get().status == "rejected"


def test_what_no_longer_fits_changes_nothing_and_keeps_the_reason(
    web_as: WebAs, reviewer: Caller, rita: User
) -> None:
    new_run(reviewer, "a", "b")
    name = propose(reviewer, remove("b"))["amendment_id"]
    report(reviewer, "b", "completed")
    before = AuditEntry.objects.count()
    answer = web_as(rita).post(f"/amendments/{name}/approve", {"reason": "Gone, then", "form": "decide"})
    assert answer.status_code == 409
    text = words(answer.content)
    assert "Nothing was applied." in text
    assert "no longer fits run 'r1'" in text
    assert ">Gone, then</textarea>" in answer.content.decode()
    assert AuditEntry.objects.count() == before
    assert Run.objects.get().status == "paused_for_approval"


def test_of_two_reviewers_the_second_is_told_who_was_first(
    web_as: WebAs, reviewer: Caller, admin: Caller, rita: User
) -> None:
    name = big(reviewer)
    approve_amendment(caller=admin, amendment_id=name)
    before = AuditEntry.objects.count()
    for action in ("approve", "reject"):
        answer = web_as(rita).post(f"/amendments/{name}/{action}", {"reason": "Mine"})
        assert answer.status_code == 409
        text = words(answer.content)
        assert "Nothing was changed: owner has approved it already" in text
        assert "You had written: Mine" in text
    assert AuditEntry.objects.count() == before


def test_a_viewer_reads_and_is_refused(web_as: WebAs, reviewer: Caller, vic: User) -> None:
    name = big(reviewer)
    web = web_as(vic)
    page = web.get(f"/amendments/{name}").content.decode()
    assert f"/amendments/{name}/reject" not in page
    assert "<textarea" not in page
    before = AuditEntry.objects.count()
    for action in ("approve", "reject"):
        answer = web.post(f"/amendments/{name}/{action}")
        assert answer.status_code == 403
        assert "viewer 'vic' may not" in words(answer.content)
    assert AuditEntry.objects.count() == before


def test_what_was_withdrawn_says_so(web_as: WebAs, harness: Caller, reviewer: Caller, vic: User) -> None:
    new_run(reviewer)
    name = propose(harness, insert_after("a", task("n")))["amendment_id"]
    withdraw_amendment(caller=harness, amendment_id=name, reason="I was wrong.")
    text = said(web_as(vic), name)
    assert "Amendment withdrawn" in text
    assert "I was wrong." in text
    assert "The plan stayed as it was." in text


def test_an_id_that_names_none_is_not_found(web_as: WebAs, vic: User) -> None:
    assert web_as(vic).get("/amendments/nowhere").status_code == 404
    assert web_as(None).get("/amendments/nowhere").status_code == 302


def test_an_open_page_is_told_who_decided(web_as: WebAs, reviewer: Caller, admin: Caller, rita: User) -> None:
    name = big(reviewer)
    web = web_as(rita)
    assert f'data-moved="/amendments/{name}/moved"' in web.get(f"/amendments/{name}").content.decode()
    assert web.get(f"/amendments/{name}/moved").status_code == 204
    approve_amendment(caller=admin, amendment_id=name)
    assert "owner has approved it." in words(web.get(f"/amendments/{name}/moved").content)
    assert "data-moved" not in web.get(f"/amendments/{name}").content.decode()


# -- Sizes, hostile texts ----------------------------------------------------------------------------


@pytest.mark.parametrize("status", ["pending", "approved"])
def test_the_page_takes_the_same_statements_however_much_there_is(
    web_as: WebAs, reviewer: Caller, rita: User, status: str
) -> None:
    counts = []
    for number in (1, 10):
        run_id = f"run{number}"
        steps: list[Any] = [loop("l", ["x"]), task("x"), *(task(f"s{each}") for each in range(number))]
        new_run(reviewer, *steps, run_id=run_id)
        for index in range(number):
            add_instance(reviewer, "l", run_id=run_id)
            report(reviewer, f"l/inst_0{index}/x", "completed", run_id=run_id)
        operations = [remove(f"s{each}") for each in range(number)]
        name = propose(reviewer, *operations, run_id=run_id)["amendment_id"]
        if status == "approved":
            approve(reviewer, name)
        web = web_as(rita)
        web.get(f"/amendments/{name}")
        plan_cache.clear()
        with CaptureQueriesContext(connection) as asked:
            assert web.get(f"/amendments/{name}").status_code == 200
        counts.append(len(asked))
    assert counts[0] == counts[1]


def test_texts_of_harnesses_stay_texts(web_as: WebAs, reviewer: Caller, rita: User) -> None:
    evil = "<script>alert(1)</script><img src=x onerror=alert(1)> {{ x }} {0} %s"
    new_run(reviewer, task("a", goal=evil), task("b"), title=evil)
    report(reviewer, "a", "completed")
    name = propose(
        reviewer,
        insert_after("a", task("n", goal=evil, harness=evil, criteria=[evil], inputs={evil: evil})),
        update(task("a", goal=f"{evil}!", criteria=[evil])),
        kind="history_edit",
        reason=evil,
        proposed_by=evil,
    )["amendment_id"]
    for _ in range(2):
        page = web_as(rita).get(f"/amendments/{name}").content.decode()
        assert "<script>alert" not in page
        assert "<img" not in page
        assert "{0} %s" in html.unescape(page)
        web_as(rita).post(f"/amendments/{name}/reject", {"reason": evil})
