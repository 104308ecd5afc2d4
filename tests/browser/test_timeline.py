"""A run's timeline while the run goes on: a window holds, follows where it has no end, and is left by keys and links."""

from __future__ import annotations

import re
import time
from datetime import UTC, datetime, timedelta

import pytest
from playwright.sync_api import Page, expect

from tests.browser.browsers import press
from tests.browser.conftest import PageOf
from tests.browser.sites import Harness
from tests.plans import parallel, task

APART = 4.5  # seconds: a run that is shorter than four can't be zoomed, however quick the machine


@pytest.fixture
def run_id(harness: Harness, person: Harness) -> str:
    """A run whose first step is done; ``APART`` later, the second step and a branch are at work."""
    steps = [task("lay"), task("point", depends_on=["lay"]), parallel("walls", ["wall"]), task("wall")]
    workflow_id = harness.plan("Lay bricks", steps)
    person.post(f"/workflows/{workflow_id}/approve")
    run_id = harness.run(workflow_id)
    harness.report(run_id, "lay", "Laid.", "completed")
    time.sleep(APART)
    harness.report(run_id, "point", "Begun.", "running")
    harness.report(run_id, f"{harness.branch(run_id, 'walls')}/wall", "Begun.", "running")
    return run_id


def rows(page: Page) -> list[str]:
    return list(page.locator("#timeline [data-row]").evaluate_all("rows => rows.map(row => row.dataset.row)"))


def followed(page: Page, address: str) -> None:
    page.goto(address)
    expect(page.locator("#live")).to_have_class(re.compile("live--live"))


def done(page: Page, number: int) -> None:
    expect(page.locator("#runbar")).to_contain_text(f"{number} of ")


def test_a_window_with_an_end_stays_as_it_is_while_the_run_goes_on(
    page_of: PageOf, harness: Harness, run_id: str
) -> None:
    laid = harness.get(f"/runs/{run_id}")["step_states"]["lay"]
    ended = datetime.fromisoformat(laid["completed_at"]).astimezone(UTC)
    until = (ended + timedelta(seconds=APART / 2)).isoformat().replace("+00:00", "Z")
    page = page_of()
    followed(page, f"/runs/{run_id}/timeline?to={until}")

    def drawn() -> list[str]:
        """The axis, the grid, every bar and the window in words."""
        parts = ["#timeline .tl-axis", "#tl-grid", *(f'[data-row="{row}"] .tl-svg' for row in ("run", "lay"))]
        return [
            page.url,
            page.locator("#when b").inner_text(),
            *(page.locator(part).inner_html() for part in parts),
        ]

    before = drawn()
    assert rows(page) == ["axis", "grid", "run", "lay", "others"]
    harness.report(run_id, "point", "Pointed.", "completed")
    done(page, 2)
    assert drawn() == before
    assert rows(page) == ["axis", "grid", "run", "lay", "others"]


def test_a_window_without_an_end_goes_on_with_the_run_and_keeps_the_focus(
    page_of: PageOf, harness: Harness, run_id: str
) -> None:
    page = page_of()
    followed(page, f"/runs/{run_id}/timeline")
    page.locator('[data-row="point"] a.tl-dur').click()
    expect(page).to_have_url(re.compile(r"timeline\?from=[^&]*#when$"))
    expect(page.locator("#live")).to_have_class(re.compile("live--live"))
    before, address = rows(page), page.url
    assert "lay" not in before
    assert {"point", "walls"} <= set(before)
    name = page.locator('[data-row="point"] .tl-name a')
    name.focus()
    there = harness.branch(run_id, "walls")
    expect(page.locator(f'[data-row="{there}"]')).to_be_visible()
    expect(name).to_be_focused()
    harness.report(run_id, "point", "Pointed.", "completed")
    done(page, 2)
    expect(page.locator('[data-row="point"] .state')).to_contain_text("Completed")
    expect(name).to_be_focused()
    assert page.url == address
    assert [row for row in rows(page) if row in before] == before


def test_it_is_zoomed_by_keys(page_of: PageOf, run_id: str) -> None:
    page = page_of()
    page.goto(f"/runs/{run_id}/timeline")
    for _ in range(4):
        press(page, "j")
        if page.evaluate("document.activeElement.textContent") == "lay":
            break
    press(page, "z")
    expect(page).to_have_url(re.compile(r"to="))
    expect(page.locator('[data-row="lay"]')).to_be_visible()
    press(page, "]")
    expect(page).to_have_url(re.compile(r"from="))
    press(page, "[")
    expect(page).not_to_have_url(re.compile(r"from="))
    press(page, "0")
    expect(page).to_have_url(re.compile(r"timeline#when$"))
    expect(page.locator('[data-key="0"]')).to_have_count(0)
    press(page, "+")
    expect(page).to_have_url(re.compile(r"from="))
    closer = page.url
    press(page, "-")
    expect(page).not_to_have_url(closer)
    expect(page).to_have_url(re.compile(r"/timeline[^/]*#when$"))


def test_without_scripts_a_part_of_the_axis_and_a_bar_lead_to_their_time(
    page_of: PageOf, run_id: str
) -> None:
    page = page_of(java_script_enabled=False)
    page.goto(f"/runs/{run_id}/timeline")
    page.locator(".tl-stretch").first.focus()
    press(page, "Enter")
    expect(page).to_have_url(re.compile(r"(from|to)="))
    page.get_by_role("link", name="Whole run").click()
    page.locator('[data-row="lay"] .tl-bar').first.click(force=True)
    expect(page).to_have_url(re.compile(r"to="))
    expect(page.locator('[data-row="others"]')).to_contain_text("outside this time")
