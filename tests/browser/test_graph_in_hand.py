"""The graph in a person's hands: selecting, going back, zooming, finding, and new states, without losing one's place."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.browsers import press
from tests.browser.conftest import PageOf
from tests.browser.sites import Harness
from tests.plans import loop, task

SELECTED = "svg.graph a.is-selected"


@pytest.fixture
def page(page_of: PageOf, harness: Harness) -> Page:
    """A plan of a dozen steps, open at its graph. The SVG is marked, to tell whether it is still the same."""
    steps = [task("begin", goal="Begin with the inventory")]
    steps += [task(f"copy-{n}", goal=f"Copy shelf {n}", depends_on=["begin"]) for n in range(4)]
    steps += [
        loop("again", ["read", "mend"], exit_when="nothing is left", depends_on=["copy-0", "copy-1"]),
        task("read", goal="Read what was copied"),
        task("mend", goal="Mend what was misread", depends_on=["read"]),
        task("end", goal="Close the old shelves", depends_on=["again", "copy-2"]),
    ]
    workflow_id = harness.plan("Shelves", steps)
    page = page_of()
    page.goto(f"/workflows/{workflow_id}")
    page.locator("svg.graph").evaluate("svg => svg.dataset.same = 'yes'")
    return page


def box(page: Page, step_id: str) -> str:
    return f'svg.graph a[data-id="{step_id}"]'


def lit(page: Page) -> set[str]:
    ends = "edges => edges.map(each => `${each.dataset.from ?? each.dataset.again}>${each.dataset.to}`)"
    return set(page.locator(".g-e:has(.g-edge--lit)").evaluate_all(ends))


def test_a_click_selects_in_place_and_lights_the_same_as_the_server_does(page: Page) -> None:
    page.locator(box(page, "mend")).click()
    expect(page.locator("#panel")).to_contain_text("Mend what was misread")
    assert page.url.endswith("step=mend")
    assert page.locator("svg.graph").get_attribute("data-same") == "yes"
    in_place = lit(page)
    assert in_place == {
        "read>mend",
        "mend>read",
        "copy-0>again",
        "copy-1>again",
        "begin>copy-0",
        "begin>copy-1",
        "again>end",
    }
    page.reload()
    assert lit(page) == in_place
    assert page.locator(SELECTED).get_attribute("data-id") == "mend"


def test_back_and_forward_go_through_what_was_selected(page: Page) -> None:
    page.locator(box(page, "begin")).click()
    expect(page.locator("#panel")).to_contain_text("Begin with the inventory")
    page.locator(box(page, "end")).click()
    expect(page.locator("#panel")).to_contain_text("Close the old shelves")
    page.go_back()
    expect(page.locator(SELECTED)).to_have_attribute("data-id", "begin")
    expect(page.locator("#panel")).to_contain_text("Begin with the inventory")
    page.go_back()
    expect(page.locator(SELECTED)).to_have_count(0)
    page.go_forward()
    expect(page.locator(SELECTED)).to_have_attribute("data-id", "begin")


def test_keys_zoom_and_fit_and_the_arrows_walk(page: Page) -> None:
    shown = page.locator("[data-zoom]")
    press(page, "+")
    expect(shown).to_have_text("125 %")
    press(page, "-")
    expect(shown).to_have_text("100 %")
    press(page, "+")
    expect(shown).to_have_text("125 %")
    press(page, "0")
    expect(shown).to_have_text(re.compile(r"^(100|\d\d) %$"))
    page.locator(box(page, "again")).focus()
    press(page, "ArrowDown")
    assert page.evaluate("document.activeElement.dataset.id") in {"read", "mend", "end"}


def test_finding_counts_goes_on_and_leaves_no_trace(page: Page) -> None:
    press(page, "/")
    page.keyboard.type("shelf")
    expect(page.locator(".is-found")).to_have_count(4)
    expect(page.locator("#said")).to_contain_text("4")
    press(page, "Enter")
    first = page.locator(".is-at").get_attribute("data-id")
    assert first
    press(page, "Enter")
    expect(page.locator(".is-at")).not_to_have_attribute("data-id", first)
    press(page, "Escape")
    expect(page.locator(".is-found")).to_have_count(0)
    press(page, "/")
    page.keyboard.type("nowhere")
    expect(page.locator("#said")).to_have_text("Nothing found")


def test_a_newer_drawing_moves_neither_scroll_nor_zoom_nor_selection_nor_focus(page: Page) -> None:
    press(page, "+")
    press(page, "+")
    page.locator(box(page, "read")).click()
    expect(page.locator("#panel")).to_contain_text("Read what was copied")
    page.locator(box(page, "end")).focus()
    tell = """async () => {
      const frame = document.querySelector("svg.graph").closest(".canvas-scroll");
      frame.scrollTop = 90;
      const state = () => [frame.scrollTop, frame.scrollLeft, document.querySelector("svg.graph").getAttribute("width"),
        document.activeElement.dataset.id, document.querySelector("svg.graph a.is-selected").dataset.id];
      const before = state();
      const text = await (await fetch(location.pathname)).text();
      const svg = new DOMParser().parseFromString(text, "text/html").querySelector("svg.graph").outerHTML;
      (await import(document.querySelector("script[src*='/graph.']").src)).refresh(svg);
      return [before, state()];
    }"""
    before, after = page.evaluate(tell)
    assert before == after
    assert before[0] > 0
    assert before[3:] == ["end", "read"]


def test_without_scripts_a_box_is_a_link_to_the_same_page_with_its_step(page_of: PageOf, page: Page) -> None:
    plain = page_of(java_script_enabled=False)
    plain.goto(page.url)
    plain.locator(box(plain, "begin")).click()
    expect(plain.locator(SELECTED)).to_have_attribute("data-id", "begin")
    expect(plain.locator("#panel")).to_contain_text("Begin with the inventory")
