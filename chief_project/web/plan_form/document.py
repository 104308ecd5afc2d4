"""A plan's document as it travels with the page: what of it is kept, and who stands in whose body.

It may break every rule of plans. All but ``obstacle`` need a document that passed ``obstacle``.
"""

import binascii
import json
import zlib
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from typing import Any

from django.conf import settings

from chief_project.shared.errors import ValidationFailed
from chief_project.shared.wire.parsing import parse_json
from workflows.domain.rules import Problem

Document = dict[str, Any]
Step = dict[str, Any]

CONSTRUCTS = ("loop", "parallel")  # a tuple: what is no text can be looked for in it, too
TYPES = ("task", "loop", "parallel", "checkpoint")


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


def same(one: Any, other: Any) -> bool:
    """Whether two values say the same as JSON, in the same order: 1 is not 1.0, nor true."""
    return one is other or (one == other and json_text(one, indent=None) == json_text(other, indent=None))


def read_json(text: str) -> Any:
    """The value that ``text`` holds; raises ``ValidationFailed`` as for a body of REST."""
    return parse_json(text.encode("utf-8", "surrogatepass"))


def not_json(text: str, refused: ValidationFailed | None = None) -> str:
    """What is wrong with a text that should be an object or an array, or what ``refused`` found in it."""
    try:
        if refused is None:
            read_json(text)
    except ValidationFailed as found:
        refused = found
    if refused is None:
        return "must be an object or an array"
    return refused.message.replace("the body", "this", 1)


def packed(document: Any) -> str:
    """A document as the page carries it: JSON, compressed, for thousands of steps would be most of the page."""
    return b64encode(
        zlib.compress(json_text(document, indent=None).encode("utf-8", "surrogatepass"), 1)
    ).decode()


def unpacked(text: str) -> Any:
    """The document that ``packed`` made the text of; plain JSON will do, too. Raises as ``read_json``."""
    if text.lstrip()[:1] in ("{", "["):
        return read_json(text)
    most, packet = settings.CHIEF_MAX_BODY_BYTES, zlib.decompressobj()
    try:
        raw = packet.decompress(b64decode(text, validate=True), most + 1)
        whole = packet.eof or len(raw) > most
    except (binascii.Error, ValueError, zlib.error):
        whole = False
    if not whole:
        raise ValidationFailed("the plan that this page carries can't be read: open the editor anew")
    return parse_json(raw)


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
