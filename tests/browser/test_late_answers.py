"""An answer that comes late tells of what was: it must not undo on the page what a person has seen or done since."""

from __future__ import annotations

import re
from collections.abc import Callable
from time import monotonic

from playwright.sync_api import APIResponse, Page, Request, Route, expect

from tests.browser.browsers import PATIENCE
from tests.browser.conftest import PageOf
from tests.browser.sites import Harness
from tests.browser.test_whole_story import card
from tests.plans import task


class Held:
    """The first answer to a request of ``page`` that ``asks`` knows: given by the server, and held until ``release``."""

    def __init__(self, page: Page, asks: Callable[[Request], bool]) -> None:
        self._page = page
        self._asks = asks
        self._route: Route | None = None
        self._answer: APIResponse | None = None
        page.route(re.compile("^http"), self._hold)

    def _hold(self, route: Route) -> None:
        if self._route is not None or not self._asks(route.request):
            route.fallback()
            return
        self._route = route
        self._answer = route.fetch()

    def wait(self) -> None:
        """Until the server has answered."""
        end = monotonic() + PATIENCE / 1000
        while self._answer is None:
            assert monotonic() < end, "nothing was asked"
            self._page.wait_for_timeout(20)

    def release(self) -> None:
        """Let it through."""
        assert self._route is not None
        self._route.fulfill(response=self._answer)

    def release_and_ask_again(self) -> None:
        """Let it through, and wait until the page has asked for what is true now."""
        held = self._route
        assert held is not None
        with self._page.expect_response(
            lambda later: later.request != held.request and self._asks(later.request)
        ):
            self.release()


def test_what_was_shown_as_new_is_not_offered_again(page_of: PageOf, harness: Harness) -> None:
    harness.plan("Sort the bolts", [task("begin")], project="drawer")
    page = page_of()
    page.goto("/?project=drawer")
    harness.plan("Sort the nuts", [task("begin")], project="drawer")
    offer = page.get_by_role("link", name="1 new, show")
    expect(offer).to_be_visible()
    held = Held(page, lambda request: "/needs-you/news" in request.url)
    harness.plan("Somewhere else", [task("begin")], project="attic")
    held.wait()
    offer.click()
    expect(card(page, "Sort the nuts")).to_be_visible()
    expect(offer).to_be_hidden()
    held.release_and_ask_again()
    expect(offer).to_be_hidden()
    expect(page.locator("#how-many")).to_contain_text("2 decisions wait")


def test_what_came_while_the_new_was_on_its_way_is_offered(page_of: PageOf, harness: Harness) -> None:
    harness.plan("Sort the bolts", [task("begin")], project="box")
    page = page_of()
    page.goto("/?project=box")
    harness.plan("Sort the nuts", [task("begin")], project="box")
    held = Held(page, lambda request: request.headers.get("hx-target") == "queue")
    page.get_by_role("link", name="1 new, show").click()
    held.wait()
    harness.plan("Sort the nails", [task("begin")], project="box")
    expect(page.get_by_role("link", name="2 new, show")).to_be_visible()
    held.release()
    expect(card(page, "Sort the nuts")).to_be_visible()
    expect(page.get_by_role("link", name="1 new, show")).to_be_visible()
    expect(card(page, "Sort the nails")).to_have_count(0)


def test_what_was_decided_while_a_reader_s_page_asked_is_told(page_of: PageOf, harness: Harness) -> None:
    workflow_id = harness.plan("Set the table", [task("set")])
    page = page_of("reviewer")
    page.goto(f"/workflows/{workflow_id}")
    count = page.locator("#waiting-count [data-n]")
    before = int(count.text_content() or "0")
    held = Held(page, lambda request: "/moved" in request.url)
    harness.plan("Something else that waits", [task("begin")])
    expect(count).to_have_text(str(before + 1))
    held.wait()
    person = page_of("owner")
    person.goto(f"/workflows/{workflow_id}")
    person.get_by_role("button", name="Approve revision 1").click()
    expect(person.locator(".facts")).to_contain_text("Approved, version 1")
    expect(count).to_have_text(str(before))
    held.release_and_ask_again()
    expect(page.locator("[data-moved]")).to_contain_text("owner")
