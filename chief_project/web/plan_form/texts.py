"""What fields show of a document's values, as texts, and which field a problem belongs to."""

import re
from typing import Any

from chief_project.web.plan_form.document import json_text
from chief_project.web.plan_form.rows import ENTRY

TEXTS = ("id", "type", "goal", "harness", "exit_when", "group", "on_instance_failure")
ID_LISTS = ("depends_on", "body")
PLAN_TEXTS = ("title", "project", "origin_dir")
COLUMNS: dict[str, tuple[str, ...]] = {
    "criteria": (),
    "fields": ("name", "label", "hint", "required"),
    "instance_params": ("name", "description", "required"),
    "groups": ("path", "description"),
    "inputs": ENTRY,
    "outputs": ENTRY,
}
"""The cells of a list's rows; none where a row is one text."""
NEVER_NULL = frozenset({"id", "type", "goal", "harness", "title", "name", "path", "kind", "value"})
"""What stays as an empty text where nothing was written."""


def short(text: str, most: int = 120) -> str:
    """A text's beginning."""
    return text if len(text) <= most else f"{text[:most]}…"


def object_text(value: Any) -> str:
    """JSON for a box of several lines; nothing for ``{}``; what is a text where JSON should be, as it is."""
    if value == {} and isinstance(value, dict):
        return ""
    return value if isinstance(value, str) else json_text(value)


def id_list(name: str, value: Any) -> tuple[str, str]:
    """A list of ids as its field's name and text: one a line, or as JSON where lines can't tell it."""
    if value is None:
        return f"s.{name}", ""
    if isinstance(value, list) and all(is_entry(each) for each in value):
        return f"s.{name}", "\n".join(value)
    return f"s.{name}.json", object_text(value)


def is_entry(value: Any) -> bool:
    """Whether a value is a text that a line of ids gives back as it is."""
    return (
        isinstance(value, str) and value != "" and value == value.strip() and not re.search(r"[\n\r,]", value)
    )


def cells_of(row: Any, columns: tuple[str, ...]) -> dict[str, str] | None:
    """A row's cells as texts; None where they can't tell it whole."""
    if not columns:
        given = row.get("text") if isinstance(row, dict) and row.keys() <= {"id", "text"} else row
        return {"": given} if isinstance(given, str) else None
    if not isinstance(row, dict) or not row.keys() <= set(columns):
        return None
    cells = {}
    for column in columns:
        value = row.get(column)
        if column == "required":
            if not isinstance(row.get(column, True), bool):
                return None
            cells[column] = "yes" if row.get(column, True) else "no"
        elif isinstance(value, str) or (value is None and column not in NEVER_NULL):
            cells[column] = value or ""
        elif column not in row:
            cells[column] = ""
        else:
            return None
    return cells


def slot_of(pointer: str) -> tuple[int | None, str]:
    """The step's place (None: the plan itself) and the slot of the field that a problem's pointer means."""
    place, tokens = None, pointer.split("/")[1:]
    if len(tokens) > 1 and tokens[0] == "steps" and tokens[1].isdecimal():
        place, tokens = int(tokens[1]), tokens[2:]
    columns = COLUMNS.get(tokens[0]) if tokens else None
    if columns is None or len(tokens) == 1:
        return place, tokens[0] if tokens else ""
    return place, "-".join([*tokens[:2], *(tokens[2:3] or columns[:1] if columns else ())])
