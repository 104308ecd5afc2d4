"""No page scrolls sideways or cuts a word, on a phone, a tablet or a desk, in English or in the longer German."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.browser.browsers import HEIGHTS
from tests.browser.conftest import PageOf
from tests.browser.places import Places, names

# The elements that stand furthest out, if any does: what to look at first.
OUTSIDE = """() => [...document.querySelectorAll("body *")]
    .map(each => [each, each.getBoundingClientRect()])
    .filter(([each, box]) => box.width && box.right > document.documentElement.clientWidth + 1)
    .sort((one, other) => other[1].right - one[1].right)
    .slice(0, 3).map(([each, box]) => `${each.tagName}.${each.className?.baseVal ?? each.className} to ${box.right}`)"""


# What says a word or two and has no room for it.
CUT = """() => [...document.querySelectorAll(".btn, .chip, .tab, .label, .state, .rail-link, dt, th")]
    .filter(each => each.clientWidth > 1 && each.scrollWidth > each.clientWidth + 1 && !each.closest(".vh, svg, .rail-foot"))
    .filter(each => getComputedStyle(each).display !== "inline")
    .slice(0, 3).map(each => `${each.tagName}.${each.className} "${each.textContent.trim()}"`)"""


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize("name", names())
def test_a_page_never_scrolls_sideways_or_cuts_a_word(
    name: str, language: str, places: Places, reading: PageOf
) -> None:
    page = reading()
    page.set_extra_http_headers({"Accept-Language": language})
    page.set_viewport_size({"width": 1440, "height": 900})
    page.goto(places.path(name))
    for width, height in HEIGHTS.items():
        page.set_viewport_size({"width": width, "height": height})
        wide = page.evaluate("document.documentElement.scrollWidth")
        assert wide <= width, f"{width}: {page.evaluate(OUTSIDE)}"
        assert not page.evaluate(CUT), f"cut at {width}"


@pytest.mark.parametrize("name", ["run", "run:failed", "workflow", "workflow:approved", "template"])
def test_a_menu_opens_within_the_page(name: str, places: Places, reading: PageOf) -> None:
    page = reading()
    page.set_extra_http_headers({})
    for width, height in HEIGHTS.items():
        page.set_viewport_size({"width": width, "height": height})
        page.goto(places.path(name))
        expect(page.locator(".head-actions details.menu > summary")).to_be_visible()
        for menu in page.locator(".head-actions details.menu, .rail details.menu").all():
            if not menu.is_visible():
                continue
            menu.locator("summary").click()
            box = menu.locator(".menu-list").bounding_box()
            assert box is not None
            assert box["x"] >= 0, f"{width}: begins at {box['x']}"
            assert box["x"] + box["width"] <= width, f"{width}: ends at {box['x'] + box['width']}"
            menu.locator("summary").click()
