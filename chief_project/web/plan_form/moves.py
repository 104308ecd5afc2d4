"""What the form's buttons make of a document: a step more or less, elsewhere, in a body; rows more or less.

``place`` is that of the open step; None stands for the plan itself.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from chief_project.web.plan_form.document import (
    CONSTRUCTS,
    Document,
    Step,
    first_places,
    holders,
    ids_in,
    text_of,
    waiting_for,
)
from chief_project.web.plan_form.rows import OBJECTS, rows_of, settled
from chief_project.web.plan_form.texts import COLUMNS, ID_LISTS, is_entry

_NUMBERED = re.compile(r"(.*?)([0-9]{1,9})", re.DOTALL)


def put_inside(document: Document, place: int, construct: str | None) -> Document:
    """The step moved to the end of a construct's body, or to the top level (None)."""
    steps = list(document["steps"])
    first = first_places(steps)
    name = steps[place].get("id")
    was = holders(steps, first).get(place)
    into = first.get(construct) if construct is not None else None
    if was == into or not is_entry(name) or (construct is not None and into is None) or into == place:
        return document
    if was is not None:
        steps[was] = steps[was] | {"body": [each for each in steps[was]["body"] if each != name]}
    if into is not None:
        steps[into] = steps[into] | {"body": [*ids_in(steps[into], "body"), name]}
    return document | {"steps": steps}


def add_step(document: Document, place: int | None, *, above: bool = False) -> tuple[Document, int]:
    """A blank task above or below a step, in the same body; at the end without one. Also its place."""
    steps = list(document.get("steps", []))
    near = steps[place] if place is not None else steps[-1] if steps else {}
    made: Step = {"id": _free_id(steps, text_of(near.get("id"))), "type": "task", "goal": ""}
    if near.get("type") == "task" and near.get("harness"):
        made["harness"] = near["harness"]
    if place is None:
        return document | {"steps": [*steps, made]}, len(steps)
    held = holders(steps, first_places(steps)).get(place)
    if held is not None:
        body = ids_in(steps[held], "body")
        body.insert(body.index(near["id"]) + (not above), made["id"])
        steps[held] = steps[held] | {"body": body}
    at = place + (not above)
    steps.insert(at, made)
    return document | {"steps": steps}, at


@dataclass(frozen=True, slots=True)
class Removal:
    """What went with a step: the steps that waited for it and now wait for what it waited for, and its former body."""

    id: str
    rewired: tuple[str, ...] = ()
    freed: tuple[str, ...] = ()


def remove_step(document: Document, place: int) -> tuple[Document, Removal]:
    """The document without the step. The order of the rest stays: what waited for it waits for what it waited for."""
    steps = list(document["steps"])
    gone = steps.pop(place)
    name = text_of(gone.get("id"))
    if not is_entry(name) or any(step.get("id") == name for step in steps):
        return document | {"steps": steps}, Removal(name)
    freed = ids_in(gone, "body") if gone.get("type") in CONSTRUCTS else []
    before = [each for each in ids_in(gone, "depends_on") if each != name]
    rewired = tuple(waiting_for(steps, name))
    steps = [
        with_instead(with_instead(step, name, before, lists=["depends_on"]), name, freed, lists=["body"])
        for step in steps
    ]
    return document | {"steps": steps}, Removal(name, rewired, tuple(freed))


def move_step(document: Document, place: int, *, up: bool) -> tuple[Document, int]:
    """The step one place up or down among those of its body, or of the top level. Also its place afterwards."""
    steps = list(document["steps"])
    held = holders(steps, first_places(steps))
    by = -1 if up else 1
    if place in held:
        body = ids_in(steps[held[place]], "body")
        at = body.index(steps[place]["id"])
        if 0 <= at + by < len(body):
            body[at], body[at + by] = body[at + by], body[at]
            steps[held[place]] = steps[held[place]] | {"body": body}
        return document | {"steps": steps}, place
    top = [each for each in range(len(steps)) if each not in held]
    at = top.index(place)
    if not 0 <= at + by < len(top):
        return document, place
    other = top[at + by]
    steps[place], steps[other] = steps[other], steps[place]
    return document | {"steps": steps}, other


def add_row(document: Document, place: int | None, name: str) -> Document:
    """A blank row more in a list of the open step, or among the plan's groups."""
    columns = COLUMNS[name]
    blank: Any = {columns[0]: ""} if columns else ""
    if name in OBJECTS:
        blank = {"name": "", "kind": "text", "value": ""}
    return _with_rows(document, place, name, lambda rows: [*rows, blank])


def drop_row(document: Document, place: int | None, name: str, at: int) -> Document:
    """A row less."""
    return _with_rows(document, place, name, lambda rows: [*rows[:at], *rows[at + 1 :]])


def clear(document: Document, place: int, name: str) -> Document:
    """The open step without one of its parts."""
    steps = list(document["steps"])
    steps[place] = {key: value for key, value in steps[place].items() if key != name}
    return document | {"steps": steps}


def with_instead(step: Step, name: str, by: Sequence[str], *, lists: Sequence[str] = ID_LISTS) -> Step:
    """The step with ``by`` wherever its dependencies or body name ``name``."""
    for key in lists:
        listed = step.get(key)
        if isinstance(listed, list) and name in listed:
            at = listed.index(name)
            instead = [each for each in by if each not in listed and each != step.get("id")]
            step = step | {key: [*listed[:at], *instead, *listed[at + 1 :]]}
    return step


def _with_rows(
    document: Document, place: int | None, name: str, change: Callable[[list[Any]], list[Any]]
) -> Document:
    holder = document if place is None else document["steps"][place]
    rows = rows_of(holder.get(name, {})) if name in OBJECTS else holder.get(name, [])
    if name not in COLUMNS or not isinstance(rows, list):
        return document
    kept = change(rows)
    changed = holder | {name: settled(kept) if name in OBJECTS else kept}
    if place is None:
        return changed
    steps = list(document["steps"])
    steps[place] = changed
    return document | {"steps": steps}


def _free_id(steps: Sequence[Step], near: str) -> str:
    """A new id that goes on counting as its neighbour does."""
    numbered = _NUMBERED.fullmatch(near)
    stem, width = (numbered[1], len(numbered[2])) if numbered else ("step_", 2)
    used = {name for step in steps if isinstance(name := step.get("id"), str)}
    taken = [int(found[2]) for name in used if (found := _NUMBERED.fullmatch(name)) and found[1] == stem]
    count = 1 + max(taken, default=0)
    while (made := f"{stem}{count:0{width}}") in used:
        count += 1
    return made
