"""What a plan's page costs in Chromium, from a server of its own. Used by ``bench/graph.py --browser``."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from statistics import median
from typing import Any

from bench.tables import table
from tests.browser.browsers import CHROMIUM, WHERE_FROM, a_browser, a_context, sign_in
from tests.browser.sites import Site
from tests.servers import a_server
from workflows.domain.diff import step_document
from workflows.domain.plan import Plan

# Blocks of the main thread that are longer than 50 ms, from the page's first moment on.
_WATCH = """
window.blocks = [];
new PerformanceObserver((list) => window.blocks.push(...list.getEntries().map((each) => each.duration)))
  .observe({ type: "longtask", buffered: true });
"""
_TOLD = """() => new Promise((tell) => setTimeout(() => {
  const [page] = performance.getEntriesByType("navigation");
  tell({ bytes: page.decodedBodySize, answered: page.responseEnd, interactive: page.domContentLoadedEventEnd,
         longest: Math.max(0, ...window.blocks) });
}, 400))"""
_SELECT = """() => new Promise((tell) => {
  window.blocks.length = 0;
  const boxes = [...document.querySelectorAll("svg.graph a.node:not([data-fold])")];
  const box = boxes[Math.floor(boxes.length / 2)];
  if (!box) { tell(null); return; }
  const begin = performance.now();
  document.addEventListener("chief:selected", () => tell({ shown: performance.now() - begin, longest: Math.max(0, ...window.blocks) }), { once: true });
  box.dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true, button: 0 }));
})"""


def measure(plans: Iterable[tuple[str, Plan]], rounds: int) -> None:
    """Submit each plan, open its page ``rounds`` times, and select a step in the middle."""
    if CHROMIUM is None:
        print(WHERE_FROM)
        return
    rows = []
    with tempfile.TemporaryDirectory(prefix="chief-bench-") as folder, a_server(Path(folder)) as server:
        server.start()
        with closing(Site(server)) as site, a_browser() as browser:
            context = a_context(browser, site.url)
            context.add_init_script(_WATCH)
            page = context.new_page()
            sign_in(page, site.link("owner"))
            for name, plan in plans:
                workflow_id = site.harness.plan(name, [_sent(step) for step in plan.steps])
                told: list[dict[str, Any]] = []
                for _ in range(rounds):
                    page.goto(f"/workflows/{workflow_id}")
                    told.append(page.evaluate(_TOLD))
                chosen = page.evaluate(_SELECT)
                rows.append(
                    [
                        name,
                        f"{told[0]['bytes'] / 1000:.0f} kB",
                        f"{told[0]['answered']:.0f} ms",
                        f"{median(each['interactive'] for each in told):.0f} ms",
                        f"{max(each['interactive'] for each in told):.0f} ms",
                        _block(median(each["longest"] for each in told)),
                        _block(max(each["longest"] for each in told)),
                        f"{chosen['shown']:.0f} ms" if chosen else "all folded",
                        _block(chosen["longest"]) if chosen else "",
                    ]
                )
    columns = (
        "page", "HTML", "first answer", "interactive", "slowest", "longest block", "worst visit", "step shown", "its longest block",
    )  # fmt: skip
    table(
        "In Chromium (aims: HTML at most 1 MB, interactive at most 2 s, no block over 300 ms)", columns, rows
    )


def _block(milliseconds: float) -> str:
    return f"{milliseconds:.0f} ms" if milliseconds else "under 50 ms"


def _sent(step: Any) -> dict[str, Any]:
    """A step as a harness sends it: what is unset is left out."""
    return {key: value for key, value in step_document(step).items() if value not in (None, [], {}, "")} | {
        "harness": step.harness or "bench"
    }
