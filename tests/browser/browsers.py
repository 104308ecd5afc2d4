"""The system's Chromium, how it is started, and what it may not do on a page of Chief."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Page,
    Request,
    expect,
    sync_playwright,
)

NAMES = ("chromium", "chromium-browser", "google-chrome")
CHROMIUM = next(filter(None, map(shutil.which, NAMES)), None)
WHERE_FROM = f"no browser is installed ({', '.join(NAMES)}): install Debian's chromium"
FLAGS = [
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
]
PATIENCE = 40_000  # milliseconds, for a busy machine
LATENCY = int(os.environ.get("CHIEF_TEST_LATENCY", "0"))  # milliseconds, for every answer, with nothing kept
HEIGHTS = {1440: 900, 768: 1024, 360: 740}


@contextmanager
def a_browser() -> Iterator[Browser]:
    """Chromium, without a window. While it is there, this thread has a running event loop."""
    expect.set_options(timeout=PATIENCE)
    root = hasattr(os, "geteuid") and os.geteuid() == 0
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=CHROMIUM,
            args=[*FLAGS, *(["--no-sandbox"] if root else [])],
            timeout=3 * PATIENCE,
        )
        try:
            yield browser
        finally:
            browser.close()


class Watch:
    """What went wrong in a context's pages: scripts, the content policy, requests. ``allow`` names what may.

    A request that leaves the site is never allowed.
    """

    def __init__(self, context: BrowserContext, url: str) -> None:
        self.problems: list[str] = []
        self._allowed: list[re.Pattern[str]] = []
        self._site = urlsplit(url).netloc
        context.on("console", self._console)
        context.on("weberror", lambda error: self.problems.append(f"script: {error.error}"))
        context.on("request", self._request)
        context.on("requestfailed", self._failed)

    def allow(self, pattern: str) -> None:
        """Problems that match ``pattern`` are part of this test."""
        self._allowed.append(re.compile(pattern))

    def left(self) -> list[str]:
        """What nobody allowed, since this was asked."""
        seen, self.problems = self.problems, []
        return [
            problem
            for problem in seen
            if problem.startswith("left the site")
            or not any(known.search(problem) for known in self._allowed)
        ]

    def _console(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.problems.append(f"console: {message.text} ({message.location.get('url', '')})")

    def _request(self, request: Request) -> None:
        there = urlsplit(request.url)
        if there.scheme not in ("data", "blob", "about") and there.netloc != self._site:
            self.problems.append(f"left the site: {request.url}")

    def _failed(self, request: Request) -> None:
        if request.failure != "net::ERR_ABORTED":  # a page that is left takes its streams with it
            self.problems.append(f"request: {request.method} {request.url}: {request.failure}")


def a_context(
    browser: Browser, url: str, *, theme: str = "light", width: int = 1440, **options: Any
) -> BrowserContext:
    """A person's browser at the site ``url``: nobody is signed in yet. ``options`` are Playwright's."""
    context = browser.new_context(
        base_url=url,
        viewport={"width": width, "height": HEIGHTS.get(width, 900)},
        color_scheme=theme,
        reduced_motion="reduce",
        locale="en-GB",
        timezone_id="Europe/Berlin",
        **options,
    )
    context.set_default_timeout(PATIENCE)
    context.set_default_navigation_timeout(2 * PATIENCE)
    return context


def a_page(context: BrowserContext) -> Page:
    """A page of ``context``, at the end of a long line if ``CHIEF_TEST_LATENCY`` says so: scripts come late then."""
    page = context.new_page()
    if LATENCY:
        line = context.new_cdp_session(page)
        line.send("Network.enable")
        line.send("Network.setCacheDisabled", {"cacheDisabled": True})
        line.send(
            "Network.emulateNetworkConditions",
            {"offline": False, "latency": LATENCY, "downloadThroughput": -1, "uploadThroughput": -1},
        )
    return page


def press(page: Page, *keys: str) -> None:
    """Press one key after the other, once the page's scripts are there to hear them: after a page was left by a click
    or a key, wait first for something that only the next one says.
    """
    page.wait_for_load_state()
    for key in keys:
        page.keyboard.press(key)


def sign_in(page: Page, link: str) -> None:
    """Follow a sign-in link as a person does."""
    page.goto(link)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url(lambda there: "/signin" not in there)
