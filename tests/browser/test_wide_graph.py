"""A drawing that is wider than the window: where one is in it is told, and what was chosen is in sight."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.browsers import press
from tests.browser.conftest import PageOf
from tests.browser.sites import Harness, Site
from tests.plans import parallel, task

HEADS = """() => {
  const frame = document.querySelector(".canvas-scroll").getBoundingClientRect();
  return [".g-near", ".g-far"].map((end) => {
    const { left, right } = document.querySelector(`svg.graph a[data-id="read"] ${end}`).getBoundingClientRect();
    return left >= frame.left - 1 && right <= frame.right + 1;
  });
}"""


@pytest.fixture
def page(page_of: PageOf, harness: Harness, site: Site) -> Page:
    """A run with seven branches side by side."""
    steps = [
        parallel("read", ["sum"], instance_params=[{"name": "paper"}], goal="Read each of the papers"),
        task("sum", goal="Say what {{ paper }} claims, and on what evidence"),
    ]
    workflow_id = harness.plan("Papers", steps)
    site.person().post(f"/workflows/{workflow_id}/approve", {"decided_by": "owner"})
    run_id = harness.run(workflow_id)
    for number in range(7):
        harness.branch(run_id, "read", paper=f"paper-{number}")
    page = page_of()
    page.goto(f"/runs/{run_id}")
    return page


def scroll_to(page: Page, left: int) -> None:
    page.evaluate(
        """async (left) => {
          document.querySelector(".canvas-scroll").scrollLeft = left;
          await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
        }""",
        left,
    )


def test_both_ends_of_a_head_stay_in_sight_however_it_is_scrolled_and_zoomed(page: Page) -> None:
    frame = page.locator(".canvas-scroll")
    assert frame.evaluate("frame => frame.scrollWidth > frame.clientWidth + 300"), "this tests what is wider"
    assert page.evaluate(HEADS) == [True, True]
    for left in (0, 200, 100_000):
        scroll_to(page, left)
        assert page.evaluate(HEADS) == [True, True], left
    press(page, "+")
    assert page.evaluate(HEADS) == [True, True]
    press(page, "0")
    assert page.locator("svg.graph :is(.g-near, .g-far)[transform]").count() == 0, "all of it is in sight"


def test_a_branch_that_is_asked_for_is_in_sight_and_stays_chosen_when_news_come(
    page: Page, harness: Harness
) -> None:
    run_id = page.url.rsplit("/", 1)[1]
    for number in (6, 0):
        path = f"read/inst_0{number}"
        page.goto(f"/runs/{run_id}?step={path}")
        chosen = page.locator("svg.graph a.is-selected")
        expect(chosen).to_have_attribute("data-id", path)
        expect(chosen.locator(".g-corner")).to_be_in_viewport(ratio=0.9)
    harness.report(run_id, f"{path}/sum", "Begun", "running")
    expect(page.locator(f'svg.graph a[data-id="{path}/sum"]')).to_contain_text("Running")
    expect(chosen).to_have_attribute("data-id", path)


def test_from_far_away_states_are_shown_large_instead_of_words_that_nobody_can_read(page: Page) -> None:
    goal = page.locator('svg.graph a[data-id="read/inst_03/sum"] .g-title').first
    icon = page.locator('svg.graph a[data-id="read/inst_03/sum"] > .g-ico > use')
    press(page, "0")
    while page.locator("svg.graph.graph--far").count() == 0:
        expect(goal).to_be_visible()
        before = icon.bounding_box()
        press(page, "-")
    expect(goal).to_be_hidden()
    after = icon.bounding_box()
    assert before is not None
    assert after is not None
    assert after["width"] > before["width"] * 1.5
    press(page, "+")
    expect(goal).to_be_visible()


def test_an_amendments_drawing_is_zoomed_and_fitted_and_begins_at_what_changes(
    page: Page, harness: Harness
) -> None:
    run_id = page.url.rsplit("/", 1)[1]
    step = task("sum", goal="Say what {{ paper }} claims, in one sentence")
    change = {"op": "update_step", "target_step_id": "sum", "step": step}
    body = {"proposed_by": "claude-code", "kind": "forward", "reason": "Shorter.", "operations": [change]}
    made = harness.post(f"/runs/{run_id}/amendments", body)
    page.goto(f"/amendments/{made['amendment_id']}")
    expect(page.locator("svg.graph .node.x-changed").first).to_be_in_viewport()
    assert page.evaluate(HEADS) == [True, True]
    shown = page.locator("[data-zoom]")
    expect(shown).to_have_text("100 %")
    page.get_by_role("button", name="Fit to window").click()
    expect(shown).not_to_have_text("100 %")
    here = page.url
    press(page, "]")
    press(page, "+")
    assert page.url == here, "no step is shown here, so none is gone to"
