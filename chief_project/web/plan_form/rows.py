"""Lists and objects of a step as rows: what of a row says nothing, and an object's entries as rows and back.

An entry is a row ``{name, kind, value}``. Kind ``text``: the value is what is written, and needs no quotes. Kind
``json``: it is what the JSON says. Rows that don't make an object (yet) stay in the document as the list they are:
nothing typed is lost, and where an object should be, a list is no plan.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, TypeGuard

from django.conf import settings

from chief_project.shared.errors import ValidationFailed
from chief_project.shared.wire.parsing import check_depth
from chief_project.web.plan_form.document import Document, Step, json_text, not_json, read_json
from workflows.domain.rules import Problem

ROWS = ("criteria", "fields", "instance_params")
"""A step's lists that are filled in row by row."""
OBJECTS = ("inputs", "outputs")
"""A step's objects, whose entries are."""
ENTRY = ("name", "kind", "value")
KINDS = ("text", "json")
_ABOVE = 4  # the levels of a document above an entry's value: {steps: [{inputs: {name: …}}]}
_SHORT = 60

Row = dict[str, str]


def rows_of(value: Any) -> list[Row] | None:
    """An object's entries as rows, or the rows that stand in its place; None where it is neither.

    A text without a name is shown as JSON: so a blank row is no entry, and an empty name is one that somebody meant.
    """
    if isinstance(value, dict):
        return [
            {"name": name, "kind": "text", "value": said}
            if name and isinstance(said, str)
            else {"name": name, "kind": "json", "value": _as_json(said)}
            for name, said in value.items()
        ]
    return value if is_rows(value) else None


def is_rows(value: Any) -> TypeGuard[list[Row]]:
    """Whether rows stand where an object should be."""
    return isinstance(value, list) and bool(value) and all(map(_is_entry, value))


def object_of(rows: Sequence[Row]) -> dict[str, Any] | None:
    """The object that the rows make, in their order; None where one of them is blank or no good."""
    if any(map(is_blank, rows)) or any(entry_problems(rows)):
        return None
    return {row["name"]: _value(row) for row in rows}


def settled(rows: list[Row]) -> dict[str, Any] | list[Row]:
    """The object that the rows make, or the rows."""
    made = object_of(rows)
    return rows if made is None else made


def entry_problems(rows: Sequence[Row]) -> Iterator[tuple[int, str, str]]:
    """``(row, column, message)`` for what keeps the rows from being an object. Blank rows are no problem."""
    seen: set[str] = set()
    for at, row in enumerate(rows):
        name = row["name"]
        if is_blank(row):
            continue
        if name in seen:
            yield at, "name", f"the name '{name[:80]}' stands twice: keep one"
        elif row["kind"] == "text" and not name:
            yield at, "name", "must not be blank: give it a name"
        seen.add(name)
        if row["kind"] == "json":
            try:
                _value(row)
            except ValidationFailed as refused:
                yield at, "value", _hindered(row["value"], refused)


def row_problems(document: Document) -> list[Problem]:
    """The same for every step's inputs and outputs, as far as they are rows still."""
    return [
        Problem(f"/steps/{place}/{name}/{at}/{column}", message)
        for place, step in enumerate(document.get("steps", []))
        for name in OBJECTS
        if is_rows(step.get(name))
        for at, column, message in entry_problems(step[name])
    ]


def at_rows(document: Document, problem: Problem) -> Problem:
    """The problem where forms show it: what is said of an object's entry stands at the entry's row."""
    tokens = problem.pointer.split("/")
    if len(tokens) < 5 or tokens[1] != "steps" or tokens[3] not in OBJECTS:
        return problem
    entries = document["steps"][int(tokens[2])].get(tokens[3])
    name = tokens[4].replace("~1", "/").replace("~0", "~")
    if not isinstance(entries, dict) or name not in entries:
        return problem
    return replace(problem, pointer="/".join([*tokens[:4], str(list(entries).index(name)), "value"]))


def without_rows(document: Document) -> Document:
    """The document as the rules judge it, which know objects only: rows are taken for the object they may become."""
    steps = document.get("steps", [])
    if not any(is_rows(step.get(name)) for step in steps for name in OBJECTS):
        return document
    return document | {
        "steps": [
            step | {name: object_of(step[name]) or {} for name in OBJECTS if is_rows(step.get(name))}
            for step in steps
        ]
    }


# -- Rows that say nothing -------------------------------------------------------------------------


def without_blank_rows(document: Document) -> Document:
    """The document as it is saved: rows that were added and never filled in are gone."""
    found = document | {"steps": [_filled_in(step) for step in document.get("steps", [])]}
    if isinstance(groups := document.get("groups"), list):
        found["groups"] = [group for group in groups if not is_blank(group)]
    return found


def _filled_in(step: Step) -> Step:
    kept = step
    for name in ROWS:
        rows = step.get(name)
        if isinstance(rows, list) and any(map(is_blank, rows)):
            kept = kept | {name: [row for row in rows if not is_blank(row)]}
    for name in OBJECTS:
        rows = step.get(name)
        if is_rows(rows):
            kept = kept | {name: settled([row for row in rows if not is_blank(row)])}
    return kept


def blank_rows(document: Document) -> Iterator[str]:
    """Pointers of the rows that ``without_blank_rows`` takes out of lists."""
    for place, step in enumerate(document.get("steps", [])):
        for name in ROWS:
            rows = step.get(name)
            if isinstance(rows, list):
                yield from (f"/steps/{place}/{name}/{at}" for at, row in enumerate(rows) if is_blank(row))
    if isinstance(groups := document.get("groups"), list):
        yield from (f"/groups/{at}" for at, group in enumerate(groups) if is_blank(group))


def is_blank(row: Any) -> bool:
    """Whether a row says nothing at all."""
    if _is_entry(row):
        return not row["name"] and not row["value"]
    if isinstance(row, dict):
        return all(value is None or value == "" or value is True for value in row.values())
    return bool(row == "")


def _as_json(value: Any) -> str:
    """On one line where that is short."""
    line = json.dumps(value, ensure_ascii=False)
    return line if len(line) <= _SHORT else json_text(value)


def _is_entry(row: Any) -> bool:
    return (
        isinstance(row, dict)
        and row.keys() == set(ENTRY)
        and all(isinstance(cell, str) for cell in row.values())
        and row["kind"] in KINDS
    )


def _value(row: Row) -> Any:
    """Raises ``ValidationFailed`` for what isn't JSON, or nests too deep for where it stands."""
    if row["kind"] == "text":
        return row["value"]
    check_depth(row["value"].encode("utf-8", "replace"), settings.CHIEF_MAX_JSON_DEPTH - _ABOVE)
    return read_json(row["value"])


def _hindered(text: str, refused: ValidationFailed) -> str:
    if not text.strip():
        return "must not be blank: write a JSON value, or choose Text for an empty text"
    return f"{not_json(text, refused)}; words need no JSON: choose Text"
