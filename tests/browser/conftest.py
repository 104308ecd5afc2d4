"""People in real browsers, before a real server; a harness that works through REST beside them.

``site`` is a Chief of its own for each test process, ``demo_site`` one that the demo has filled. ``page_of(…)`` is a
signed-in person's page, ``harness`` the token of ``site``. After each test nothing may have gone wrong in a page, and
nothing may have left the site.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page

from tests.browser.browsers import CHROMIUM, WHERE_FROM, Watch, a_browser, a_context, a_page, sign_in
from tests.browser.places import Places
from tests.browser.sites import Harness, Site
from tests.servers import a_server

PageOf = Callable[..., Page]
HERE = Path(__file__).parent
# Hundreds of tests drive a browser, a server and a network by the clock of a busy machine. In CI, and only there, one
# that fails is tried once more, and the summary names it (RERUN): it is to be mended, but holds nobody up.
AGAIN = pytest.mark.flaky(reruns=1)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.browser)
            if os.environ.get("CI"):
                item.add_marker(AGAIN)


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A new Chief with ``owner``, ``reviewer`` and ``viewer``."""
    with a_server(tmp_path_factory.mktemp("site")) as server:
        server.start()
        with closing(Site(server)) as site:
            yield site


@pytest.fixture(scope="session")
def demo_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A Chief that the demo has filled. For reading: tests share it."""
    with a_server(tmp_path_factory.mktemp("demo")) as server:
        server.manage("demo")
        server.start()
        with closing(Site(server)) as site:
            yield site


@pytest.fixture(scope="session")
def places(demo_site: Site) -> Places:
    """Where the pages of ``demo_site`` are."""
    return Places(demo_site)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One Chromium a module: while it runs, Django takes this thread for an asynchronous one."""
    if CHROMIUM is None:
        pytest.skip(WHERE_FROM)
    with a_browser() as browser:
        yield browser


class Contexts:
    """The browsers of a test's people."""

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self._opened: list[tuple[BrowserContext, Watch]] = []
        self._kept: dict[Any, Page] = {}

    def page(self, site: Site, username: str | None = "owner", **options: Any) -> Page:
        """A new context's page; ``options`` are those of ``a_context``. Nobody is signed in with username None."""
        context = a_context(self._browser, site.url, **options)
        if username is not None:
            if username not in site.cookies:
                site.cookies[username] = self._cookies(site, username)
            context.add_cookies(site.cookies[username])
        self._opened.append((context, Watch(context, site.url)))
        return a_page(context)

    def kept(self, site: Site, **options: Any) -> Page:
        """The same page for the same ``options``: its browser has the site's files already."""
        key = (site, *sorted(options.items()))
        if key not in self._kept:
            self._kept[key] = self.page(site, **options)
        return self._kept[key]

    def watch(self, page: Page) -> Watch:
        """What goes wrong in a page's context."""
        return next(watch for context, watch in self._opened if context is page.context)

    def problems(self) -> list[str]:
        """What went wrong since this was asked."""
        return [problem for _, watch in self._opened for problem in watch.left()]

    def close(self) -> None:
        """Close them all."""
        for context, _ in self._opened:
            context.close()

    def _cookies(self, site: Site, username: str) -> Any:
        context = a_context(self._browser, site.url)
        try:
            sign_in(context.new_page(), site.link(username))
            return context.cookies()
        finally:
            context.close()


@pytest.fixture
def contexts(browser: Browser) -> Iterator[Contexts]:
    """All browsers of this test; when it is over, none of their pages may have had a problem."""
    contexts = Contexts(browser)
    yield contexts
    contexts.close()
    assert contexts.problems() == []


@pytest.fixture(scope="module")
def _reading(browser: Browser) -> Iterator[Contexts]:
    contexts = Contexts(browser)
    yield contexts
    contexts.close()


@pytest.fixture
def page_of(contexts: Contexts, site: Site) -> PageOf:
    """``page_of("reviewer", theme="dark", width=360)``: a page of ``site``."""
    return lambda username="owner", **options: contexts.page(site, username, **options)


@pytest.fixture
def demo_page_of(contexts: Contexts, demo_site: Site) -> PageOf:
    """The same on ``demo_site``."""
    return lambda username="owner", **options: contexts.page(demo_site, username, **options)


@pytest.fixture
def reading(_reading: Contexts, demo_site: Site) -> Iterator[PageOf]:
    """``reading(**options)``: a page of ``demo_site`` that the tests of a module read with, one after the other."""
    yield lambda **options: _reading.kept(demo_site, **options)
    assert _reading.problems() == []


@pytest.fixture
def allow(contexts: Contexts) -> Callable[[Page, str], None]:
    """``allow(page, pattern)``: such problems are part of this test."""
    return lambda page, pattern: contexts.watch(page).allow(pattern)


@pytest.fixture
def harness(site: Site) -> Iterator[Harness]:
    """The harness's token of ``site``. What still waits for a person after a test is out of the next one's list."""
    yield site.harness
    site.put_away()


@pytest.fixture(scope="session")
def person(site: Site) -> Harness:
    """``owner`` over REST, for what a test arranges in a person's name."""
    return site.person("owner")
