"""What was sent, laid over the document: a field that wasn't touched keeps its exact value.

``data`` holds fields by name, as a browser sends them; a field that isn't there wasn't shown.
"""

import re
from collections.abc import Mapping
from typing import Any

from chief_project.shared.errors import ValidationFailed
from chief_project.web.plan_form.document import CONSTRUCTS, Document, Step, read_json, same, text_of
from chief_project.web.plan_form.moves import put_inside, with_instead
from chief_project.web.plan_form.rows import OBJECTS, ROWS, rows_of, settled
from chief_project.web.plan_form.texts import (
    COLUMNS,
    ID_LISTS,
    NEVER_NULL,
    PLAN_TEXTS,
    TEXTS,
    cells_of,
    id_list,
    is_entry,
    object_text,
)


def read_step(document: Document, place: int, data: Mapping[str, str]) -> Document:
    """The document with the open step as the form has it. A new id is followed wherever the old one was named."""
    steps = list(document["steps"])
    old = steps[place]
    new = dict(old)
    for name in TEXTS:
        if (given := data.get(f"s.{name}")) is not None:
            _put(new, name, _typed(old.get(name), given, name))
    for name in OBJECTS:
        _put(new, name, _typed_object(old.get(name, {}), f"s.{name}", data))
    for name in ID_LISTS:
        _put(new, name, _typed_ids(old.get(name), name, data))
    for name in ROWS:
        _put(new, name, _typed_rows(old.get(name, []), f"s.{name}", data))
    if new.get("type") != old.get("type"):
        _turn(new)
    steps[place] = new
    document = _renamed(document | {"steps": steps}, old.get("id"), new.get("id"), place)
    inside = data.get("s.inside")
    return document if inside is None else put_inside(document, place, inside or None)


def read_plan(document: Document, data: Mapping[str, str]) -> Document:
    """The document with title and groups (project and directory too) as the form has them."""
    new = dict(document)
    for name in PLAN_TEXTS:
        if (given := data.get(f"p.{name}")) is not None:
            _put(new, name, _typed(document.get(name), given, name))
    groups = _typed_rows(document.get("groups", []), "p.groups", data)
    return new | {"groups": [] if groups is None else groups}


def _put(step: Step, name: str, value: Any) -> None:
    """Set, or take out what says nothing; what was said so before stays."""
    if name in step and same(step[name], value):
        return
    if value is None or value in ({}, []):
        step.pop(name, None)
    else:
        step[name] = value


def _typed(old: Any, given: str, name: str) -> Any:
    """``old`` where the field shows it still; else what was written."""
    if _as_sent(text_of(old)) == _as_sent(given):
        return old
    text = given.replace("\r\n", "\n")
    if name == "id":
        text = text.strip()
    return text if text or name in NEVER_NULL else None


def _as_sent(text: str) -> str:
    """As browsers send it back: they make all line ends alike."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _typed_json(old: Any, given: str, nothing: Any) -> Any:
    """The same for JSON; ``nothing`` for a blank field, the text itself where it isn't an object or an array."""
    if _as_sent(object_text(old)) == _as_sent(given):
        return old
    text = given.replace("\r\n", "\n")
    if not text.strip():
        return nothing
    try:
        value = read_json(text)
    except ValidationFailed:
        return text
    return text if isinstance(value, str) else value


def _typed_ids(old: Any, name: str, data: Mapping[str, str]) -> Any:
    """The same for a list of ids, and the one that was chosen to be added to it."""
    key, shown = id_list(name, old)
    found = old
    given = data.get(key)
    if key.endswith(".json"):
        return old if given is None else _typed_json(old, given, None)
    if given is not None and _as_sent(shown) != _as_sent(given):
        found = [entry for each in re.split(r"[\n\r,]", given) if (entry := each.strip())]
    more = data.get(f"s.{name}.add", "").strip()
    if more and more not in (found or []):
        found = [*(found or []), more]
    return found


def _typed_rows(old: Any, name: str, data: Mapping[str, str]) -> Any:
    """The same for a list that is shown as rows, or as JSON; ``name`` is the field's."""
    if (given := data.get(f"{name}.json")) is not None:
        return _typed_json(old, given, [])
    if not isinstance(old, list):
        return old
    columns = COLUMNS[name.partition(".")[2]]
    return [_typed_row(row, f"{name}.{at}", columns, data) for at, row in enumerate(old)]


def _typed_object(old: Any, name: str, data: Mapping[str, str]) -> Any:
    """The same for an object that is shown as rows, or as JSON."""
    if (given := data.get(f"{name}.json")) is not None:
        return _typed_json(old, given, {})
    rows = rows_of(old)
    if rows is None:
        return old
    typed = _typed_rows(rows, name, data)
    return old if typed == rows else settled(typed)


def _typed_row(old: Any, name: str, columns: tuple[str, ...], data: Mapping[str, str]) -> Any:
    cells = cells_of(old, columns)
    if cells is None:
        return old
    if not columns:
        shown, given = cells[""], data.get(name)
        same = given is None or _as_sent(shown) == _as_sent(given)
        return old if same else str(given).replace("\r\n", "\n")
    row = dict(old)
    for column, shown in cells.items():
        given = data.get(f"{name}.{column}")
        if given is None or _as_sent(shown) == _as_sent(given):
            continue
        if column == "required":
            row[column] = given != "no"
        elif given or column in NEVER_NULL:
            row[column] = given.replace("\r\n", "\n")
        else:
            row.pop(column, None)
    return row


def _turn(step: Step) -> None:
    """A step of another type lets go of what can't be otherwise; what somebody wrote at length stays."""
    if step.get("type") not in CONSTRUCTS:
        step.pop("on_instance_failure", None)
    if step.get("type") == "checkpoint":
        step["harness"] = "human"


def _renamed(document: Document, old: Any, new: Any, place: int) -> Document:
    """The document with ``new`` wherever ``old`` was named, unless another step has one of the two ids."""
    steps = document["steps"]
    if old == new or not is_entry(old) or not is_entry(new):
        return document
    others = [step.get("id") for at, step in enumerate(steps) if at != place]
    if old in others or new in others:
        return document
    return document | {"steps": [with_instead(step, old, [new]) for step in steps]}
