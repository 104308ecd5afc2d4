"""No page scrolls sideways, on a phone, a tablet or a desk."""

from __future__ import annotations

import pytest

from tests.browser.browsers import HEIGHTS
from tests.browser.conftest import PageOf
from tests.browser.places import Places, names

# The elements that stand furthest out, if any does: what to look at first.
OUTSIDE = """() => [...document.querySelectorAll("body *")]
    .map(each => [each, each.getBoundingClientRect()])
    .filter(([each, box]) => box.width && box.right > document.documentElement.clientWidth + 1)
    .sort((one, other) => other[1].right - one[1].right)
    .slice(0, 3).map(([each, box]) => `${each.tagName}.${each.className?.baseVal ?? each.className} to ${box.right}`)"""


@pytest.mark.parametrize("name", names())
def test_a_page_never_scrolls_sideways(name: str, places: Places, demo_page_of: PageOf) -> None:
    page = demo_page_of()
    page.goto(places.path(name))
    for width, height in HEIGHTS.items():
        page.set_viewport_size({"width": width, "height": height})
        wide = page.evaluate("document.documentElement.scrollWidth")
        assert wide <= width, f"{width}: {page.evaluate(OUTSIDE)}"
