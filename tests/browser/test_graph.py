"""Real plans as they are drawn: readable, unfolded by a click, and no page heavier than a megabyte."""

from __future__ import annotations

import json
import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import PageOf
from tests.browser.sites import Harness
from tests.servers import ROOT

INPUTS = ROOT.parent / "shared" / "inputs"
MOST_BYTES = 1_000_000
MOST_BOXES = 150

pytestmark = pytest.mark.skipif(not INPUTS.is_dir(), reason=f"the real plans are not at {INPUTS}")


def opened(page: Page, harness: Harness, name: str) -> int:
    """Submit a real plan and open it; answers how many bytes its page has."""
    plan = json.loads((INPUTS / f"{name}.plan.json").read_text())
    workflow_id = harness.post("/workflows", plan)["workflow_id"]
    answer = page.goto(f"/workflows/{workflow_id}")
    assert answer is not None
    return len(answer.body())


@pytest.mark.parametrize("name", ["testcraft-34", "airrflow-212", "soykb-676", "bwa-1004"])
def test_a_real_plan_opens_as_a_picture(name: str, page_of: PageOf, harness: Harness) -> None:
    page = page_of()
    assert opened(page, harness, name) <= MOST_BYTES
    boxes = page.locator("#graph a")
    expect(boxes.first).to_be_visible()
    assert 3 <= boxes.count() <= MOST_BOXES


def test_a_thousand_alike_are_a_handful_of_boxes_that_say_how_many(page_of: PageOf, harness: Harness) -> None:
    page = page_of()
    opened(page, harness, "bwa-1004")
    assert page.locator("#graph a").count() <= 12
    expect(page.locator("#graph")).to_contain_text(re.compile("1[ ,.]?000"))
