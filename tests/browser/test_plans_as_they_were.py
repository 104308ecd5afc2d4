"""An old plan in a browser: reached and read by keys, and selecting a step never leaves it."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from tests.browser.browsers import HEIGHTS, press
from tests.browser.conftest import PageOf
from tests.browser.places import Places
from tests.browser.sites import Harness
from tests.plans import task


def test_a_revision_is_reached_and_read_by_keys(page_of: PageOf, harness: Harness) -> None:
    steps = [task("dig", goal="Dig two spades deep"), task("plant", depends_on=["dig"])]
    workflow_id = harness.plan("An old plan", steps)
    harness.put(
        f"/workflows/{workflow_id}", {"title": "An old plan", "steps": [task("dig", goal="Dig one deep")]}
    )
    page = page_of()
    page.goto(f"/workflows/{workflow_id}")
    press(page, "6")
    expect(page).to_have_url(re.compile("/history$"))
    press(page, "j", "j")
    expect(page.get_by_role("link", name="Revision 1")).to_be_focused()
    press(page, "Enter")
    expect(page).to_have_url(re.compile("/plans/r1$"))
    expect(page.locator("#panel")).to_contain_text("Revision 1 of 2")
    press(page, "]")
    panel = page.locator("#panel")
    expect(panel.get_by_role("heading", name="Dig two spades deep")).to_be_visible()
    expect(panel).to_contain_text("Revision 1 of 2")
    expect(page).to_have_url(re.compile(r"/plans/r1\?step=dig$"))
    panel.get_by_role("link", name="plant").click()
    expect(page).to_have_url(re.compile(r"/plans/r1\?step=plant$"))
    expect(panel).to_contain_text("This step is not in the plan as it stands.")
    press(page, "2")
    expect(page).to_have_url(re.compile(r"/plans/r1/outline"))
    press(page, "a", "r", "n")
    press(page, "Enter")
    expect(page.get_by_text("Not what would be approved: that is revision 2.")).to_be_visible()
    assert harness.get(f"/workflows/{workflow_id}")["status"] == "draft"


def test_a_step_of_an_earlier_plan_of_a_run_is_selected_within_it(
    demo_page_of: PageOf, places: Places
) -> None:
    page = demo_page_of()
    page.goto(places.path("run-definition+registered"))
    page.locator("#graph a[data-id]").first.click()
    expect(page).to_have_url(re.compile(r"/definition\?applied=0&step="))
    expect(page.locator("#panel")).to_contain_text("As registered")
    page.locator(".trail").get_by_role("link", name="Now", exact=True).click()
    expect(page).to_have_url(re.compile(r"/definition$"))
    expect(page.locator("#panel")).to_contain_text("As planned")


def test_which_plan_it_is_has_room_to_be_said(demo_page_of: PageOf, places: Places) -> None:
    page = demo_page_of()
    page.goto(places.path("workflow-kept").replace("r1", "r2"))  # with a plan before it and one after it
    for width in HEIGHTS:
        page.set_viewport_size({"width": width, "height": HEIGHTS[width]})
        said = page.get_by_text("Revision 2 of 3").first.locator("xpath=ancestor::div[1]").bounding_box()
        assert said is not None
        assert said["width"] > min(width, 900) / 2, f"{said['width']} of {width} px"
