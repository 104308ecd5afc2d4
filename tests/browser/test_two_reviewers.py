"""Two people look at the same page: one decides, the other is told instead of refused."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.browser.conftest import PageOf
from tests.browser.sites import Harness
from tests.browser.test_whole_story import card
from tests.plans import checkpoint, task

Allow = Callable[[Page, str], None]


def test_a_card_that_another_decided_turns_by_itself(page_of: PageOf, harness: Harness) -> None:
    title, other = "Paint the fence", "Paint the shutters"
    for each in (title, other):
        harness.plan(each, [task("paint")])
    mine, theirs = page_of("owner"), page_of("reviewer")
    for page in (mine, theirs):
        page.goto("/")
        expect(card(page, title)).to_be_visible()
    # What is being written stays; only its buttons go.
    words = card(theirs, other).get_by_label("Reason")
    words.fill("Green, not")
    for each in (title, other):
        card(mine, each).get_by_role("button", name="Approve revision 1").click()
        expect(card(mine, each)).to_contain_text("Approved by you")
    expect(card(theirs, title)).to_contain_text("Approved by owner")
    expect(card(theirs, title).get_by_role("button", name="Approve")).to_have_count(0)
    expect(card(theirs, other)).to_contain_text("Approved by owner")
    expect(card(theirs, other).get_by_role("button", name="Approve")).to_be_disabled()
    expect(words).to_have_value("Green, not")


def test_deciding_what_another_decided_says_who_it_was(
    page_of: PageOf, harness: Harness, allow: Allow
) -> None:
    title = "Oil the gate"
    workflow_id = harness.plan(title, [task("oil")])
    mine, theirs = page_of("owner"), page_of("reviewer")
    allow(theirs, "status of 409|ERR_FAILED")
    for page in (mine, theirs):
        page.goto(f"/workflows/{workflow_id}")
    mine.get_by_role("button", name="Approve revision 1").click()
    expect(mine.locator(".facts")).to_contain_text("Approved, version 1")
    theirs.get_by_role("button", name="Send back").click()
    expect(theirs.get_by_role("alert")).to_contain_text("owner has approved it already")
    assert harness.get(f"/workflows/{workflow_id}")["status"] == "approved"


def test_a_checkpoint_of_a_run_that_is_cancelled_leaves_the_page(
    page_of: PageOf, harness: Harness, person: Harness
) -> None:
    title = "Hang the door"
    workflow_id = harness.plan(title, [checkpoint("look")])
    person.post(f"/workflows/{workflow_id}/approve")
    run_id = harness.run(workflow_id)
    harness.report(run_id, "look", "Ready to be looked at.", "running")
    page = page_of()
    page.goto("/")
    expect(card(page, title)).to_contain_text("Look at look")
    person.post(f"/runs/{run_id}/cancel", {"decided_by": "owner", "reason": "No door any more."})
    expect(card(page, title)).to_contain_text("cancelled by owner")


AT_ONCE = 50
# Sent from the page itself, with its own token; answers status and text of each.
RACE = """([address, times]) => Promise.all(Array.from({ length: times }, async (_, number) => {
    const form = document.querySelector("form.verdict");
    const body = new URLSearchParams(new FormData(form));
    body.set("reason", `reason ${number}`);
    const answer = await fetch(address, { method: "POST", body });
    return [answer.status, await answer.text()];
}))"""


def test_of_fifty_decisions_at_once_one_wins_and_the_others_are_told_whose(
    page_of: PageOf, harness: Harness, allow: Allow
) -> None:
    workflow_id = harness.plan("Choose one", [task("choose")])
    mine, theirs = page_of("owner"), page_of("reviewer")
    for page in (mine, theirs):
        allow(page, "status of 409")
        page.goto(f"/workflows/{workflow_id}")
    for page in (mine, theirs):  # both begin before either is waited for
        given = [f"/workflows/{workflow_id}/approve", AT_ONCE // 2]
        page.evaluate(f"(given) => {{ window.raced = ({RACE})(given) }}", given)
    answers = [answer for page in (mine, theirs) for answer in page.evaluate("window.raced")]
    assert sorted(status for status, _ in answers) == [200] + [409] * (AT_ONCE - 1)
    winner = harness.get(f"/workflows/{workflow_id}/versions")[0]["by"]
    lost = [text for status, text in answers if status == 409]
    assert all(f"{winner} has approved it already" in text for text in lost)
    mine.reload()
    expect(mine.locator(".facts")).to_contain_text("Approved, version 1")
