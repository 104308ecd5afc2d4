"""A plan as a form: form data ⇄ the plan's document, and what the form's buttons do to it. Pure.

One step is open at a time. The document, ``{title, steps, groups, …}`` as it is submitted, travels with the page as
JSON, and the fields of what is open lie over it: a plan of any length has few fields, and nothing is kept here.

Nothing that a person typed is lost, whether it is a plan (yet) or not. A field that wasn't touched keeps its exact
value. What should be JSON and isn't stays in the document as the text it is, for the rules to refuse. Where a list
holds what rows can't show, it is shown as JSON.

Names of fields: ``s.goal``, ``s.criteria.0``, ``s.fields.0.hint`` of the open step; ``p.title``, ``p.groups.0.path`` of
the plan itself. Behind the first dot stands the field's pointer below the step, with dots.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from chief_project.shared.errors import ValidationFailed
from chief_project.shared.wire.parsing import parse_json
from chief_project.web.outline import nested
from workflows.domain.rules import Problem

Document = dict[str, Any]
Step = dict[str, Any]

CONSTRUCTS = ("loop", "parallel")  # a tuple: what is no text can be looked for in it, too
TYPES = ("task", "loop", "parallel", "checkpoint")
MOST_ROWS = 100
"""Longer lists are shown as JSON: a form has a bounded number of fields."""

_COLUMNS: dict[str, tuple[str, ...]] = {
    "criteria": (),
    "fields": ("name", "label", "hint", "required"),
    "instance_params": ("name", "description", "required"),
    "groups": ("path", "description"),
}
_OBJECTS = ("inputs", "outputs")
_ID_LISTS = ("depends_on", "body")
_LINES = frozenset(
    {"id", "type", "harness", "group", "on_instance_failure", "name", "path", "project", "origin_dir"}
)
_NEVER_NULL = frozenset({"id", "type", "goal", "harness", "title", "name", "path"})
_NUMBERED = re.compile(r"(.*?)([0-9]{1,9})", re.DOTALL)


# -- The document ----------------------------------------------------------------------------------


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
        for name in ("criteria", "fields", "instance_params"):
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
        for name in ("criteria", "fields", "instance_params"):
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


# -- What is shown ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Box:
    """One field of the form: its name, its text, and what is wrong with it."""

    name: str
    value: str
    problems: tuple[str, ...] = ()

    @property
    def line(self) -> bool:
        """Whether a box of one line does: it would drop line ends."""
        return self.name.rpartition(".")[2] in _LINES and not re.search(r"[\r\n]", self.value)

    @property
    def slot(self) -> str:
        """The key under which its problems are found, and the end of its id in the page."""
        return self.name.partition(".")[2].removesuffix(".json").replace(".", "-")


@dataclass(frozen=True, slots=True)
class Rows:
    """A list as rows of boxes, or as JSON where rows can't show it. ``problems`` are those of the list as a whole."""

    name: str
    rows: tuple[Mapping[str, Box], ...] = ()
    json: Box | None = None
    problems: tuple[str, ...] = ()

    @property
    def slot(self) -> str:
        """As a box's."""
        return self.name.partition(".")[2]


@dataclass(frozen=True, slots=True)
class Form:
    """Everything that is shown of a step, or of the plan itself; ``stray`` are problems that belong to no field."""

    boxes: Mapping[str, Box]
    lists: Mapping[str, Rows]
    stray: tuple[str, ...] = ()

    def data(self) -> Iterator[Box]:
        """Every field that a browser would send."""
        yield from self.boxes.values()
        for rows in self.lists.values():
            if rows.json is not None:
                yield rows.json
            for row in rows.rows:
                yield from row.values()


@dataclass(frozen=True, slots=True)
class Line:
    """One step in the list of steps: its place in the document, and how the list nests (see ``outline.Node``).

    ``goal`` is cut short here, where it costs least: there may be thousands.
    """

    place: int
    id: str
    type: str
    goal: str
    depth: int
    opens: bool
    closes: int
    problems: int = 0

    @property
    def icon(self) -> str:
        """Its type's, or a warning."""
        return self.type if self.type in TYPES else "warn"

    @property
    def ends(self) -> range:
        """One round per list that ends after this line."""
        return range(self.closes)


def step_form(document: Document, place: int, problems: Sequence[Problem] = ()) -> Form:
    """The open step as fields."""
    step = document["steps"][place]
    said = _Said(problems, f"/steps/{place}")
    boxes = {}
    for name in ("id", "type", "goal", "harness", "exit_when", "group", "on_instance_failure"):
        boxes[name] = said.box(f"s.{name}", text_of(step.get(name)))
    for name in _OBJECTS:
        boxes[name] = said.box(f"s.{name}", _object_text(step.get(name, {})))
    for name in _ID_LISTS:
        boxes[name] = said.box(*_id_list(name, step.get(name)))
    boxes["inside"] = said.box("s.inside", holder_of(document, place) or "")
    lists = {
        name: said.rows(f"s.{name}", step.get(name, []), _COLUMNS[name])
        for name in ("criteria", "fields", "instance_params")
    }
    return Form(boxes, lists, said.rest())


def plan_form(document: Document, problems: Sequence[Problem] = ()) -> Form:
    """The plan itself as fields: its title and groups; project and directory of a new one."""
    said = _Said([each for each in problems if not re.match(r"/steps/\d", each.pointer)], "")
    boxes = {
        name: said.box(f"p.{name}", text_of(document.get(name)))
        for name in ("title", "project", "origin_dir")
    }
    lists = {"groups": said.rows("p.groups", document.get("groups", []), _COLUMNS["groups"])}
    return Form(boxes, lists, said.rest())


def lines(document: Document, problems: Sequence[Problem] = ()) -> list[Line]:
    """Every step once, in the order of reading, each with how many problems it has. Trusts no rule of plans."""
    steps = document["steps"]
    first = _first_places(steps)
    held = _holders(steps, first)
    bodies = {
        place: [first[member] for member in _members(step) if held.get(first.get(member)) == place]
        for place, step in enumerate(steps)
        if step.get("type") in CONSTRUCTS and _members(step)
    }
    reached = nested([place for place in range(len(steps)) if place not in held], bodies)
    told = {place for place, _, _ in reached}
    reached += [(place, 0, 0) for place in range(len(steps)) if place not in told]  # in a circle of bodies
    counts: dict[int, int] = {}
    for each in problems:
        if found := re.match(r"/steps/(\d+)", each.pointer):
            counts[int(found[1])] = counts.get(int(found[1]), 0) + 1
    return [
        Line(
            place=place,
            id=text_of(steps[place].get("id")),
            type=text_of(steps[place].get("type")),
            goal=short(text_of(steps[place].get("goal"))),
            depth=depth,
            opens=bool(bodies.get(place)) and place in told,
            closes=closes,
            problems=counts.get(place, 0),
        )
        for place, depth, closes in reached
    ]


def short(text: str, most: int = 120) -> str:
    """A text's beginning."""
    return text if len(text) <= most else f"{text[:most]}…"


def slot_of(pointer: str) -> tuple[int | None, str]:
    """The step's place (None: the plan itself) and the slot of the field that a problem's pointer means."""
    place, tokens = None, pointer.split("/")[1:]
    if len(tokens) > 1 and tokens[0] == "steps" and tokens[1].isdecimal():
        place, tokens = int(tokens[1]), tokens[2:]
    columns = _COLUMNS.get(tokens[0]) if tokens else None
    if columns is None or len(tokens) == 1:
        return place, tokens[0] if tokens else ""
    return place, "-".join([*tokens[:2], *(tokens[2:3] or columns[:1] if columns else ())])


def text_of(value: Any) -> str:
    """What a field shows of a value; what is no text is shown as JSON."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json_text(value, indent=None)


def _object_text(value: Any) -> str:
    if value == {} and isinstance(value, dict):
        return ""
    return value if isinstance(value, str) else json_text(value)


def _id_list(name: str, value: Any) -> tuple[str, str]:
    if value is None:
        return f"s.{name}", ""
    if isinstance(value, list) and all(_is_entry(each) for each in value):
        return f"s.{name}", "\n".join(value)
    return f"s.{name}.json", _object_text(value)


def _is_entry(value: Any) -> bool:
    return (
        isinstance(value, str) and value != "" and value == value.strip() and not re.search(r"[\n\r,]", value)
    )


def _cells(row: Any, columns: tuple[str, ...]) -> dict[str, str] | None:
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
        elif isinstance(value, str) or (value is None and column not in _NEVER_NULL):
            cells[column] = value or ""
        elif column not in row:
            cells[column] = ""
        else:
            return None
    return cells


@dataclass(slots=True)
class _Said:
    """Hands each field the problems that stand at it or below it."""

    problems: Iterable[Problem]
    above: str
    _left: dict[str, list[str]] = field(init=False)

    def __post_init__(self) -> None:
        self._left = {}
        for each in self.problems:
            if each.pointer == self.above or each.pointer.startswith(f"{self.above}/"):
                below = each.pointer[len(self.above) + 1 :]
                self._left.setdefault(below, []).append(each.message)

    def take(self, where: str) -> tuple[str, ...]:
        found = [at for at in self._left if at == where or at.startswith(f"{where}/")]
        return tuple(message for at in found for message in self._left.pop(at))

    def box(self, name: str, value: str) -> Box:
        box = Box(name, value)
        return replace(box, problems=self.take(box.slot.replace("-", "/")))

    def rows(self, name: str, value: Any, columns: tuple[str, ...]) -> Rows:
        below = name.partition(".")[2]
        cells = [_cells(row, columns) for row in value] if isinstance(value, list) else [None]
        if len(cells) > MOST_ROWS or None in cells:
            return Rows(name, json=self.box(f"{name}.json", _object_text(value)))
        rows = tuple(
            {
                column or "text": self.box(f"{name}.{at}.{column}" if column else f"{name}.{at}", text)
                for column, text in (row or {}).items()
            }
            for at, row in enumerate(cells)
        )
        return Rows(name, rows, problems=self.take(below))

    def rest(self) -> tuple[str, ...]:
        return tuple(
            f"{where}: {message}" if where else message
            for where, messages in self._left.items()
            for message in messages
        )


# -- What was sent ---------------------------------------------------------------------------------


def read_step(document: Document, place: int, data: Mapping[str, str]) -> Document:
    """The document with the open step as the form has it. A new id is followed wherever the old one was named."""
    steps = list(document["steps"])
    old = steps[place]
    new = dict(old)
    for name in ("id", "type", "goal", "harness", "exit_when", "group", "on_instance_failure"):
        if (given := data.get(f"s.{name}")) is not None:
            _put(new, name, _typed(old.get(name), given, name))
    for name in _OBJECTS:
        if (given := data.get(f"s.{name}")) is not None:
            _put(new, name, _typed_json(old.get(name, {}), given, {}))
    for name in _ID_LISTS:
        _put(new, name, _typed_ids(old.get(name), name, data))
    for name in ("criteria", "fields", "instance_params"):
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
    for name in ("title", "project", "origin_dir"):
        if (given := data.get(f"p.{name}")) is not None:
            _put(new, name, _typed(document.get(name), given, name))
    groups = _typed_rows(document.get("groups", []), "p.groups", data)
    return new | {"groups": [] if groups is None else groups}


def _put(step: Step, name: str, value: Any) -> None:
    """Set, or take out what says nothing; what was said so before stays."""
    if name in step and step[name] == value and type(step[name]) is type(value):
        return
    if value is None or (value in ({}, []) and not isinstance(value, str)):
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
    return text if text or name in _NEVER_NULL else None


def _as_sent(text: str) -> str:
    """As browsers send it back: they make all line ends alike."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _typed_json(old: Any, given: str, nothing: Any) -> Any:
    if _as_sent(_object_text(old)) == _as_sent(given):
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
    key, shown = _id_list(name, old)
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
    if (given := data.get(f"{name}.json")) is not None:
        return _typed_json(old, given, [])
    if not isinstance(old, list):
        return old
    columns = _COLUMNS[name.partition(".")[2]]
    return [_typed_row(row, f"{name}.{at}", columns, data) for at, row in enumerate(old)]


def _typed_row(old: Any, name: str, columns: tuple[str, ...], data: Mapping[str, str]) -> Any:
    cells = _cells(old, columns)
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
        elif given or column in _NEVER_NULL:
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
    steps = document["steps"]
    if old == new or not _is_entry(old) or not _is_entry(new):
        return document
    others = [step.get("id") for at, step in enumerate(steps) if at != place]
    if old in others or new in others:
        return document
    return document | {"steps": [_swap(step, old, [new]) for step in steps]}


def _swap(step: Step, name: str, by: Sequence[str], *, lists: Sequence[str] = _ID_LISTS) -> Step:
    """The step with ``by`` wherever its dependencies or body name ``name``."""
    for key in lists:
        listed = step.get(key)
        if isinstance(listed, list) and name in listed:
            at = listed.index(name)
            instead = [each for each in by if each not in listed and each != step.get("id")]
            step = step | {key: [*listed[:at], *instead, *listed[at + 1 :]]}
    return step


# -- What buttons do -------------------------------------------------------------------------------


def holder_of(document: Document, place: int) -> str | None:
    """The id of the construct whose body lists the step."""
    steps = document["steps"]
    held = _holders(steps, _first_places(steps)).get(place)
    return None if held is None else text_of(steps[held].get("id"))


def put_inside(document: Document, place: int, construct: str | None) -> Document:
    """The step moved to the end of a construct's body, or to the top level (None)."""
    steps = list(document["steps"])
    first = _first_places(steps)
    name = steps[place].get("id")
    was = _holders(steps, first).get(place)
    into = first.get(construct) if construct is not None else None
    if was == into or not _is_entry(name) or (construct is not None and into is None) or into == place:
        return document
    if was is not None:
        steps[was] = steps[was] | {"body": [each for each in steps[was]["body"] if each != name]}
    if into is not None:
        steps[into] = steps[into] | {"body": [*_members(steps[into]), name]}
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
    held = _holders(steps, _first_places(steps)).get(place)
    if held is not None:
        body = list(_members(steps[held]))
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
    if not _is_entry(name) or any(step.get("id") == name for step in steps):
        return document | {"steps": steps}, Removal(name)
    freed = _members(gone) if gone.get("type") in CONSTRUCTS else []
    needs = gone.get("depends_on")
    before = (
        [each for each in needs if isinstance(each, str) and each != name] if isinstance(needs, list) else []
    )
    rewired = tuple(
        text_of(step.get("id"))
        for step in steps
        if isinstance(step.get("depends_on"), list) and name in step["depends_on"]
    )
    steps = [
        _swap(_swap(step, name, before, lists=["depends_on"]), name, freed, lists=["body"]) for step in steps
    ]
    return document | {"steps": steps}, Removal(name, rewired, tuple(freed))


def move_step(document: Document, place: int, *, up: bool) -> tuple[Document, int]:
    """The step one place up or down among those of its body, or of the top level. Also its place afterwards."""
    steps = list(document["steps"])
    held = _holders(steps, _first_places(steps))
    by = -1 if up else 1
    if place in held:
        body = list(_members(steps[held[place]]))
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
    columns = _COLUMNS[name]
    blank: Any = {columns[0]: ""} if columns else ""
    return _with_rows(document, place, name, lambda rows: [*rows, blank])


def drop_row(document: Document, place: int | None, name: str, at: int) -> Document:
    """A row less."""
    return _with_rows(document, place, name, lambda rows: [*rows[:at], *rows[at + 1 :]])


def clear(document: Document, place: int, name: str) -> Document:
    """The open step without one of its parts."""
    steps = list(document["steps"])
    steps[place] = {key: value for key, value in steps[place].items() if key != name}
    return document | {"steps": steps}


def _with_rows(document: Document, place: int | None, name: str, change: Any) -> Document:
    holder = document if place is None else document["steps"][place]
    rows = holder.get(name, [])
    if name not in _COLUMNS or not isinstance(rows, list):
        return document
    changed = holder | {name: change(rows)}
    if place is None:
        return changed
    steps = list(document["steps"])
    steps[place] = changed
    return document | {"steps": steps}


@dataclass(frozen=True, slots=True)
class Choices:
    """What the open step could name, by id and short goal: steps to wait for, to take into its body, to stand in."""

    needs: tuple[tuple[str, str], ...]
    members: tuple[tuple[str, str], ...]
    around: tuple[tuple[str, str], ...]


def choices(document: Document, place: int) -> Choices:
    """Only what keeps the rules on scopes, and isn't named yet."""
    steps = document["steps"]
    first = _first_places(steps)
    held = _holders(steps, first)
    outer = set(_outwards(held, place))
    needs = steps[place].get("depends_on")
    waits_for = set(map(text_of, needs)) if isinstance(needs, list) else set()
    others = [at for at in first.values() if at != place]

    def named(places: Iterable[int]) -> tuple[tuple[str, str], ...]:
        return tuple((steps[at]["id"], short(text_of(steps[at].get("goal")), 80)) for at in places)

    return Choices(
        needs=named(
            at for at in others if held.get(at) == held.get(place) and steps[at]["id"] not in waits_for
        ),
        members=named(at for at in others if at not in held and at not in outer),
        around=named(
            at for at in others if steps[at].get("type") in CONSTRUCTS and place not in _outwards(held, at)
        ),
    )


def dependents(document: Document, place: int) -> list[str]:
    """The ids of the steps that wait for the open one."""
    name = document["steps"][place].get("id")
    return [
        text_of(step.get("id"))
        for step in document["steps"]
        if isinstance(step.get("depends_on"), list) and name in step["depends_on"]
    ]


def _outwards(held: Mapping[Any, int], place: int) -> list[int]:
    """The constructs around a step, from the inside out; each once, even in a circle of bodies."""
    found: list[int] = []
    current = held.get(place)
    while current is not None and current not in found:
        found.append(current)
        current = held.get(current)
    return found


def _members(step: Step) -> list[str]:
    body = step.get("body")
    return [each for each in body if isinstance(each, str)] if isinstance(body, list) else []


def _first_places(steps: Sequence[Step]) -> dict[Any, int]:
    first: dict[Any, int] = {}
    for place, step in enumerate(steps):
        if isinstance(step.get("id"), str):
            first.setdefault(step["id"], place)
    return first


def _holders(steps: Sequence[Step], first: Mapping[Any, int]) -> dict[Any, int]:
    """For each step in a body, by place: the construct that lists it (the first one, should several)."""
    held: dict[Any, int] = {}
    for place, step in enumerate(steps):
        if step.get("type") in CONSTRUCTS:
            for member in _members(step):
                if member in first and first[member] != place:
                    held.setdefault(first[member], place)
    return held


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
