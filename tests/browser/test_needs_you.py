"""Needs you and the list of workflows in a browser: what moves, what doesn't, and where the focus goes."""

from __future__ import annotations

import re
from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.browser.browsers import press
from tests.browser.conftest import PageOf
from tests.browser.sites import Harness
from tests.browser.test_whole_story import card
from tests.plans import task

Allow = Callable[[Page, str], None]


def test_what_is_new_waits_behind_a_button_and_moves_nothing(page_of: PageOf, harness: Harness) -> None:
    for title in ("Sweep the yard", "Rake the leaves"):
        harness.plan(title, [task("begin")], project="garden")
    page = page_of()
    page.goto("/?project=garden")
    words = card(page, "Rake the leaves").get_by_label("Reason")
    words.fill("Not before Sunday, bec")
    where = page.evaluate("[scrollX, scrollY, document.activeElement.name]")
    harness.plan("Prune the roses", [task("begin")], project="garden")
    button = page.get_by_role("link", name="1 new, show")
    expect(button).to_be_visible()
    expect(page.locator("#how-many")).to_contain_text("3 decisions wait")
    expect(card(page, "Prune the roses")).to_have_count(0)
    assert page.evaluate("[scrollX, scrollY, document.activeElement.name]") == where
    button.click()
    expect(card(page, "Prune the roses").get_by_role("link", name="Prune the roses")).to_be_focused()
    expect(words).to_have_value("Not before Sunday, bec")
    expect(button).to_be_hidden()
    card(page, "Prune the roses").get_by_role("button", name="Approve revision 1").click()
    expect(card(page, "Prune the roses")).to_contain_text("Approved by you")


def test_what_is_new_is_shown_by_a_new_page_where_it_cannot_be_fetched(
    page_of: PageOf, harness: Harness, allow: Allow
) -> None:
    harness.plan("Wash the car", [task("begin")], project="garage")
    page = page_of()
    allow(page, "status of 503")
    page.goto("/?project=garage")
    page.route(
        re.compile(r"/\?project=garage$"),
        lambda route: (
            route.fulfill(status=503) if "hx-target" in route.request.headers else route.continue_()
        ),
    )
    harness.plan("Wax the car", [task("begin")], project="garage")
    page.get_by_role("link", name="1 new, show").click()
    expect(card(page, "Wax the car")).to_be_visible()


def test_after_a_decision_the_focus_goes_on_to_the_next_card(page_of: PageOf, harness: Harness) -> None:
    for title in ("Wash the cups", "Dry the cups", "Stack the cups"):
        harness.plan(title, [task("begin")], project="kitchen")
    page = page_of()
    page.goto("/?project=kitchen")
    before = page.title()
    press(page, "j")
    expect(page.get_by_role("link", name="Wash the cups")).to_be_focused()
    press(page, "a")
    expect(card(page, "Wash the cups").get_by_role("button", name="Approve revision 1")).to_be_focused()
    press(page, "Enter")
    expect(card(page, "Wash the cups")).to_contain_text("Approved by you")
    expect(page.get_by_role("link", name="Dry the cups")).to_be_focused()
    press(page, "r")
    press(page, "Enter")
    expect(card(page, "Dry the cups")).to_contain_text("Sent back by you")
    expect(page.get_by_role("link", name="Stack the cups")).to_be_focused()
    waiting = re.findall(r"\((\d+)\)", before)
    expect(page).to_have_title(re.compile(rf"^\({int(waiting[0]) - 2}\) Needs you"))


def test_a_plan_that_moved_on_says_so_in_its_card_and_keeps_the_reason(
    page_of: PageOf, harness: Harness, allow: Allow
) -> None:
    workflow_id = harness.plan("Mend the net", [task("begin")], project="harbour")
    page = page_of()
    allow(page, "status of 412")
    # The card itself is what is tried here, not how soon the page hears of it.
    page.route("**/needs-you/news*", lambda route: route.abort())
    allow(page, "net::ERR_FAILED|needs-you/news")
    page.goto("/?project=harbour")
    card(page, "Mend the net").get_by_label("Reason").fill("Small steps.")
    revision = {"title": "Mend the net", "steps": [task("begin"), task("sink-it")]}
    harness.put(f"/workflows/{workflow_id}", revision)
    card(page, "Mend the net").get_by_role("button", name="Approve revision 1").click()
    moved = card(page, "Mend the net")
    expect(moved.get_by_role("alert")).to_be_focused()
    expect(moved).to_contain_text("Nothing was decided.")
    expect(moved).to_contain_text("1 step added: sink-it")
    expect(moved.get_by_label("Reason")).to_have_value("Small steps.")
    assert harness.get(f"/workflows/{workflow_id}")["status"] == "draft"
    moved.get_by_role("button", name="Approve revision 2").click()
    expect(card(page, "Mend the net")).to_contain_text("Approved by you")


def test_a_plan_that_moves_on_is_renewed_in_its_place_unless_something_is_typed(
    page_of: PageOf, harness: Harness, allow: Allow
) -> None:
    titles = ("Tar the boat", "Paint the boat")
    made = {title: harness.plan(title, [task("begin")], project="quay") for title in titles}
    page = page_of()
    allow(page, "status of 412")
    page.goto("/?project=quay")
    words = card(page, "Paint the boat").get_by_label("Reason")
    words.fill("Green.")
    for title, workflow_id in made.items():
        harness.put(f"/workflows/{workflow_id}", {"title": title, "steps": [task("begin"), task("dry")]})
    expect(card(page, "Tar the boat")).to_contain_text("1 step added: dry")
    expect(card(page, "Tar the boat").get_by_role("button", name="Approve revision 2")).to_be_visible()
    expect(card(page, "Paint the boat")).to_contain_text("Revised by")
    expect(words).to_have_value("Green.")
    card(page, "Paint the boat").get_by_role("button", name="Approve revision 1").click()
    expect(card(page, "Paint the boat")).to_contain_text("1 step added: dry")
    expect(card(page, "Paint the boat").get_by_label("Reason")).to_have_value("Green.")
    assert harness.get(f"/workflows/{made['Paint the boat']}")["status"] == "draft"


def test_the_list_of_workflows_is_kept_to_what_is_typed(page_of: PageOf, harness: Harness) -> None:
    for title in ("Count the swallows", "Count the swifts"):
        harness.plan(title, [task("begin")], project="birds")
    page = page_of()
    page.goto("/workflows")
    find = page.get_by_role("searchbox")
    find.press_sequentially("swif")
    expect(page.get_by_role("link", name="Count the swallows")).to_have_count(0)
    expect(page.get_by_role("link", name="Count the swifts")).to_be_visible()
    expect(find).to_be_focused()
    expect(page).to_have_url(re.compile(r"[?&]q=swif"))
    find.fill("")
    expect(page.get_by_role("link", name="Count the swallows")).to_be_visible()
    page.get_by_label("Project").select_option(label="birds (2)")
    expect(page).to_have_url(re.compile(r"[?&]project=birds"))
    with page.expect_event("load"):  # what one goes back to is asked for anew
        page.go_back()
    expect(page).not_to_have_url(re.compile(r"[?&]project=birds"))
    with page.expect_event("load"):
        page.go_back()
    expect(page).to_have_url(re.compile(r"[?&]q=swif"))
    expect(page.get_by_role("link", name="Count the swifts")).to_be_visible()
    expect(page.get_by_role("link", name="Count the swallows")).to_have_count(0)
