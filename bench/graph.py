"""Print what drawing a plan costs: ``python bench/graph.py [--inputs ../shared/inputs] [--rounds 20] [--browser]``.

Real plans from a folder of ``*.plan.json`` (left out where it is absent), and two of its own making. The first table
needs no database and no server: the time from a plan's value to its SVG. With ``--browser`` a second one tells what
the page costs in Chromium. ``README.md`` beside this file says how to read them.
"""

import argparse
import json
import os
import platform
import random
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from time import perf_counter

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")

import django

from bench.tables import milliseconds, table
from workflows.domain.plan import Plan, Step

ROOT = Path(__file__).resolve().parent.parent


def read(path: Path) -> Plan:
    """A plan as a harness sent it."""
    return Plan(
        tuple(
            Step(each["id"], each["type"], each["goal"], depends_on=tuple(each.get("depends_on", ())))
            for each in json.loads(path.read_text())["steps"]
        )
    )


def chain(count: int) -> Plan:
    """One step after the other."""
    steps = (
        Step(f"s{n}", "task", f"Do part {n}", depends_on=(f"s{n - 1}",) if n else ()) for n in range(count)
    )
    return Plan(tuple(steps))


def tangle(count: int, edges: int) -> Plan:
    """Random dependencies between steps whose goals begin in one of a dozen ways."""
    pick = random.Random(1)
    waits: list[set[int]] = [set() for _ in range(count)]
    while sum(map(len, waits)) < edges:
        tail, head = sorted(pick.sample(range(count), 2))
        waits[head].add(tail)
    verbs = (
        "Read",
        "Write",
        "Check",
        "Plot",
        "Align",
        "Sort",
        "Merge",
        "Train",
        "Fit",
        "Copy",
        "Move",
        "Count",
    )
    return Plan(
        tuple(
            Step(
                f"s{n}",
                "task",
                f"{pick.choice(verbs)} part {n}",
                depends_on=tuple(f"s{each}" for each in sorted(found)),
            )
            for n, found in enumerate(waits)
        )
    )


def subjects(inputs: Path) -> Iterator[tuple[str, Plan]]:
    """What is drawn, by name."""
    for path in sorted(inputs.glob("*.plan.json")):
        yield path.name.removesuffix(".plan.json"), read(path)
    yield "a chain of 500", chain(500)
    yield "2,000 steps, 6,000 edges", tangle(2000, 6000)


def main() -> None:
    """Draw each cold, then again."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--inputs", type=Path, default=ROOT.parent / "shared" / "inputs")
    arguments.add_argument("--rounds", type=int, default=20, help="samples of each (default 20)")
    arguments.add_argument("--browser", action="store_true", help="measure the pages in Chromium as well")
    chosen = arguments.parse_args()
    django.setup()
    from chief_project.web.graph import draw, draw_plan, draw_run  # noqa: PLC0415 - Django must be set up first
    from chief_project.web.graph.layout import answers  # noqa: PLC0415
    from chief_project.web.graph.scene import _arranged  # noqa: PLC0415

    load = os.getloadavg()[0]
    print(f"Drawing plans, Python {platform.python_version()}, {os.cpu_count()} cores, load {load:.1f}.")
    rows = []
    for name, plan in subjects(chosen.inputs):
        cold, again, live = [], [], []
        states = {
            step.id: {
                "status": "completed" if place % 3 else "running",
                "instances": None,
                "metadata": {"n": 1},
            }
            for place, step in enumerate(plan.steps)
        }
        for _ in range(chosen.rounds):
            answers.clear()
            draw.forget()
            _arranged.cache_clear()
            fresh = Plan(plan.steps)  # without the views that a plan keeps
            begin = perf_counter()
            drawing = draw_plan(fresh, key=name, href="?step={}".format, open_href="?open={}".format)
            cold.append(perf_counter() - begin)
            begin = perf_counter()
            draw_plan(fresh, key=name, href="?step={}".format, open_href="?open={}".format)
            again.append(perf_counter() - begin)
            run = partial(draw_run, key=name, href="?step={}".format, open_href="?open={}".format, yours=True)
            run(fresh, {"step_states": states})
            begin = perf_counter()
            run(fresh, {"step_states": states})
            live.append(perf_counter() - begin)
        rows.append(
            [
                name,
                f"{len(plan.steps):,}",
                f"{sum(len(step.depends_on) for step in plan.steps):,}",
                str(drawing.boxes),
                milliseconds(cold),
                milliseconds(again),
                milliseconds(live),
                f"{len(drawing.svg or '') / 1000:.0f} kB",
                f"{drawing.width} × {drawing.height}",
            ]
        )
    columns = ("plan", "steps", "edges", "boxes", "cold", "again", "a run, again", "SVG", "pixels")
    table("From a plan to its picture (aims: cold at most 1 s, again at most 20 ms)", columns, rows)
    if chosen.browser:
        from bench.graph_pages import measure  # noqa: PLC0415 - not everybody has a browser

        measure(subjects(chosen.inputs), min(5, chosen.rounds))
    print(f"\n{chosen.rounds} samples each; load at the end {os.getloadavg()[0]:.1f}.")


if __name__ == "__main__":
    main()
