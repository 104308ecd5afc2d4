"""The page of a workflow: read it, note it, decide on exactly what was read."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from typing import Any

import pytest
from django.conf import settings
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from chief_project.shared.caller import Caller
from chief_project.shared.models import AuditEntry, User
from runs.services.register_run import register_run
from tests.amendments import amend, insert_after, propose
from tests.plans import checkpoint, loop, parallel, task
from tests.runs import new_run, report
from tests.workflows import new_approved, new_draft, revised
from workflows import models
from workflows.mappers import plan_cache
from workflows.services.add_review_note import add_review_note
from workflows.services.approve_workflow import approve_workflow
from workflows.services.archive_workflow import archive_workflow
from workflows.services.mark_seen import mark_seen
from workflows.services.resolve_review_note import resolve_review_note
from workflows.services.send_back_workflow import send_back_workflow

pytestmark = pytest.mark.django_db
WebAs = Callable[..., Client]
TABS = ["", "/outline", "/changes", "/notes", "/runs", "/history"]
STEPS = [
    task("a", goal="Measure", criteria=["It is written down"], inputs={"window": "a week"}, group="prepare"),
    loop("l", ["x", "y"], depends_on=["a"], exit_when="nothing is left"),
    task("x", goal="Find one"),
    task("y", goal="Mend it", depends_on=["x"]),
    parallel("p", ["z"], depends_on=["l"], instance_params=[{"name": "region", "description": "Where"}]),
    task("z", goal="Roll out to {{ region }}"),
    checkpoint("c", depends_on=["p"], fields=[{"name": "why", "label": "Why", "hint": "In a sentence"}]),
]


def draft(caller: Caller, *steps: dict[str, Any], **keys: Any) -> dict[str, Any]:
    return new_draft(caller, *(steps or STEPS), workflow_id="w", **keys)


def said(web: Client, path: str = "", **query: str) -> str:
    answer = web.get(f"/workflows/w{path}", query)
    assert answer.status_code == 200, answer.content.decode()[-800:]
    return words(answer.content)


def words(content: bytes) -> str:
    """The page's text as it is read: no tags, blanks run together."""
    text = re.sub(r"<(script|style)\b.*?</\1>", "", content.decode(), flags=re.DOTALL)
    text = re.sub(r"<wbr>", "", text)
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", text)))


def row() -> models.Workflow:
    return models.Workflow.objects.get(workflow_id="w")


def entries() -> int:
    return AuditEntry.objects.count()


# -- Reading -----------------------------------------------------------------------------------------


def test_every_view_is_there_for_everybody_who_may_read_and_writes_nothing(
    web_as: WebAs, harness: Caller, reviewer: Caller, rita: User, vic: User, owner: User
) -> None:
    draft(harness, project="shop", origin_dir="/srv/shop")
    add_review_note(caller=reviewer, workflow_id="w", body="Why?", step_id="a")
    before = entries()
    for user in (vic, rita, owner):
        for path in TABS if user is vic else (*TABS, "/label", "/archive", "/reopen"):
            text = said(web_as(user), path)
            assert "A plan" in text
            assert "/srv/shop" in text
    assert web_as(owner).get("/workflows/w/delete").status_code == 200
    assert entries() == before
    assert models.Seen.objects.count() == 1  # from the note


def test_who_is_signed_out_is_asked_to_sign_in(web_as: WebAs, harness: Caller) -> None:
    draft(harness)
    answer = web_as(None).get("/workflows/w?step=a")
    assert answer.status_code == 302
    assert answer["Location"].startswith("/signin?next=")


def test_an_id_that_names_no_workflow_is_not_found(web_as: WebAs, vic: User) -> None:
    for path in TABS:
        assert web_as(vic).get(f"/workflows/nowhere{path}").status_code == 404


def test_the_panel_tells_a_step_with_its_neighbours_both_ways(
    web_as: WebAs, harness: Caller, vic: User
) -> None:
    draft(harness)
    web = web_as(vic)
    text = said(web, step="a")
    for part in ("Measure", "c1 It is written down", "window a week", "prepare", "it can start at once"):
        assert part in text
    assert "then l" in text
    text = said(web, step="y")
    assert "In l , once per iteration." in text
    assert "waits for x" in text
    assert "the next iteration, or p once nothing is left" in text
    text = said(web, step="p")
    for part in ("region Where", "if one fails the whole fails", "body z", "waits for l"):
        assert part in text
    text = said(web, step="c")
    for part in ("A person decides here.", "Why why · In a sentence", "waits for p"):
        assert part in text


def test_a_step_that_is_not_in_the_plan_is_said(web_as: WebAs, harness: Caller, vic: User) -> None:
    draft(harness)
    assert "There is no step “nowhere” in this plan." in said(web_as(vic), step="nowhere")


def test_the_panel_alone_is_answered_to_htmx(web_as: WebAs, harness: Caller, rita: User) -> None:
    draft(harness)
    answer = web_as(rita).get(
        "/workflows/w", {"step": "a"}, headers={"HX-Request": "true", "HX-Target": "panel"}
    )
    body = answer.content.decode().strip()
    assert body.startswith('<aside class="panel" id="panel"')
    assert 'id="tab-notes" hx-swap-oob="true"' in body


def test_previous_and_next_follow_the_outline(web_as: WebAs, harness: Caller, vic: User) -> None:
    draft(harness)
    found = ["a"]
    for _ in range(20):
        page = web_as(vic).get("/workflows/w", {"step": found[-1]}).content.decode()
        link = re.search(r'href="/workflows/w\?step=(\w+)" data-key="\]"', page)
        if link is None:
            break
        found.append(link[1])
    assert found == ["a", "l", "x", "y", "p", "z", "c"]


def test_a_viewer_has_no_button_that_decides_or_notes(web_as: WebAs, harness: Caller, vic: User) -> None:
    draft(harness)
    web = web_as(vic)
    page = web.get("/workflows/w").content.decode()
    for action in ("approve", "send-back", "notes/add", "clone", "edit", "label", "archive", "delete"):
        assert f'/workflows/w/{action}"' not in page
    assert "Deciding takes a reviewer." in words(page.encode())
    assert "/workflows/w/seen" in page


def test_what_changed_since_one_looked_is_told_and_can_be_marked_as_seen(
    web_as: WebAs, harness: Caller, reviewer: Caller, rita: User
) -> None:
    made = draft(harness, task("a"), task("gone"))
    web = web_as(rita)
    assert "You have not read this plan yet." in said(web)
    assert (
        web.post("/workflows/w/seen", {"revision": "1", "tab": "outline"})["Location"]
        == "/workflows/w/outline"
    )
    assert "Since you last looked" not in said(web)
    revised(harness, made, task("a", goal="Do all of a"), task("n"))
    text = said(web)
    assert "Since you last looked at revision 1" in text
    assert "1 step added, 1 step removed, 1 goal reworded" in text
    assert "Show the 3 changes" in text
    assert "Reworded since revision 1" in said(web, step="a")
    web.post("/workflows/w/seen", {"revision": "2"})
    assert "Since you last looked" not in said(web)


def test_only_a_revision_that_there_is_can_be_seen(web_as: WebAs, harness: Caller, rita: User) -> None:
    draft(harness)
    answer = web_as(rita).post("/workflows/w/seen", {"revision": "9"})
    assert answer.status_code == 422
    assert not models.Seen.objects.exists()


def test_why_the_harness_revised_it_stands_above_the_plan(web_as: WebAs, harness: Caller, vic: User) -> None:
    revised(harness, draft(harness), task("a"), reason="Counts first now.")
    assert "planner on revision 2: Counts first now." in said(web_as(vic))


# -- Comparing ---------------------------------------------------------------------------------------


def test_changes_are_told_field_by_field_with_the_notes_that_asked_for_them(
    web_as: WebAs, harness: Caller, reviewer: Caller, rita: User
) -> None:
    made = draft(
        harness,
        task("a", goal="Compare counts", criteria=["It is fast"]),
        task("b", depends_on=["a"]),
        task("gone"),
        task("same"),
    )
    add_review_note(caller=reviewer, workflow_id="w", body="Compare sums, too", step_id="a")
    add_review_note(caller=reviewer, workflow_id="w", body="Not ours", step_id="gone")
    add_review_note(caller=reviewer, workflow_id="w", body="Where is this?", step_id="same")
    revised(
        harness,
        made,
        task("same"),
        task("a", goal="Compare counts and sums", criteria=["It is fast", "It is right"]),
        task("n"),
        task("b", depends_on=["n"]),
    )
    page = web_as(rita).get("/workflows/w/changes").content
    text = words(page)
    assert "Compare counts<ins> and sums</ins>" in page.decode()
    for part in (
        "4 changes",
        "1 step added 1 step removed",
        "Goal, criteria changed",
        "c1 stays as it was",
        "c2 It is right",
        "Rewired",
        "Step removed gone",
        "its step is gone",
        "Open notes whose step did not change",
        "1 step is the same in both.",
        "Order and layout are not changes.",
    ):
        assert part in text, part
    at = text.index
    assert (
        at("Compare counts") < at("Compare sums, too") < at("Rewired") < at("Not ours") < at("Where is this?")
    )


def test_any_two_can_be_compared(web_as: WebAs, harness: Caller, reviewer: Caller, vic: User) -> None:
    made = draft(harness, task("a"))
    revised(harness, made, task("a"), task("b"))
    revised(harness, made, task("a"), task("b"), task("c"))
    approve_workflow(caller=reviewer, workflow_id="w")
    web = web_as(vic)
    assert "2 changes" in said(web, "/changes", **{"from": "r1", "to": "v1"})
    assert "2 steps removed" in said(web, "/changes", **{"from": "r3", "to": "r1"})
    assert "Both are the same." in said(web, "/changes", **{"from": "r2", "to": "r2"})
    assert web.get("/workflows/w/changes", {"from": "r9"}).status_code == 404
    text = said(web, "/history")
    assert text.index("Version 1") < text.index("Revision 3") < text.index("Revision 1")


def test_very_many_changes_are_shown_on_demand(web_as: WebAs, harness: Caller, vic: User) -> None:
    made = draft(harness, *(task(f"s{number}") for number in range(310)))
    revised(harness, made, *(task(f"s{number}", goal="Another") for number in range(310)))
    web = web_as(vic)
    text = said(web, "/changes")
    assert "310 changes" in text
    assert "Show 10 more changes" in text
    assert "s309" not in text
    assert "s309" in said(web, "/changes", **{"from": "r1", "to": "r2", "all": "1"})


def test_a_first_revision_says_that_there_is_nothing_to_compare(
    web_as: WebAs, harness: Caller, vic: User
) -> None:
    draft(harness)
    assert "This is the first revision." in said(web_as(vic), "/changes")


# -- Notes -------------------------------------------------------------------------------------------


def test_a_note_is_added_where_it_was_written(web_as: WebAs, harness: Caller, rita: User) -> None:
    draft(harness)
    web = web_as(rita)
    answer = web.post("/workflows/w/notes/add", {"step": "a", "tab": "outline", "body": "Say\r\nmore "})
    assert (answer.status_code, answer["Location"]) == (303, "/workflows/w/outline?step=a")
    note = models.ReviewNote.objects.get()
    assert (note.step_id, note.body, note.author, note.via) == ("a", "Say\nmore", "rita", "web")
    web.post("/workflows/w/notes/add", {"tab": "notes", "body": "On the whole"})
    text = said(web, "/notes")
    assert text.index("Say") < text.index("On the whole")
    assert re.search(r"You [^.]* on revision 1 .*Say more", said(web, step="a"))


def test_a_note_that_is_refused_is_still_in_its_field(web_as: WebAs, harness: Caller, rita: User) -> None:
    made = draft(harness, task("a"), task("b"))
    revised(harness, made, task("a"))
    before = entries()
    answer = web_as(rita).post("/workflows/w/notes/add", {"step": "b", "body": "Kept <b>words</b>"})
    assert answer.status_code == 422
    assert "Kept &lt;b&gt;words&lt;/b&gt;</textarea>" in answer.content.decode()
    assert "has no step 'b'" in words(answer.content)
    assert entries() == before
    assert web_as(rita).post("/workflows/w/notes/add", {"step": "a", "body": "  \r\n"}).status_code == 422


def test_a_note_is_resolved_and_opened_again(
    web_as: WebAs, harness: Caller, reviewer: Caller, rita: User
) -> None:
    draft(harness)
    name = add_review_note(caller=reviewer, workflow_id="w", body="Why?", step_id="a")["note_id"]
    web = web_as(rita)
    answer = web.post(f"/workflows/w/notes/{name}", {"resolved": "1", "tab": "changes"})
    assert answer["Location"] == "/workflows/w/changes"
    assert models.ReviewNote.objects.get().resolved
    assert "Resolved note by rita" in said(web, step="a")
    twice = web.post(f"/workflows/w/notes/{name}", {"resolved": "1"})
    assert twice.status_code == 409
    web.post(f"/workflows/w/notes/{name}", {"tab": "notes"})
    assert not models.ReviewNote.objects.get().resolved


def test_a_note_whose_step_is_gone_stands_with_the_goal_it_was_about(
    web_as: WebAs, harness: Caller, reviewer: Caller, rita: User
) -> None:
    made = draft(harness, task("a", goal="Count them"), task("b"))
    add_review_note(caller=reviewer, workflow_id="w", body="Why?", step_id="a")
    revised(harness, made, task("b"))
    for path in ("", "/notes"):
        text = said(web_as(rita), path)
        assert "Notes whose step is gone" in text
        assert "The goal then: “Count them”." in text


# -- While it is open --------------------------------------------------------------------------------


def moved(web: Client) -> str:
    """What an open page of the workflow is answered when it asks what became of it."""
    page = web.get("/workflows/w").content.decode()
    found = re.search(r'data-moved="([^"]+)"', page)
    assert found is not None
    return html.unescape(found[1])


def test_an_open_page_is_told_of_another_revision_and_of_a_decision(
    web_as: WebAs, harness: Caller, reviewer: Caller, admin: Caller, rita: User
) -> None:
    made = draft(harness)
    web = web_as(rita)
    first = moved(web)
    assert web.get(first).status_code == 204
    add_review_note(caller=admin, workflow_id="w", body="Why?")
    assert web.get(first).status_code == 204
    revised(harness, made, task("a"))
    answer = web.get(first)
    assert "Revision 2 has come, by planner." in words(answer.content)
    assert 'href="/workflows/w/changes?from=r1"' in answer.content.decode()
    second = moved(web)
    send_back_workflow(caller=admin, workflow_id="w")
    assert "owner has sent it back." in words(web.get(second).content)
    approve_workflow(caller=reviewer, workflow_id="w")
    assert "rita has approved it." in words(web.get(second).content)
    archive_workflow(caller=admin, workflow_id="w")
    assert "owner has archived it." in words(web.get(second).content)


# -- Decisions ---------------------------------------------------------------------------------------


def test_the_revision_on_the_screen_is_approved_with_its_reason(
    web_as: WebAs, harness: Caller, reviewer: Caller, rita: User
) -> None:
    draft(harness)
    add_review_note(caller=reviewer, workflow_id="w", body="Why?")
    web = web_as(rita)
    assert "1 note is open; approving leaves it open" in said(web)
    answer = web.post(
        "/workflows/w/approve", {"revision": "1", "reason": "Small steps.", "tab": "outline"}, follow=True
    )
    assert answer.redirect_chain == [("/workflows/w/outline", 303)]
    text = words(answer.content)
    assert "Revision 1 is approved." in text
    assert "1 note is still open." in text
    assert "rita on version 1: Small steps." in text
    version = models.Version.objects.get()
    assert (version.by, version.via, version.reason) == ("rita", "web", "Small steps.")


def test_a_plan_that_moved_on_is_not_approved_and_the_difference_is_shown(
    web_as: WebAs, harness: Caller, rita: User
) -> None:
    made = draft(harness, task("a"), task("b"))
    revised(harness, made, task("a", goal="Do all of a"), task("b"), reason="More.")
    before = entries()
    for action in ("approve", "send-back"):
        answer = web_as(rita).post(
            f"/workflows/w/{action}", {"revision": "1", "reason": "Looks right", "form": "decide"}
        )
        assert answer.status_code == 412
        text = words(answer.content)
        for part in (
            "Nothing was decided. You had revision 1 before you, and the plan has moved on.",
            "Revision 2 is by planner",
            "More.",
            "Approve revision 2",
            "1 goal reworded",
        ):
            assert part in text, part
        page = answer.content.decode()
        assert "<ins>all of </ins>" in page
        assert ">Looks right</textarea>" in page
        assert 'name="revision" value="2"' in page
    assert (row().status, entries()) == ("draft", before)


def test_an_approval_after_a_colleague_sent_it_back_is_told_so_and_may_be_repeated_knowingly(
    web_as: WebAs, harness: Caller, admin: Caller, rita: User
) -> None:
    draft(harness)
    web = web_as(rita)
    assert 'name="waits" value="1"' in web.get("/workflows/w").content.decode()
    send_back_workflow(caller=admin, workflow_id="w", revision=1)
    before = entries()
    sent = {"form": "decide", "revision": "1", "waits": "1", "reason": "Looks right"}
    answer = web.post("/workflows/w/approve", sent)
    assert answer.status_code == 409
    assert "Nothing was changed: owner has sent it back already" in words(answer.content)
    assert ">Looks right</textarea>" in answer.content.decode()
    assert (row().status, entries()) == ("draft", before)
    assert 'name="waits"' not in answer.content.decode()  # the form now speaks of what was sent back
    assert web.post("/workflows/w/approve", {"revision": "1"}).status_code == 303
    assert row().status == "approved"


def test_of_two_reviewers_the_second_is_told_who_was_first(
    web_as: WebAs, harness: Caller, admin: Caller, rita: User
) -> None:
    draft(harness)
    approve_workflow(caller=admin, workflow_id="w", revision=1)
    before = entries()
    for action in ("approve", "send-back"):
        answer = web_as(rita).post(f"/workflows/w/{action}", {"revision": "1", "reason": "Mine"})
        assert answer.status_code == 409
        text = words(answer.content)
        assert "Nothing was changed: owner has approved it already" in text
        assert "You had written: Mine" in text
        assert "The plan itself has not changed." in text
        assert "Nothing to compare" not in text
    assert entries() == before


def test_a_draft_is_sent_back_with_its_open_notes(
    web_as: WebAs, harness: Caller, reviewer: Caller, rita: User
) -> None:
    draft(harness)
    for body in ("One", "Two", "Done"):
        note = add_review_note(caller=reviewer, workflow_id="w", body=body)
    resolve_review_note(caller=reviewer, workflow_id="w", note_id=note["note_id"])
    web = web_as(rita)
    assert "Send back with 2 notes" in said(web)
    answer = web.post("/workflows/w/send-back", {"revision": "1", "reason": "Two things."}, follow=True)
    text = words(answer.content)
    assert "Sent back with 2 open notes." in text
    assert "Sent back by rita" in text
    assert "Two things." in text
    assert "Send back with" not in text
    assert 'class="btn btn--primary" data-key="a"' not in answer.content.decode()
    again = web.post("/workflows/w/send-back", {"revision": "1"})
    assert again.status_code == 409
    assert "rita has sent it back already" in words(again.content)


def test_a_draft_is_discarded_into_the_archive(web_as: WebAs, harness: Caller, rita: User) -> None:
    draft(harness)
    web = web_as(rita)
    assert "Discard this draft?" in said(web, "/archive")
    answer = web.post("/workflows/w/archive/do", {"reason": "Not ours."}, follow=True)
    text = words(answer.content)
    assert "Archived by rita" in text
    assert row().status == "archived"
    again = web.post("/workflows/w/archive/do", {"reason": "Again", "form": "archive"})
    assert again.status_code == 409
    assert ">Again</textarea>" in again.content.decode()
    assert "rita has archived it" in words(web.post("/workflows/w/approve", {"revision": "1"}).content)


def test_an_approved_workflow_without_runs_becomes_a_draft_again(
    web_as: WebAs, reviewer: Caller, rita: User
) -> None:
    new_approved(reviewer, workflow_id="w")
    web = web_as(rita)
    assert "/workflows/w/reopen" in web.get("/workflows/w").content.decode()
    assert web.post("/workflows/w/reopen/do", {"reason": "One more step"})["Location"] == "/workflows/w"
    assert (row().status, row().version) == ("draft", 2)
    approve_workflow(caller=reviewer, workflow_id="w")
    register_run(caller=reviewer, workflow_id="w", run_id="r1")
    assert "/workflows/w/reopen" not in web.get("/workflows/w").content.decode()
    refused = web.post("/workflows/w/reopen/do", {})
    assert refused.status_code == 409
    assert "has runs" in words(refused.content)


def test_it_is_renamed_filed_and_given_a_directory(web_as: WebAs, harness: Caller, rita: User) -> None:
    draft(harness, project="shop", origin_dir="/a")
    web = web_as(rita)
    form = {"form": "label", "title": "New name", "project": "store", "origin_dir": ""}
    assert web.post("/workflows/w/label/save", form)["Location"] == "/workflows/w"
    assert (row().title, row().project, row().origin_dir) == ("New name", "store", None)
    refused = web.post("/workflows/w/label/save", form | {"title": " ", "project": "kept"})
    assert refused.status_code == 422
    assert 'value="kept"' in refused.content.decode()
    assert row().project == "store"


def test_a_clone_is_a_draft_of_its_own(web_as: WebAs, reviewer: Caller, rita: User) -> None:
    new_run(reviewer, workflow_id="w")
    amend(reviewer, insert_after("a", task("n")))
    answer = web_as(rita).post("/workflows/w/clone", {"run": "r1"})
    copy = answer["Location"].rsplit("/", 1)[1]
    made = models.Workflow.objects.get(workflow_id=copy)
    assert (made.status, made.title, made.plan.step_count) == ("draft", "A plan (copy)", 3)
    assert web_as(rita).post("/workflows/w/clone", {"run": "nowhere"}).status_code == 404


def test_deleting_says_what_goes_and_what_stays_first(
    web_as: WebAs, reviewer: Caller, owner: User, rita: User
) -> None:
    new_run(reviewer, workflow_id="w")
    report(reviewer, "a", "running")
    text = said(web_as(owner), "/delete")
    for part in ("1 run is still under way.", "1 run", "1 report", "1 approved version", "the audit log"):
        assert part in text
    assert web_as(rita).get("/workflows/w/delete").status_code == 403
    assert web_as(rita).post("/workflows/w/delete/do").status_code == 403
    assert row()
    answer = web_as(owner).post("/workflows/w/delete/do")
    assert (answer.status_code, answer["Location"]) == (303, "/workflows")
    assert not models.Workflow.objects.exists()


@pytest.mark.parametrize(
    "action", ["approve", "send-back", "archive/do", "reopen/do", "label/save", "clone", "notes/add"]
)
def test_a_viewer_is_refused_what_a_button_would_do(
    web_as: WebAs, harness: Caller, vic: User, action: str
) -> None:
    draft(harness)
    before = entries()
    form = {"revision": "1", "body": "x", "title": "x"}
    answer = web_as(vic).post(f"/workflows/w/{action}", form)
    assert answer.status_code == 403
    assert "viewer 'vic' may not" in words(answer.content)
    assert entries() == before


def test_forms_are_checked_for_where_they_come_from(web_as: WebAs, harness: Caller, rita: User) -> None:
    draft(harness)
    assert web_as(rita, csrf=True).post("/workflows/w/approve", {"revision": "1"}).status_code == 403
    assert row().status == "draft"


# -- Runs, sizes, hostile texts ----------------------------------------------------------------------


def test_its_runs_are_listed_or_how_one_begins(web_as: WebAs, reviewer: Caller, vic: User) -> None:
    draft(reviewer)
    web = web_as(vic)
    assert "A draft can’t run." in said(web, "/runs")
    approve_workflow(caller=reviewer, workflow_id="w")
    assert f"curl -X POST {settings.CHIEF_URL}/v1/workflows/w/runs" in said(web, "/runs")
    register_run(caller=reviewer, workflow_id="w", run_id="r1")
    report(reviewer, "a", "completed", criteria_met={"c1": "yes"})
    text = said(web, "/runs")
    assert re.search(r"\br1\b", text)
    assert "1 of 4" in text
    propose(reviewer, insert_after("a", task("n")))
    assert "An amendment waits for a decision by planner" in said(web)
    archive_workflow(caller=reviewer, workflow_id="w")
    assert "/runs/r1" in web.get("/workflows/w/runs").content.decode()


@pytest.mark.parametrize("tab", TABS)
def test_a_page_takes_the_same_statements_however_much_there_is(
    web_as: WebAs, harness: Caller, reviewer: Caller, rita: User, tab: str
) -> None:
    counts = []
    made = draft(harness, *map(task, "ab"))
    mark_seen(caller=reviewer, workflow_id="w", revision=1)
    for number in (1, 12):
        for place in range(number):
            add_review_note(caller=reviewer, workflow_id="w", body="x", step_id="a")
            mark_seen(caller=reviewer, workflow_id="w", revision=1)
            revised(harness, made, *map(task, "ab"), *(task(f"s{each}") for each in range(place + number)))
        models.Seen.objects.update(revision=1)
        web = web_as(rita)
        web.get(f"/workflows/w{tab}")
        plan_cache.clear()
        with CaptureQueriesContext(connection) as asked:
            web.get(f"/workflows/w{tab}")
        counts.append(len(asked))
    assert counts[0] == counts[1]
    assert counts[0] < 36


def test_a_plan_of_a_thousand_steps_is_shown(web_as: WebAs, harness: Caller, rita: User) -> None:
    draft(
        harness,
        *(task(f"s{number}", depends_on=[f"s{number - 1}"] if number % 50 else []) for number in range(1004)),
    )
    web = web_as(rita)
    for path in TABS:
        answer = web.get(f"/workflows/w{path}", {"step": "s700"})
        assert answer.status_code == 200
        assert len(answer.content) < 1_000_000, path
    assert "Do s700" in said(web, step="s700")


def test_texts_of_harnesses_stay_texts(web_as: WebAs, harness: Caller, reviewer: Caller, rita: User) -> None:
    evil = "<script>alert(1)</script><img src=x onerror=alert(1)>"
    made = draft(
        harness,
        task("a", goal=evil, harness=evil, criteria=[evil], inputs={evil: evil}),
        loop("l", ["x"], exit_when=evil, goal=evil),
        task("x", goal=evil),
        checkpoint("c", fields=[{"name": "<b>", "label": evil, "hint": evil}]),
        title=evil,
        project="p<b>",
        origin_dir=evil,
        generated_by=evil,
    )
    for step_id in (None, "a"):
        add_review_note(caller=reviewer, workflow_id="w", body=evil, step_id=step_id)
    revised(harness, made, task("a", goal=evil + "!", criteria=[evil + "?"]), title=evil, reason=evil)
    send_back_workflow(caller=reviewer, workflow_id="w", reason=evil)
    for path in (*TABS, "/label"):
        for step in ("a", ""):
            page = web_as(rita).get(f"/workflows/w{path}", {"step": step}).content.decode()
            assert "<script>alert" not in page
            assert "<img" not in page
            assert "p<b>" not in page
