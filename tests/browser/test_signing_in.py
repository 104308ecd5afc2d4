"""A person gets in by a link or a password, and to where they wanted to go."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from tests.browser.browsers import sign_in
from tests.browser.conftest import PageOf
from tests.browser.sites import Site


def test_a_link_signs_in_and_pages_stay_on_the_site(page_of: PageOf, site: Site) -> None:
    page = page_of(None)
    sign_in(page, site.link("reviewer"))
    expect(page.get_by_role("heading", level=1, name="Needs you")).to_be_visible()
    expect(page.locator(".rail-user")).to_have_text("reviewer")


def test_somebody_who_is_not_signed_in_is_asked_to_and_comes_back(page_of: PageOf, site: Site) -> None:
    password = "two spades deep, three rows"
    page = page_of(None)
    sign_in(page, site.link("viewer"))
    page.goto("/password")
    for field in ("new", "again"):
        page.locator(f"input[name={field}]").fill(password)
    page.locator("form button").click()
    expect(page.get_by_role("heading", level=1, name="Needs you")).to_be_visible()
    page.context.clear_cookies()
    page.goto("/workflows?state=draft")
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
    page.get_by_label("Name").fill("viewer")
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Sign in").click()
    expect(page).to_have_url(re.compile(r"/workflows\?state=draft$"))
    expect(page.get_by_role("heading", level=1, name="Workflows")).to_be_visible()
