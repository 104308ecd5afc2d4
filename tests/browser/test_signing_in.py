"""A person gets in by a link, and back to where they wanted to go."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.browser.conftest import PageOf
from tests.browser.sites import Site


def test_a_link_signs_in_and_pages_stay_on_the_site(page_of: PageOf) -> None:
    page = page_of()
    page.goto("/")
    expect(page.get_by_role("main")).to_be_visible()
    assert page.context.cookies()


def test_somebody_who_is_not_signed_in_is_asked_to_and_comes_back(page_of: PageOf, site: Site) -> None:
    page = page_of(None)
    page.goto("/password")
    page.wait_for_url(lambda there: "/signin?next=" in there)
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
