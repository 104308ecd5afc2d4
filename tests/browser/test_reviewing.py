"""A plan is reviewed on its page: by clicks, with the back button, through an expired session, without scripts."""

from __future__ import annotations

import re
from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.browser.browsers import sign_in
from tests.browser.conftest import PageOf
from tests.browser.sites import Harness, Site
from tests.plans import task

Allow = Callable[[Page, str], None]


def a_draft(harness: Harness, title: str) -> str:
    return harness.plan(
        title,
        [
            task("dig", goal="Dig the bed two spades deep"),
            task("plant", goal="Plant three rows of beans", depends_on=["dig"]),
            task("water", goal="Water every evening", depends_on=["plant"]),
        ],
        project="garden",
    )


def test_going_back_finds_each_view_as_it_was(page_of: PageOf, harness: Harness) -> None:
    workflow_id = a_draft(harness, "Back and forth")
    page = page_of()
    page.goto(f"/workflows/{workflow_id}")
    panel = page.locator("#panel")
    page.get_by_role("link", name="First step").click()
    expect(panel.get_by_role("heading", name="Dig the bed")).to_be_visible()
    panel.get_by_role("link", name="Next step").click()
    expect(panel.get_by_role("heading", name="Plant three rows")).to_be_visible()
    page.get_by_role("navigation", name="Views of the plan").get_by_role("link", name="History").click()
    expect(page).to_have_url(re.compile("/history$"))
    page.go_back()
    expect(panel.get_by_role("heading", name="Plant three rows")).to_be_visible()
    page.go_back()
    expect(panel.get_by_role("heading", name="Dig the bed")).to_be_visible()
    page.go_forward()
    expect(panel.get_by_role("heading", name="Plant three rows")).to_be_visible()


def test_going_back_after_a_decision_decides_nothing_twice(page_of: PageOf, harness: Harness) -> None:
    workflow_id = a_draft(harness, "Decided once")
    page = page_of()
    page.goto("/workflows")
    page.goto(f"/workflows/{workflow_id}")
    page.get_by_role("button", name="Approve revision 1").click()
    expect(page.get_by_text("Approved, version 1")).to_be_visible()
    page.go_back()
    page.go_forward()
    expect(page.get_by_text("Approved, version 1")).to_be_visible()
    history = harness.get(f"/workflows/{workflow_id}/versions")
    assert len(history) == 1


def test_a_half_written_note_survives_a_reload_and_an_expired_session(
    page_of: PageOf, site: Site, harness: Harness, allow: Allow
) -> None:
    workflow_id = a_draft(harness, "Kept as you type")
    page = page_of()
    allow(page, "status of 401|moved")  # the open page asks on while nobody is signed in
    page.goto(f"/workflows/{workflow_id}?step=dig")
    words = "Two spades are too deep: there is clay below."
    page.get_by_label("Note on this step").fill(words)
    page.reload()
    expect(page.get_by_label("Note on this step")).to_have_value(words)

    page.context.clear_cookies()
    page.get_by_role("button", name="Add note").click()
    expect(page.get_by_role("heading", name="Not sent yet")).to_be_visible()
    expect(page.get_by_text("Your session has ended")).to_be_visible()
    kept = page.get_by_role("textbox")
    expect(kept).to_have_value(words)

    other = page.context.new_page()
    sign_in(other, site.link("owner"))
    other.close()
    page.get_by_role(
        "button", name="Send"
    ).click()  # the form waited for the new session, and takes its token
    expect(page.locator(".msg-body", has_text=words)).to_be_visible()
    notes = harness.get(f"/workflows/{workflow_id}/notes")
    assert [note["body"] for note in notes] == [words]
    # What was sent isn't offered again.
    page.goto(f"/workflows/{workflow_id}?step=dig")
    expect(page.get_by_label("Note on this step")).to_have_value("")


def test_a_plan_that_moved_on_is_not_approved_and_the_difference_is_shown(
    page_of: PageOf, harness: Harness, allow: Allow
) -> None:
    workflow_id = a_draft(harness, "It moved on")
    page = page_of()
    allow(page, "status of 412")
    page.goto(f"/workflows/{workflow_id}")
    harness.put(
        f"/workflows/{workflow_id}",
        {"title": "It moved on", "steps": [task("dig", goal="Dig the bed three spades deep")]},
    )
    page.get_by_role("button", name="Approve revision 1").click()
    expect(page.get_by_role("alert")).to_contain_text("Nothing was decided")
    expect(page.locator("main ins", has_text="three").first).to_be_visible()
    assert harness.get(f"/workflows/{workflow_id}")["status"] == "draft"
    page.get_by_role("button", name="Approve revision 2").click()
    expect(page.get_by_text("Approved, version 1")).to_be_visible()
