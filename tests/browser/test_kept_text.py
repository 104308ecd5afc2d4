"""What is typed is kept until it was sent, also where a panel changes without a new page, and no longer than that."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import PageOf
from tests.browser.sites import Harness
from tests.plans import task

Allow = Callable[[Page, str], None]


@pytest.fixture
def reviewing(page_of: PageOf, harness: Harness) -> Page:
    """A draft of two steps, the first of them selected."""
    workflow_id = harness.plan(
        "Kept while one looks around",
        [task("dig", goal="Dig the bed"), task("plant", goal="Plant the beans", depends_on=["dig"])],
    )
    page = page_of()
    page.goto(f"/workflows/{workflow_id}?step=dig")
    return page


def note(page: Page) -> str:
    return page.get_by_label("Note on this step").input_value()


def choose(page: Page, way: str, goal: str) -> None:
    page.locator("#panel").get_by_role("link", name=way).click()
    expect(page.locator("#panel").get_by_role("heading", name=goal)).to_be_visible()


def test_a_half_written_note_is_there_when_its_step_is_chosen_again(reviewing: Page) -> None:
    page = reviewing
    page.get_by_label("Note on this step").fill("Two spades deep is too deep.")
    choose(page, "Next step", "Plant the beans")
    assert note(page) == ""
    page.get_by_label("Note on this step").fill("Which beans?")
    choose(page, "Previous step", "Dig the bed")
    assert note(page) == "Two spades deep is too deep."
    choose(page, "Next step", "Plant the beans")
    assert note(page) == "Which beans?"


def test_a_note_that_was_sent_is_let_go_and_the_next_one_is_kept(reviewing: Page) -> None:
    page = reviewing
    page.get_by_label("Note on this step").fill("The first note.")
    page.get_by_role("button", name="Add note").click()
    expect(page.locator("#panel .msg-body", has_text="The first note.")).to_be_visible()
    assert note(page) == ""
    page.get_by_label("Note on this step").fill("The second, half wri")
    page.reload()
    assert note(page) == "The second, half wri"


def test_a_note_that_was_refused_is_kept(reviewing: Page, harness: Harness, allow: Allow) -> None:
    page = reviewing
    allow(page, "status of 422")
    page.get_by_label("Note on this step").fill("Two spades deep is too deep.")
    workflow_id = page.url.partition("/workflows/")[2].partition("?")[0]
    harness.put(f"/workflows/{workflow_id}", {"title": "Kept", "steps": [task("plant")]})
    page.get_by_role("button", name="Add note").click()
    expect(page.locator("#panel").get_by_role("alert")).to_contain_text("has no step 'dig'")
    assert page.get_by_label("Note on the plan").input_value() == "Two spades deep is too deep."
    harness.put(f"/workflows/{workflow_id}", {"title": "Kept", "steps": [task("plant"), task("dig")]})
    page.reload()
    assert note(page) == "Two spades deep is too deep."


def test_an_answer_is_kept_where_the_server_stumbled_over_it_and_let_go_once_it_was_taken(
    page_of: PageOf, harness: Harness, person: Harness, allow: Allow
) -> None:
    workflow_id = harness.plan("Ask twice", [task("dig")])
    person.post(f"/workflows/{workflow_id}/approve")
    run_id = harness.run(workflow_id)
    harness.report(run_id, "dig", "Begun.", "running")
    harness.post(f"/runs/{run_id}/questions/dig", {"text": "How deep?"})
    page = page_of()
    allow(page, "status of 502|favicon.ico")
    here = f"/runs/{run_id}?step=dig"
    page.goto(here)
    page.route("**/answer/dig", lambda route: route.fulfill(status=502, body="<h1>Bad gateway</h1>"))
    for back in (page.go_back, lambda: page.goto(here)):
        page.get_by_label("Your answer").fill("Two spades")
        page.get_by_role("button", name="Answer").click()
        expect(page.get_by_role("heading", name="Bad gateway")).to_be_visible()
        back()
        expect(page.get_by_label("Your answer")).to_have_value("Two spades")
    page.unroute("**/answer/dig")
    page.get_by_role("button", name="Answer").click()
    expect(page.locator("#panel")).to_contain_text("Two spades")
    page.wait_for_load_state()
    assert [key for key in page.evaluate("Object.keys(localStorage)") if "/answer/" in key] == []
