"""A check of the audit log that takes longer than one answer may goes on by itself, in its place."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from django.template.loader import render_to_string
from playwright.sync_api import Route, expect

from chief_project.shared.audit_check import Place, Verdict
from tests.browser.conftest import PageOf

THEN = datetime(2026, 1, 2, tzinfo=UTC)


def begun() -> str:
    """What the page says of a check that has just begun; the rest of it is as good as a whole check."""
    place = Place("run:r1", 1, "", None, 1, 12, 48, THEN)
    verdict = Verdict(streams=1, entries=12, total=48, began_at=THEN, ended_at=THEN, place=place)
    check = {"verdict": verdict, "entries": "12", "total": "48", "next": "/audit?check=1"}
    return render_to_string("pages/audit.html#chain", {"check": check, "scope": "all", "query": ""})


def test_it_goes_on_to_its_end_while_the_rest_of_the_page_stays(page_of: PageOf) -> None:
    page = page_of()

    def answer(route: Route) -> None:
        if "hx-request" in route.request.headers:
            expect(page.locator("#chain")).to_contain_text("12 of 48 entries read, no break so far.")
            route.continue_()
            return
        said = route.fetch()
        route.fulfill(
            response=said,
            body=re.sub(r'<section class="au-chain".*?</section>', begun(), said.text(), flags=re.DOTALL),
        )

    page.route(re.compile(r"/audit\?check=1$"), answer)
    page.goto("/audit?check=1")
    expect(page.locator("#chain")).to_contain_text("Whole, as of")
    expect(page).to_have_url(re.compile(r"/audit\?check=1$"))
    expect(page.locator(".ledger--audit")).to_have_count(1)
