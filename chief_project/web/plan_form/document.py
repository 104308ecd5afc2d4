"""A plan's document as it travels with the page: what of it is kept, and who stands in whose body.

It may break every rule of plans. All but ``obstacle`` need a document that passed ``obstacle``.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from chief_project.shared.wire.parsing import parse_json
from workflows.domain.rules import Problem

Document = dict[str, Any]
Step = dict[str, Any]

CONSTRUCTS = ("loop", "parallel")  # a tuple: what is no text can be looked for in it, too
TYPES = ("task", "loop", "parallel", "checkpoint")
ROWS = ("criteria", "fields", "instance_params")
"""A step's lists that are filled in row by row."""


def document_of(workflow: Mapping[str, Any]) -> Document:
    """What of a ``Workflow`` (or a kept revision) can be revised, bare: what is unset is left out."""
    return {
        "title": workflow["title"],
        "steps": [bare(step) for step in workflow["steps"]],
        "groups": [dict(group) for group in workflow["groups"]],
    }


def bare(step: Mapping[str, Any]) -> Step:
    """A step's document without what says nothing: nulls, empty lists and objects, spelled-out defaults."""
    kept = {key: value for key, value in step.items() if value is not None and value != {} and value != []}
    if kept.get("harness") == "":
        del kept["harness"]
    if "criteria" in kept:
        kept["criteria"] = [given["text"] if isinstance(given, dict) else given for given in kept["criteria"]]
    for name in ("fields", "instance_params"):
        if name in kept:
            kept[name] = [
                {
                    key: value
                    for key, value in row.items()
                    if value is not None and (key, value) != ("required", True)
                }
                for row in kept[name]
            ]
    return kept


def json_text(value: Any, *, indent: int | None = 2) -> str:
    """JSON for people; ``indent=None`` for the page's own copy."""
    separators = (",", ":") if indent is None else None
    return json.dumps(value, ensure_ascii=False, indent=indent, separators=separators)


def read_json(text: str) -> Any:
    """The value that ``text`` holds; raises ``ValidationFailed`` as for a body of REST."""
    return parse_json(text.encode("utf-8", "surrogatepass"))


def text_of(value: Any) -> str:
    """What a field shows of a value; what is no text is shown as JSON."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json_text(value, indent=None)


def obstacle(document: Any) -> Problem | None:
    """Why forms can't show the document, if so: it isn't an object that lists objects."""
    if not isinstance(document, dict):
        return Problem("", "must be an object")
    for name in ("steps", "groups"):
        listed = document.get(name, [])
        if not isinstance(listed, list):
            return Problem(f"/{name}", "must be an array")
        if name == "steps":
            for place, step in enumerate(listed):
                if not isinstance(step, dict):
                    return Problem(f"/steps/{place}", "must be an object")
    return None


def without_blank_rows(document: Document) -> Document:
    """The document as it is judged and saved: rows that were added and never filled in are gone."""
    steps = []
    for step in document.get("steps", []):
        kept = step
        for name in ROWS:
            rows = step.get(name)
            if isinstance(rows, list) and any(map(is_blank, rows)):
                kept = kept | {name: [row for row in rows if not is_blank(row)]}
        steps.append(kept)
    found = document | {"steps": steps}
    if isinstance(groups := document.get("groups"), list):
        found["groups"] = [group for group in groups if not is_blank(group)]
    return found


def blank_rows(document: Document) -> Iterator[str]:
    """Pointers of the rows that ``without_blank_rows`` takes out."""
    for place, step in enumerate(document.get("steps", [])):
        for name in ROWS:
            rows = step.get(name)
            if isinstance(rows, list):
                yield from (f"/steps/{place}/{name}/{at}" for at, row in enumerate(rows) if is_blank(row))
    if isinstance(groups := document.get("groups"), list):
        yield from (f"/groups/{at}" for at, group in enumerate(groups) if is_blank(group))


def is_blank(row: Any) -> bool:
    """Whether a row says nothing at all."""
    if isinstance(row, dict):
        return all(value is None or value == "" or value is True for value in row.values())
    return row == ""


# -- Bodies and dependencies -----------------------------------------------------------------------


def ids_in(step: Step, name: str) -> list[str]:
    """What ``depends_on`` or ``body`` lists, as far as it is a list of texts."""
    listed = step.get(name)
    return [each for each in listed if isinstance(each, str)] if isinstance(listed, list) else []


def first_places(steps: Sequence[Step]) -> dict[Any, int]:
    """Places by id; of steps that share an id, the first one's."""
    first: dict[Any, int] = {}
    for place, step in enumerate(steps):
        if isinstance(step.get("id"), str):
            first.setdefault(step["id"], place)
    return first


def holders(steps: Sequence[Step], first: Mapping[Any, int]) -> dict[Any, int]:
    """For each step in a body, by place: the construct that lists it (the first one, should several)."""
    held: dict[Any, int] = {}
    for place, step in enumerate(steps):
        if step.get("type") in CONSTRUCTS:
            for member in ids_in(step, "body"):
                if member in first and first[member] != place:
                    held.setdefault(first[member], place)
    return held


def holder_of(document: Document, place: int) -> str | None:
    """The id of the construct whose body lists the step."""
    steps = document["steps"]
    held = holders(steps, first_places(steps)).get(place)
    return None if held is None else text_of(steps[held].get("id"))


def constructs_around(held: Mapping[Any, int], place: int) -> list[int]:
    """Places of the constructs around a step, from the inside out; each once, even in a circle of bodies.

    ``held``: as ``holders`` tells.
    """
    found: list[int] = []
    current = held.get(place)
    while current is not None and current not in found:
        found.append(current)
        current = held.get(current)
    return found


def dependents(document: Document, place: int) -> list[str]:
    """The ids of the steps that wait for the open one."""
    name = document["steps"][place].get("id")
    return waiting_for(document["steps"], name)


def waiting_for(steps: Sequence[Step], name: Any) -> list[str]:
    """The ids of the steps that list ``name`` among what they wait for."""
    return [
        text_of(step.get("id"))
        for step in steps
        if isinstance(step.get("depends_on"), list) and name in step["depends_on"]
    ]
