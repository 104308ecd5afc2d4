"""Shoot every page, filled by the demo, in both themes and three widths.

    .venv/bin/python -m tests.browser.screenshots [NAME ...]     → var/screenshots/<page>-<width>-<theme>.png

NAME: only the pages whose names contain it. Dialogs and open menus are shot beside their pages, what an empty
database shows as `empty-…`, and what is refused as `refused-…`.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from functools import partial
from pathlib import Path

import django
from playwright.sync_api import Browser, Page

from tests.browser.browsers import CHROMIUM, HEIGHTS, WHERE_FROM, Watch, a_browser, a_context, press, sign_in
from tests.browser.places import Places, names
from tests.browser.sites import Site
from tests.plans import task
from tests.servers import ROOT, a_server

THEMES = ("light", "dark")
EMPTY = ("/", "/workflows", "/templates", "/projects", "/policies", "/audit", "/tokens")
# The bar at the bottom of a phone would stand across the middle of a picture that is longer than the phone.
HIDE_BAR = """hidden => { const bar = document.querySelector(".rail nav");
    if (bar && getComputedStyle(bar).position === "fixed") bar.style.visibility = hidden ? "hidden" : ""; }"""
EXPECTED = re.compile(r"status of (401|404|409|412)")


class Camera:
    """Shoots what a page shows, in each theme, into files that say what they show."""

    def __init__(self, out: Path, widths: list[int]) -> None:
        self.out, self.widths = out, widths
        self.shots = 0
        self.problems: list[str] = []

    def shoot(self, page: Page, name: str, width: int, *, whole: bool = True) -> None:
        page.evaluate(HIDE_BAR, whole)
        for theme in THEMES:
            page.emulate_media(color_scheme=theme, reduced_motion="reduce")
            page.screenshot(
                path=self.out / f"{name}-{width}-{theme}.png",
                full_page=whole,
                animations="disabled",
                caret="hide",
            )
            self.shots += 1
        page.evaluate(HIDE_BAR, False)
        wide = page.evaluate("document.documentElement.scrollWidth")
        if whole and wide > width:
            self.problems.append(f"{name} at {width}: scrolls sideways ({wide} px)")

    def visit(self, page: Page, name: str, path: str, then: Callable[[Page], object] | None = None) -> None:
        """Shoot the page at ``path``, its dialogs and its menus, or what is there after ``then``."""
        for width in self.widths:
            page.set_viewport_size({"width": width, "height": HEIGHTS[width]})
            answer = page.goto(path)
            if answer is not None and answer.status >= 500:
                self.problems.append(f"{name}: answered {answer.status}")
            if then is not None:
                then(page)
            page.evaluate("document.fonts.ready")
            self.shoot(page, name, width)
            if then is None:
                self._open_what_opens(page, name, width)

    def _open_what_opens(self, page: Page, name: str, width: int) -> None:
        for number, dialog in enumerate(page.locator("main dialog").all()):
            label = dialog.get_attribute("id") or str(number)
            dialog.evaluate("dialog => dialog.showModal()")
            self.shoot(page, f"{name}--{label}", width, whole=False)
            dialog.evaluate("dialog => dialog.close()")
        menus = page.locator("main details.menu")
        for number in range(menus.count()):
            menu = menus.nth(number)
            if menu.is_visible():
                menu.evaluate("menu => { menu.open = true; menu.scrollIntoView({block: 'center'}) }")
                self.shoot(page, f"{name}--menu-{number}", width, whole=False)
                menu.evaluate("menu => { menu.open = false }")


def pages(camera: Camera, browser: Browser, only: list[str]) -> None:
    """Everything, in an order that needs no sign-in again."""

    def wanted(*there: str) -> Iterator[str]:
        return (name for name in there if not only or any(part in name for part in only))

    with ExitStack() as stack:
        served = []
        for name in ("demo", "empty"):
            directory = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix=f"chief-{name}-")))
            server = stack.enter_context(a_server(directory))
            if name == "demo":
                server.manage("demo")
            server.start()
            served.append(stack.enter_context(closing(Site(server))))
        demo, empty = served
        context = a_context(browser, demo.url)
        watch = Watch(context, demo.url)
        page = context.new_page()
        link = demo.link("owner")
        for name in wanted("sign-in"):
            camera.visit(page, name, "/signin")
        for name in wanted("sign-in-link"):
            camera.visit(page, name, link)
        sign_in(page, link)
        places = Places(demo)
        for name in wanted(*names()):
            sys.stdout.write(f"{name}\n")
            camera.visit(page, name.replace(":", "-"), places.path(name))
        for name in wanted("refused-not-found"):
            camera.visit(page, name, "/workflows/wf_nobody")
        acts: dict[str, Callable[[Page], object]] = {
            "keys-dialog": lambda there: press(there, "?"),
            "refused-moved-on": partial(_moved_on, demo),
            "refused-decided": partial(_decided, demo),
            "tokens-made": _made_a_token,
            "run-timeline-zoomed": partial(_zoomed, places.path("run-timeline:replayed")),
            "audit-checked": lambda there: there.goto("/audit?check=1#chain"),
        }
        for name in wanted(*acts):
            camera.visit(page, name, "/", acts[name])
        page.context.clear_cookies()
        for name in wanted("refused-sign-in"):
            camera.visit(page, name, "/signin", _wrong_password)
        camera.problems += [problem for problem in watch.left() if not EXPECTED.search(problem)]
        context.close()
        context = a_context(browser, empty.url)
        page = context.new_page()
        sign_in(page, empty.link("owner"))
        for path in EMPTY:
            for name in wanted(f"empty-{path.strip('/') or 'needs-you'}"):
                camera.visit(page, name, path)


def _wrong_password(page: Page) -> None:
    page.get_by_label("Name").fill("owner")
    page.get_by_label("Password").fill("not the one")
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_load_state()


def _moved_on(site: Site, page: Page) -> None:
    """Approve a revision that isn't the newest any more."""
    steps = [task("find", goal="Find out who still calls the old address"), task("tell", depends_on=["find"])]
    workflow_id = site.harness.plan("Retire the old address", steps, project="platform")
    page.goto(f"/workflows/{workflow_id}")
    steps[0]["goal"] = "Find out who still calls the old address, and how often"
    site.harness.put(f"/workflows/{workflow_id}", {"title": "Retire the old address", "steps": steps})
    page.get_by_role("button", name="Approve revision 1").click()
    page.get_by_role("alert").wait_for()


def _decided(site: Site, page: Page) -> None:
    """Send a plan back that was approved meanwhile."""
    workflow_id = site.harness.plan(
        "Retire the old address", [task("find"), task("tell")], project="platform"
    )
    page.goto(f"/workflows/{workflow_id}")
    site.person("reviewer").post(f"/workflows/{workflow_id}/approve", {"decided_by": "reviewer"})
    page.get_by_text("Add a reason").click()
    page.locator("#reason").fill("First say who is told.")
    page.get_by_role("button", name="Send back").click()
    page.get_by_role("alert").wait_for()


def _made_a_token(page: Page) -> None:
    page.goto("/tokens")
    page.get_by_label("Name").fill(f"laptop {(page.viewport_size or {}).get('width')}")
    page.get_by_role("button", name="Make token").click()
    page.get_by_text("shown").first.wait_for()


def _zoomed(path: str, page: Page) -> None:
    """A part of a timeline, with what goes on outside it."""
    page.goto(path)
    page.locator('[data-row^="rounds/"] a.tl-dur').nth(3).click()
    page.get_by_role("link", name="Earlier").click()
    page.locator(".tl-torn").first.wait_for(state="attached")


def main() -> None:
    parser = argparse.ArgumentParser(description="Shoot every page in both themes and three widths.")
    parser.add_argument("only", nargs="*", metavar="NAME", help="only pages whose names contain this")
    parser.add_argument("--out", type=Path, default=ROOT / "var" / "screenshots")
    parser.add_argument("--widths", type=int, nargs="+", default=list(HEIGHTS), choices=list(HEIGHTS))
    given = parser.parse_args()
    if CHROMIUM is None:
        sys.exit(WHERE_FROM)
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
    django.setup()
    given.out.mkdir(parents=True, exist_ok=True)
    camera = Camera(given.out, given.widths)
    with a_browser() as browser:
        pages(camera, browser, given.only)
    sys.stdout.write(f"{camera.shots} pictures in {given.out}\n")
    if camera.problems:
        sys.exit("\n".join(camera.problems))


if __name__ == "__main__":
    main()
