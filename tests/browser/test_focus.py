"""Who works with Tab and Enter keeps their place when a panel is put in the place of another."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.browser.browsers import press
from tests.browser.conftest import PageOf
from tests.browser.sites import Harness
from tests.plans import task


def enter(page: Page, name: str, role: str = "link") -> None:
    panel = page.locator("#panel")
    (
        panel.get_by_role("link", name=name) if role == "link" else panel.get_by_role("button", name=name)
    ).focus()
    press(page, "Enter")


def test_the_focus_stays_in_the_panel_of_a_plan(page_of: PageOf, harness: Harness) -> None:
    steps = [task("dig", goal="Dig the bed"), task("sow", goal="Sow"), task("water", goal="Water the bed")]
    workflow_id = harness.plan("Who has the focus", steps)
    page = page_of()
    panel = page.locator("#panel")
    page.goto(f"/workflows/{workflow_id}")

    enter(page, "First step")
    expect(panel.get_by_role("heading", name="Dig the bed")).to_be_visible()
    expect(panel).to_be_focused()

    enter(page, "Next step")
    expect(panel.get_by_role("heading", name="Sow")).to_be_visible()
    expect(panel.get_by_role("link", name="Next step")).to_be_focused()
    press(page, "Enter")
    expect(panel.get_by_role("heading", name="Water the bed")).to_be_visible()
    expect(panel).to_be_focused()  # there is no next one

    page.get_by_label("Note on this step").fill("Every evening?")
    enter(page, "Add note", "button")
    expect(panel.locator(".msg-body", has_text="Every evening?")).to_be_visible()
    expect(panel.get_by_role("button", name="Add note")).to_be_focused()

    page.get_by_label("Note on this step").fill("And every morning.")
    press(page, "Control+Enter")
    expect(panel.locator(".msg-body", has_text="And every morning.")).to_be_visible()
    expect(page.get_by_label("Note on this step")).to_be_focused()


def test_the_focus_stays_in_the_panel_of_a_run(page_of: PageOf, harness: Harness, person: Harness) -> None:
    workflow_id = harness.plan("Who has the focus in a run", [task("dig"), task("sow")])
    person.post(f"/workflows/{workflow_id}/approve")
    run_id = harness.run(workflow_id)
    page = page_of()
    panel = page.locator("#panel")
    page.goto(f"/runs/{run_id}?step=dig")
    enter(page, "Next")
    expect(panel.locator(".panel-id")).to_contain_text("sow")
    enter(page, "Previous")
    expect(panel.locator(".panel-id")).to_contain_text("dig")
    expect(panel).to_be_focused()
    enter(page, "Back to the whole run")
    expect(panel.get_by_text("Choose a step to see")).to_be_visible()
    expect(panel).to_be_focused()
