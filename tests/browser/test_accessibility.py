"""axe-core finds nothing on any page, in either theme."""

from __future__ import annotations

from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

from tests.browser.conftest import PageOf
from tests.browser.places import Places, names

# What a theme can change is its colours; everything else is looked at once.
COLOURS: dict[str, Any] = {
    "resultTypes": ["violations"],
    "runOnly": {"type": "rule", "values": ["color-contrast", "link-in-text-block"]},
}


@pytest.mark.parametrize("name", names())
def test_axe_finds_nothing_in_either_theme(name: str, places: Places, reading: PageOf) -> None:
    page = reading(bypass_csp=True)  # axe comes in as a script of the test's
    page.emulate_media(color_scheme="light", reduced_motion="reduce")
    page.goto(places.path(name))
    assert _violations(page) == []
    page.emulate_media(color_scheme="dark", reduced_motion="reduce")
    assert _violations(page, COLOURS) == []


@pytest.mark.parametrize("path", ["/signin", "/nowhere-at-all"])
def test_axe_finds_nothing_before_anybody_has_signed_in(path: str, page_of: PageOf, allow: Any) -> None:
    page = page_of(None, bypass_csp=True)
    allow(page, "status of 404")
    page.goto(path)
    assert _violations(page) == []
    page.emulate_media(color_scheme="dark", reduced_motion="reduce")
    assert _violations(page, COLOURS) == []


def _violations(page: Page, options: dict[str, Any] | None = None) -> list[str]:
    """In a line each: the rule, and the first elements that break it."""
    found = Axe().run(page, options=options) if options else Axe().run(page)
    return [
        f"{each['id']}: {each['help']}: " + " | ".join(node["html"][:160] for node in each["nodes"][:3])
        for each in found.response["violations"]
    ]
