"""Which steps share a box, so that a plan of thousands is a picture one can read. Pure.

Steps that stand alike (same scope, type, group, dependencies and dependents) are one box. A plan that still has more
than ``MOST_BOXES`` is folded further, a level at a time: by group, constructs closed, by rank and the goal's first
words, and at last by rank alone. Whatever is folded, the boxes have no cycle: a group is only folded where no path
leaves it and comes back, and the other levels never join two ranks unless they join all between them.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from workflows.domain.plan import Plan, Step

MOST_BOXES = 150
MOST_OPENED = 60  # boxes that one opened fold is drawn as
MOST_LANES = 8
_FEW_STEPS = 40  # a plan up to here is read step by step
_BANDS = 24

_DIGITS = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class Fold:
    """A box for several steps of one scope. ``steps`` are all of them, those in the bodies of its constructs included."""

    id: str
    why: str  # alike, group, closed, words, rank
    members: tuple[str, ...]
    steps: tuple[str, ...]
    ranks: tuple[int, int] = (0, 0)


Unit = str | Fold
"""A step that has a box of its own, by its id, or several that share one."""


@dataclass(frozen=True)
class Folding:
    """The units of each scope that is drawn (``None`` for the top level); ``level`` says how hard it was folded."""

    scopes: Mapping[str | None, tuple[Unit, ...]]
    level: str
    opened: tuple[Fold, ...] = ()
    widest: Mapping[str | None, int] = field(default_factory=dict)  # how many boxes stand side by side

    @property
    def folds(self) -> tuple[Fold, ...]:
        """Every fold that is drawn."""
        return tuple(unit for units in self.scopes.values() for unit in units if isinstance(unit, Fold))

    @property
    def boxes(self) -> int:
        """How many boxes are drawn, once per scope."""
        return sum(map(len, self.scopes.values()))

    @property
    def hidden(self) -> int:
        """How many steps have no box of their own."""
        return sum(len(fold.steps) for fold in self.folds)


@dataclass(slots=True)
class _Scope:
    """One scope's steps, with what folding asks about them."""

    plan: Plan
    ids: tuple[str, ...]
    kept: frozenset[str] = frozenset()  # steps that are never folded
    layer: dict[str, int] = field(init=False)

    def __post_init__(self) -> None:
        self.layer = layers(self.plan, self.ids)

    def step(self, step_id: str) -> Step:
        return self.plan.by_id[step_id]


_LEVELS = (
    "many alike",
    "alike",
    "group",
    "outer group",
    "closed",
    "words 3",
    "words 2",
    "words 1",
    "band",
    "rank",
)


def fold_plan(
    plan: Plan,
    *,
    opened: frozenset[str] = frozenset(),
    drawn: Mapping[str, int] | None = None,
    most: int = MOST_BOXES,
    kept: frozenset[str] = frozenset(),
) -> Folding:
    """The gentlest folding with at most ``most`` boxes, or the hardest there is.

    ``drawn`` says how often each construct's body is drawn (its lanes), once where it says nothing. What is ``opened``
    (fold ids) is drawn as finer boxes and isn't counted. ``kept`` steps are never folded; it holds the constructs
    around them too.
    """
    scopes: dict[str | None, _Scope] = {}
    levels = _LEVELS if len(plan.steps) <= _FEW_STEPS else _LEVELS[1:]
    chosen: dict[str | None, tuple[Unit, ...]] = {}
    for level in levels:
        chosen = _at_level(plan, level, scopes, kept, frozenset())
        if _count(chosen, plan, drawn or {}) <= most:
            break
    else:
        level = levels[-1]
    unfolded: list[Fold] = []
    if opened:
        chosen = _at_level(plan, level, scopes, kept, opened, unfolded)
    widest = {construct: _widest(scopes[construct], units, unfolded) for construct, units in chosen.items()}
    return Folding(chosen, level, tuple(unfolded), widest)


def _widest(scope: _Scope, units: Sequence[Unit], unfolded: Sequence[Fold]) -> int:
    apart = {each for fold in unfolded if len(fold.members) > MOST_LANES for each in fold.members}
    rows: dict[int, int] = defaultdict(int)
    for unit in units:
        if _members(unit)[0] not in apart:
            rows[scope.layer[unit] if isinstance(unit, str) else unit.ranks[0]] += 1
    return max(rows.values(), default=1)


def _count(chosen: Mapping[str | None, tuple[Unit, ...]], plan: Plan, drawn: Mapping[str, int]) -> int:
    total = 0
    for construct, units in chosen.items():
        times, inside = 1, construct
        while inside is not None:
            times *= drawn.get(inside, 1)
            inside = plan.container.get(inside)
        total += times * len(units)
    return total


def _at_level(
    plan: Plan,
    level: str,
    scopes: dict[str | None, _Scope],
    kept: frozenset[str],
    opened: frozenset[str],
    unfolded: list[Fold] | None = None,
) -> dict[str | None, tuple[Unit, ...]]:
    chosen: dict[str | None, tuple[Unit, ...]] = {}
    waiting: list[str | None] = [None]
    while waiting:
        construct = waiting.pop()
        if construct not in scopes:
            scopes[construct] = _Scope(plan, plan.scope(construct), kept)
        units = _units(scopes[construct], level, opened, [] if unfolded is None else unfolded)
        chosen[construct] = units
        waiting += [unit for unit in units if isinstance(unit, str) and plan.by_id[unit].is_construct]
    return chosen


def _units(scope: _Scope, level: str, opened: frozenset[str], unfolded: list[Fold]) -> tuple[Unit, ...]:
    found: list[Unit] = []
    for unit in _partition(scope, scope.ids, level):
        found += _open(scope, unit, opened, unfolded)
    return tuple(found)


def _open(scope: _Scope, unit: Unit, opened: frozenset[str], unfolded: list[Fold]) -> list[Unit]:
    """The unit, or the finer ones that it is drawn as once it is opened."""
    if isinstance(unit, str) or unit.id not in opened:
        return [unit]
    unfolded.append(unit)
    found: list[Unit] = []
    for finer in _finer(scope, unit):
        found += _open(scope, finer, opened, unfolded)
    return found


def _finer(scope: _Scope, fold: Fold) -> Sequence[Unit]:
    """A fold's members apart if they are few, else in the gentlest way that gives few boxes, else in runs of them."""
    if len(fold.members) <= MOST_OPENED:
        return fold.members
    for level in _LEVELS:
        units = _partition(scope, fold.members, level)
        if 1 < len(units) <= MOST_OPENED:
            return units
    ordered = sorted(fold.members, key=lambda each: scope.layer[each])
    size = max(10, -(-len(ordered) // MOST_OPENED))
    runs = [tuple(ordered[start : start + size]) for start in range(0, len(ordered), size)]
    # Each is told by its first and its last step, or all would read the same.
    return [_unit(scope, run, "rank") for run in runs]


def _partition(scope: _Scope, ids: Sequence[str], level: str) -> list[Unit]:
    """``ids`` (of one scope) in units, each where its first member stands."""
    if level in {"band", "rank"}:
        return [_unit(scope, members, "rank") for members in _bands(scope, ids, apart=level == "band")]
    if level.startswith("words"):
        count = int(level[-1])
        return _classes(
            scope,
            ids,
            lambda each: (scope.layer[each], _first_words(scope.step(each).goal, count)),
            2,
            "words",
        )
    closed = level == "closed"
    least = MOST_LANES + 1 if level == "many alike" else 3
    units = _classes(
        scope,
        ids,
        lambda each: _alike(scope, each) if closed or not scope.step(each).is_construct else (each,),
        least,
        "alike",
    )
    if level in {"group", "outer group", "closed"}:
        units = _grouped(scope, units, whole=level == "group")
    if closed:
        units = [
            _unit(scope, (unit,), "closed")
            if isinstance(unit, str) and scope.step(unit).is_construct and unit not in scope.kept
            else unit
            for unit in units
        ]
    return units


def _unit(scope: _Scope, members: Sequence[str], why: str) -> Unit:
    """The step alone, or a fold of several; a construct alone only where it is to be closed."""
    if len(members) == 1 and (why != "closed" or not scope.step(members[0]).is_construct):
        return members[0]
    steps: list[str] = []
    waiting = list(reversed(members))
    while waiting:
        step_id = waiting.pop()
        steps.append(step_id)
        waiting += reversed(scope.step(step_id).body or ())
    ranks = [scope.layer[each] for each in members]
    return Fold(f"{members[0]}+{len(steps)}", why, tuple(members), tuple(steps), (min(ranks), max(ranks)))


def _classes(
    scope: _Scope, ids: Iterable[str], key: Callable[[str], object], least: int, why: str
) -> list[Unit]:
    classes: dict[object, list[str]] = {}
    for step_id in ids:
        classes.setdefault(step_id if step_id in scope.kept else key(step_id), []).append(step_id)
    found: list[Unit] = []
    for members in classes.values():
        if len(members) >= least:
            found.append(_unit(scope, members, why))
        else:
            found += members
    return found


def _alike(scope: _Scope, step_id: str) -> tuple[object, ...]:
    step = scope.step(step_id)
    return (
        step.type,
        step.group,
        frozenset(step.depends_on),
        frozenset(scope.plan.dependents.get(step_id, ())),
    )


def _first_words(goal: str, count: int) -> str:
    """What a goal begins with; figures count alike, so that "sort_12" and "sort_13" do."""
    return _DIGITS.sub("#", " ".join(goal.split(maxsplit=count)[:count]).casefold())


# -- Groups ------------------------------------------------------------------------------------------


def _grouped(scope: _Scope, units: list[Unit], *, whole: bool) -> list[Unit]:
    """Units of one group as one unit; by the ``whole`` path, or by its first part."""
    groups: dict[str, list[int]] = defaultdict(list)
    for place, unit in enumerate(units):
        path = _group_of(scope, unit)
        if path:
            groups[path if whole else path.split("/")[0]].append(place)
    if not groups:
        return units
    owner = {step_id: place for place, unit in enumerate(units) for step_id in _members(unit)}
    after = [set[int]() for _ in units]
    for step_id, place in owner.items():
        for needed in scope.step(step_id).depends_on:
            source = owner.get(needed)
            if source is not None and source != place:
                after[source].add(place)
    at = list(range(len(units)))  # where each unit went
    for places in groups.values():
        if len(places) > 1 and not _comes_back(after, at, set(places)):
            for place in places[1:]:
                at[place] = places[0]
    joined: dict[int, list[str]] = defaultdict(list)
    for place, unit in enumerate(units):
        joined[at[place]] += _members(unit)
    return [
        unit if len(joined[place]) == len(_members(unit)) else _unit(scope, joined[place], "group")
        for place, unit in enumerate(units)
        if at[place] == place
    ]


def _members(unit: Unit) -> tuple[str, ...]:
    return (unit,) if isinstance(unit, str) else unit.members


def _group_of(scope: _Scope, unit: Unit) -> str | None:
    if unit in scope.kept:
        return None
    paths = {scope.step(each).group for each in _members(unit)}
    return paths.pop() if len(paths) == 1 else None


def _comes_back(after: list[set[int]], at: list[int], places: set[int]) -> bool:
    """Whether a path leaves ``places`` and comes back, with what is joined already counted as one."""
    inside: dict[int, list[int]] = defaultdict(list)
    for place, joined in enumerate(at):
        inside[joined].append(place)
    seen: set[int] = set()
    frontier = [at[follower] for place in places for follower in after[place] if at[follower] not in places]
    while frontier:
        current = frontier.pop()
        if current in seen:
            continue
        seen.add(current)
        for place in inside[current]:
            for follower in after[place]:
                if follower in places:
                    return True
                frontier.append(at[follower])
    return False


# -- Ranks -------------------------------------------------------------------------------------------


def layers(plan: Plan, ids: Sequence[str]) -> dict[str, int]:
    """The longest way to each step of one scope (or part of one), counted in steps."""
    among = set(ids)
    layer: dict[str, int] = {}
    for step_id in sorted(ids, key=lambda each: plan.rank.get(each, 0)):
        layer[step_id] = max(
            (
                layer[needed] + 1
                for needed in plan.by_id[step_id].depends_on
                if needed in among and needed in layer
            ),
            default=0,
        )
    return layer


def _bands(scope: _Scope, ids: Sequence[str], *, apart: bool) -> list[list[str]]:
    """Steps by runs of neighbouring ranks; ``apart``: those of a run that no edge joins are told apart."""
    ranks = sorted({scope.layer[each] for each in ids})
    size = -(-len(ranks) // _BANDS)
    alone = {scope.layer[each] for each in ids if each in scope.kept}
    band: dict[int, int] = {}
    current = held = 0
    for place, rank in enumerate(ranks):
        # The rank of a kept step is a band of its own: what is joined around it must not be joined past it.
        if held == size or (held and (rank in alone or ranks[place - 1] in alone)):
            current, held = current + 1, 0
        band[rank] = current
        held += 1
    root = {step_id: step_id for step_id in ids}

    def find(step_id: str) -> str:
        while root[step_id] != step_id:
            root[step_id] = root[root[step_id]]
            step_id = root[step_id]
        return step_id

    first: dict[int, str] = {}
    for step_id in ids:
        if step_id in scope.kept:
            continue
        mine = band[scope.layer[step_id]]
        if not apart:
            root[find(step_id)] = find(first.setdefault(mine, step_id))
            continue
        for needed in scope.step(step_id).depends_on:
            if needed in root and needed not in scope.kept and band[scope.layer[needed]] == mine:
                root[find(step_id)] = find(needed)
    joined: dict[str, list[str]] = {}
    for step_id in ids:
        joined.setdefault(find(step_id), []).append(step_id)
    return [sorted(members, key=lambda each: scope.layer[each]) for members in joined.values()]
