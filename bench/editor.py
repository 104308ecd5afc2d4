"""Print what the plan editor costs at 50, 500 and 5,000 steps: ``python bench/editor.py [--database-url postgres://…]``.

Requests go through Django's test client in this process, as a signed-in person: no socket and no browser.
``README.md`` beside this file says how to read the table.
"""

import argparse
import os
import platform
import re
import sys
from collections.abc import Callable
from html import unescape
from pathlib import Path
from time import perf_counter, thread_time
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import django
from django.core.management import call_command

from bench.place import place
from bench.tables import milliseconds, table

SIZES = (50, 500, 5_000)
# A field as Chief's templates write it; a box of one line, one of several, or a choice.
_FIELD = re.compile(
    r'<input[^>]* name="(?P<line>[^"]*)" value="(?P<text>[^"]*)"'
    r'|<textarea[^>]* name="(?P<area>[^"]*)"[^>]*>\n?(?P<written>[^<]*)</textarea>'
    r'|<select[^>]* name="(?P<choice>[^"]*)"[^>]*>(?P<options>.*?)</select>',
    re.DOTALL,
)
_CHOSEN = re.compile(r'<option value="([^"]*)" selected')


def steps_of(count: int) -> list[dict[str, Any]]:
    """A plan as a harness writes one: a goal, criteria and inputs on every step, each waiting for one before it."""
    return [
        {
            "id": f"s{at:04}",
            "type": "task",
            "goal": f"Align the reads of sample {at} to the reference, and keep what maps twice",
            "harness": "claude-code",
            "criteria": ["the file is there", "no read is lost"],
            "inputs": {"sample": f"NA{at:05}", "threads": 8, "reference": "GRCh38"},
            "depends_on": [f"s{at - 1:04}"] if at % 10 else [],
        }
        for at in range(count)
    ]


def sent_back(html: str) -> dict[str, str]:
    """What a browser would send of the editor's form."""
    form = html[html.index('id="editor"') :]
    data = {}
    for found in _FIELD.finditer(form):
        if (name := found["line"]) is not None:
            data[name] = unescape(found["text"])
        elif (name := found["area"]) is not None:
            data[name] = unescape(found["written"])
        elif chosen := _CHOSEN.search(found["options"]):
            data[found["choice"]] = unescape(chosen[1])
        else:
            data[found["choice"]] = ""
    data.pop("json", None)
    return data


def measure(rounds: int) -> None:
    """Every thing a person does, on a plan of each size."""
    from django.contrib.auth import get_user_model  # noqa: PLC0415 - Django must be set up first
    from django.test import Client  # noqa: PLC0415

    from bench.database import count  # noqa: PLC0415
    from chief_project.bootstrap import CLI  # noqa: PLC0415
    from chief_project.shared.caller import Role  # noqa: PLC0415
    from chief_project.shared.services.create_user import create_user  # noqa: PLC0415
    from workflows.documents import WorkflowCreate  # noqa: PLC0415
    from workflows.services.create_workflow import create_workflow  # noqa: PLC0415

    create_user(caller=CLI, username="bench", role=Role.REVIEWER)
    web = Client(headers={"host": "127.0.0.1:8000"})
    web.force_login(
        get_user_model().objects.get(username="bench"), "django.contrib.auth.backends.ModelBackend"
    )
    rows = []
    for size in SIZES:
        body = WorkflowCreate(title="A plan", source="generated", steps=steps_of(size))
        made = create_workflow(caller=CLI, title="A plan", source="generated", plan=body.plan())
        url = f"/workflows/{made['workflow_id']}/edit"
        middle = f"s{size // 2:04}"
        sheet = sent_back(web.get(url, {"step": middle}).text)
        upload = sum(len(name) + len(text.encode()) for name, text in sheet.items())

        def press(
            do: str,
            part: str,
            sheet: dict[str, str] = sheet,
            url: str = url,
            **typed: str,
        ) -> Any:
            htmx = {"HX-Request": "true", "HX-Target": part}
            return web.post(url, sheet | {"do": do} | typed, headers=htmx)

        acts: dict[str, Callable[[], Any]] = {
            "open the plan": lambda url=url: web.get(url),
            "open a step": lambda url=url, middle=middle: web.get(url, {"step": middle}),
            "select another": lambda press=press, size=size: press(f"open:{size // 2 + 1}", "editor"),
            "type (the check)": lambda press=press: press("check", "problems", **{"s.goal": "Typed"}),
            "add a step": lambda press=press: press("add-step:below", "editor"),
        }
        for name, act in acts.items():
            answer = act()
            assert answer.status_code == 200, answer
            statements = count(act)
            took, busy = [], []
            for _ in range(rounds):
                begin, begin_busy = perf_counter(), thread_time()
                act()
                took.append(perf_counter() - begin)
                busy.append(thread_time() - begin_busy)
            rows.append(
                [
                    f"{size:,}",
                    name,
                    milliseconds(took),
                    milliseconds(busy),
                    str(statements),
                    f"{len(answer.content) / 1000:,.0f} kB",
                    "" if name.startswith("open") else f"{upload / 1000:,.0f} kB",
                ]
            )
        begin, begin_busy = perf_counter(), thread_time()
        answer = press("save", "editor", **{"s.goal": "Written anew"})
        took, busy = [perf_counter() - begin], [thread_time() - begin_busy]
        assert answer.status_code == 204, answer.text
        rows.append(
            [
                f"{size:,}",
                "save",
                milliseconds(took),
                milliseconds(busy),
                "",
                "",
                f"{upload / 1000:,.0f} kB",
            ]
        )
    columns = ("steps", "what", "answered in", "busy", "statements", "HTML", "sent")
    table("The plan editor (aims at 5,000 steps: well under a second, HTML at most 1 MB)", columns, rows)


def main() -> None:
    """Make a database, measure, drop it."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--database-url", default=os.environ.get("DATABASE_URL"))
    arguments.add_argument("--rounds", type=int, default=5, help="samples of each but saving (default 5)")
    chosen = arguments.parse_args()
    with place(chosen.database_url):
        django.setup()
        call_command("migrate", verbosity=0)
        from bench import database  # noqa: PLC0415 - Django must be set up first

        load = os.getloadavg()[0]
        print(
            f"The plan editor on {database.name()}, Python {platform.python_version()}, {os.cpu_count()} cores,"
            f" load {load:.1f}."
        )
        measure(chosen.rounds)
        print(f"\n{chosen.rounds} samples each, one of saving; load at the end {os.getloadavg()[0]:.1f}.")
        database.close()


if __name__ == "__main__":
    main()
