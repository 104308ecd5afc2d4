"""A document as fields: those of the open step or of the plan itself, beside the list of all steps."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from chief_project.web.outline import nested
from chief_project.web.plan_form.document import (
    CONSTRUCTS,
    TYPES,
    Document,
    constructs_around,
    first_places,
    holder_of,
    holders,
    ids_in,
    text_of,
)
from chief_project.web.plan_form.rows import OBJECTS, ROWS, rows_of
from chief_project.web.plan_form.texts import (
    COLUMNS,
    ID_LISTS,
    PLAN_TEXTS,
    TEXTS,
    cells_of,
    id_list,
    object_text,
    short,
)
from workflows.domain.rules import Problem

MOST_ROWS = 100
MOST_ENTRIES = 50
"""Longer lists, and larger objects, are shown as JSON: a form has a bounded number of fields, and Django takes 1,000."""

MOST_LINES = 200
PART = 100
"""A longer list of steps is shown in parts of so many."""
MOST_OFFERED = 100

_LINES = frozenset(
    {"id", "type", "kind", "harness", "group", "on_instance_failure", "name", "path", "project", "origin_dir"}
)


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
    """A list as rows of boxes, or as JSON where rows can't show it.

    ``problems`` are those of the list as a whole; ``full``: one more row, and it would be shown as JSON.
    """

    name: str
    rows: tuple[Mapping[str, Box], ...] = ()
    json: Box | None = None
    problems: tuple[str, ...] = ()
    full: bool = False

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

    def nearest(self, slot: str) -> str:
        """The slot itself where it is shown, or that of what it belongs to."""
        shown = {box.slot for box in self.data()} | {rows.slot for rows in self.lists.values()}
        while slot and slot not in shown:
            slot = slot.rpartition("-")[0]
        return slot

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


@dataclass(frozen=True, slots=True)
class Listed:
    """The list of steps as it is shown: all of them, or a part. ``begin`` to ``end`` are numbers in reading order.

    ``before``, ``after``: where the parts beside this one begin. ``sought``: these are what was looked for, ``found``
    in all.
    """

    lines: tuple[Line, ...]
    begin: int = 0
    end: int = 0
    before: int | None = None
    after: int | None = None
    sought: bool = False
    found: int = 0


@dataclass(frozen=True, slots=True)
class Choices:
    """What the open step could name, by id and short goal: steps to wait for, to take into its body, to stand in.

    ``cut``: there are more to stand in than are told.
    """

    needs: tuple[tuple[str, str], ...]
    members: tuple[tuple[str, str], ...]
    around: tuple[tuple[str, str], ...]
    cut: bool


def step_form(document: Document, place: int, problems: Sequence[Problem] = ()) -> Form:
    """The open step as fields."""
    step = document["steps"][place]
    said = _Said(problems, f"/steps/{place}")
    boxes = {}
    for name in TEXTS:
        boxes[name] = said.box(f"s.{name}", text_of(step.get(name)))
    for name in ID_LISTS:
        boxes[name] = said.box(*id_list(name, step.get(name)))
    boxes["inside"] = said.box("s.inside", holder_of(document, place) or "")
    lists = {name: said.rows(f"s.{name}", step.get(name, []), COLUMNS[name]) for name in ROWS}
    lists |= {name: said.entries(f"s.{name}", step.get(name, {}), COLUMNS[name]) for name in OBJECTS}
    return Form(boxes, lists, said.rest())


def plan_form(document: Document, problems: Sequence[Problem] = ()) -> Form:
    """The plan itself as fields: its title and groups; project and directory of a new one."""
    said = _Said([each for each in problems if not re.match(r"/steps/\d", each.pointer)], "")
    boxes = {name: said.box(f"p.{name}", text_of(document.get(name))) for name in PLAN_TEXTS}
    lists = {"groups": said.rows("p.groups", document.get("groups", []), COLUMNS["groups"])}
    return Form(boxes, lists, said.rest())


def lines(document: Document, problems: Sequence[Problem] = ()) -> list[Line]:
    """Every step once, in the order of reading, each with how many problems it has. Trusts no rule of plans."""
    steps = document["steps"]
    first = first_places(steps)
    held = holders(steps, first)
    bodies = {
        place: [first[member] for member in ids_in(step, "body") if held.get(first.get(member)) == place]
        for place, step in enumerate(steps)
        if step.get("type") in CONSTRUCTS and ids_in(step, "body")
    }
    reached = nested([place for place in range(len(steps)) if place not in held], bodies)
    told = {place for place, _, _ in reached}
    reached += [(place, 0, 0) for place in range(len(steps)) if place not in told]  # in a circle of bodies
    counts = Counter(int(found[1]) for each in problems if (found := re.match(r"/steps/(\d+)", each.pointer)))
    return [
        Line(
            place=place,
            id=text_of(steps[place].get("id")),
            type=text_of(steps[place].get("type")),
            goal=short(text_of(steps[place].get("goal"))),
            depth=depth,
            opens=bool(bodies.get(place)) and place in told,
            closes=closes,
            problems=counts[place],
        )
        for place, depth, closes in reached
    ]


def listed(lines: Sequence[Line], place: int | None, *, begin: int | None = None, sought: str = "") -> Listed:
    """What is shown of a long list of steps: the part that holds ``place``, that holds the ``begin``-th line, or lines
    whose id or goal holds ``sought``. Parts don't depend on what is open, so that opening a step moves nothing.
    """
    if sought := sought.strip().casefold():
        found = [line for line in lines if sought in line.id.casefold() or sought in line.goal.casefold()]
        flat = (replace(line, depth=0, opens=False, closes=0) for line in found[:PART])
        return Listed(tuple(flat), sought=True, found=len(found))
    if len(lines) <= MOST_LINES:
        return Listed(tuple(lines), 1, len(lines))
    if begin is None or not 0 <= begin < len(lines):
        begin = next((at for at, line in enumerate(lines) if line.place == place), 0)
    begin -= begin % PART
    end = min(begin + PART, len(lines))
    around: list[Line] = []  # the constructs whose bodies this part goes on with
    for line in reversed(lines[:begin]):
        if line.depth < (around[0].depth if around else lines[begin].depth):
            around.insert(0, line)
        if (around and not around[0].depth) or not lines[begin].depth:
            break
    return Listed(
        _nested_again([*around, *lines[begin:end]]),
        begin + 1,
        end,
        begin - PART if begin else None,
        end if end < len(lines) else None,
    )


def _nested_again(lines: Sequence[Line]) -> tuple[Line, ...]:
    """A part of a list, its own lists opened and closed."""
    depths = [line.depth for line in lines[1:]] + [0]
    return tuple(
        replace(line, opens=after > line.depth, closes=max(0, line.depth - after))
        for line, after in zip(lines, depths, strict=True)
    )


def choices(document: Document, place: int) -> Choices:
    """Only what keeps the rules on scopes, and isn't named yet; of very many, the nearest in the plan."""
    steps = document["steps"]
    first = first_places(steps)
    held = holders(steps, first)
    outer = set(constructs_around(held, place))
    needs = steps[place].get("depends_on")
    waits_for = set(map(text_of, needs)) if isinstance(needs, list) else set()
    others = [at for at in first.values() if at != place]

    def named(places: Sequence[int]) -> tuple[tuple[str, str], ...]:
        near = places
        if len(places) > MOST_OFFERED:
            near = sorted(sorted(places, key=lambda at: abs(at - place))[:MOST_OFFERED])
        return tuple((steps[at]["id"], short(text_of(steps[at].get("goal")), 80)) for at in near)

    constructs = [at for at in others if steps[at].get("type") in CONSTRUCTS]
    around = [at for at in constructs if place not in constructs_around(held, at)]
    holder = held.get(place)
    offered = named(around)
    if holder is not None and steps[holder]["id"] not in dict(offered):
        offered = (*named([holder]), *offered)
    return Choices(
        needs=named(
            [at for at in others if held.get(at) == held.get(place) and steps[at]["id"] not in waits_for]
        ),
        members=named([at for at in others if at not in held and at not in outer]),
        around=offered,
        cut=len(around) > MOST_OFFERED,
    )


@dataclass(slots=True)
class _Said:
    """Hands each field the problems that stand at it or below it. ``above``: the pointer of what is shown."""

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
        """The messages at or below a pointer (relative, without its first slash), which are then taken."""
        found = [at for at in self._left if at == where or at.startswith(f"{where}/")]
        return tuple(message for at in found for message in self._left.pop(at))

    def box(self, name: str, value: str) -> Box:
        """A field with its problems."""
        box = Box(name, value)
        return replace(box, problems=self.take(box.slot.replace("-", "/")))

    def rows(self, name: str, value: Any, columns: tuple[str, ...]) -> Rows:
        """A list with its problems."""
        cells = [cells_of(row, columns) for row in value] if isinstance(value, list) else [None]
        if len(cells) > MOST_ROWS or None in cells:
            return Rows(name, json=self.box(f"{name}.json", object_text(value)))
        rows = tuple(
            {
                column or "text": self.box(f"{name}.{at}.{column}" if column else f"{name}.{at}", text)
                for column, text in (row or {}).items()
            }
            for at, row in enumerate(cells)
        )
        return Rows(name, rows, problems=self.take(name.partition(".")[2]))

    def entries(self, name: str, value: Any, columns: tuple[str, ...]) -> Rows:
        """An object with its problems."""
        rows = rows_of(value)
        if rows is None or len(rows) > MOST_ENTRIES:
            return Rows(name, json=self.box(f"{name}.json", object_text(value)))
        return replace(self.rows(name, rows, columns), full=len(rows) == MOST_ENTRIES)

    def rest(self) -> tuple[str, ...]:
        return tuple(
            f"{where}: {message}" if where else message
            for where, messages in self._left.items()
            for message in messages
        )
