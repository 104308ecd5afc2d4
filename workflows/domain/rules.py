"""The rules a plan keeps (contract 2, rules 1 to 7, and contract 12's rule on groups). Pure.

Judged on submission, on revision, on template creation and on the plan after an amendment. Every check is a loop
over what is there: no recursion, and time that grows linearly with steps and edges. A plan that breaks the rules in
several ways is judged as a whole, so nothing here trusts that ids are unique or known; where an id stands twice,
its first step is the one that others mean.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from chief_project.shared.errors import ValidationFailed
from workflows.domain.plan import Field, Group, InstanceParam, Plan, Step

DEEPEST_BODY = 64
DEEPEST_GROUP = 64
LONGEST_GROUP = 1_000
MOST_PROBLEMS_SHOWN = 50
_MOST_NAMED = 12


@dataclass(frozen=True, slots=True)
class Problem:
    """One rule that is broken: where (a JSON pointer into the submitted document) and what to do."""

    pointer: str
    message: str


def ensure_valid(plan: Plan) -> None:
    """Raise ``ValidationFailed`` when the plan breaks a rule.

    ``details``: ``pointer`` of the first problem, ``errors`` (at most 50 ``{pointer, message}``), and ``more``, how
    many were left out, when some were.
    """
    found = problems(plan)
    if found:
        raise refusal(found)


def refusal(found: list[Problem]) -> ValidationFailed:
    """Problems as one refusal; see ``ensure_valid`` for its details."""
    shown = found[:MOST_PROBLEMS_SHOWN]
    said = list(dict.fromkeys(problem.message for problem in found))
    message = "; ".join(said[:3])
    if len(said) > 3:
        message += f"; and {len(said) - 3} more"
    details: dict[str, Any] = {
        "pointer": found[0].pointer,
        "errors": [{"pointer": problem.pointer, "message": problem.message} for problem in shown],
    }
    if len(found) > len(shown):
        details["more"] = len(found) - len(shown)
    return ValidationFailed(message, **details)


def problems(plan: Plan) -> list[Problem]:
    """Everything that is wrong with the plan, rule by rule, each in plan order; empty when it keeps the rules."""
    if not plan.steps:
        return [Problem("/steps", "a plan needs at least one step")]
    first = _first_places(plan.steps)
    holder = _holders(plan.steps, first)
    return list(
        chain(
            _duplicate_ids(plan.steps, first),
            chain.from_iterable(_shape(place, step) for place, step in enumerate(plan.steps)),
            _bodies(plan.steps, first, holder),
            _nesting(plan.steps, first, holder),
            _dependencies(plan.steps, first, holder),
            _groups(plan.steps, plan.groups),
        )
    )


def group_path_problem(path: str) -> str | None:
    """What is wrong with a display path, or None: names separated by single slashes, none of them blank."""
    names = path.split("/")
    if not all(name.strip() for name in names):
        return "must be names separated by single slashes, such as 'a/b', without a blank one"
    if len(names) > DEEPEST_GROUP:
        return f"nests more than {DEEPEST_GROUP} deep"
    if len(path) > LONGEST_GROUP:
        return f"has more than {LONGEST_GROUP:,} characters"
    return None


def _first_places(steps: tuple[Step, ...]) -> dict[str, int]:
    """Where each id stands first."""
    first: dict[str, int] = {}
    for place, step in enumerate(steps):
        first.setdefault(step.id, place)
    return first


def _holders(steps: tuple[Step, ...], first: dict[str, int]) -> dict[str, str]:
    """For each known step in a body, the construct that lists it (the first one, should several)."""
    holder: dict[str, str] = {}
    for step in steps:
        for member in step.body or () if step.is_construct else ():
            if member in first and member != step.id:
                holder.setdefault(member, step.id)
    return holder


def _duplicate_ids(steps: tuple[Step, ...], first: dict[str, int]) -> Iterator[Problem]:
    for place, step in enumerate(steps):
        if first[step.id] != place:
            yield Problem(
                f"/steps/{place}/id",
                f"duplicate step id '{step.id}': step {first[step.id] + 1} has it already; give each its own",
            )


def _shape(place: int, step: Step) -> Iterator[Problem]:
    """Rules 2, 5, 6 and 7: which keys a type of step may carry, and names that stand once."""
    at = f"/steps/{place}"
    if step.is_construct:
        if not step.body:
            yield Problem(
                f"{at}/body",
                f"{step.type} '{step.id}' needs a non-empty body: list the steps that run once per instance",
            )
    else:
        kind = f"{step.type} '{step.id}'"
        if step.body is not None:
            yield Problem(f"{at}/body", f"{kind} must not have a body: it applies only to loop/parallel")
        if step.on_instance_failure is not None:
            yield Problem(
                f"{at}/on_instance_failure",
                f"on_instance_failure applies only to loop/parallel, and '{step.id}' is a {step.type}",
            )
        if step.instance_params:
            yield Problem(
                f"{at}/instance_params",
                f"{kind} must not have instance_params: they apply only to loop/parallel",
            )
    if step.exit_when is not None and step.type != "loop":
        yield Problem(f"{at}/exit_when", f"exit_when applies only to loop, and '{step.id}' is a {step.type}")
    if step.criteria and step.type != "task":
        yield Problem(
            f"{at}/criteria",
            f"criteria apply only to task steps, and '{step.id}' is a {step.type}",
        )
    if step.type == "checkpoint" and step.harness != "human":
        yield Problem(
            f"{at}/harness", f"checkpoint '{step.id}' is decided by a person: its harness must be 'human'"
        )
    if step.fields and step.type != "checkpoint":
        yield Problem(f"{at}/fields", f"fields apply only to checkpoints, and '{step.id}' is a {step.type}")
    for twice in _repeats(step.fields):
        yield Problem(
            f"{at}/fields/{twice}/name",
            f"'{step.id}' asks for the same field twice: '{step.fields[twice].name}'",
        )
    for twice in _repeats(step.instance_params):
        yield Problem(
            f"{at}/instance_params/{twice}/name",
            f"'{step.id}' names the same instance parameter twice: '{step.instance_params[twice].name}'",
        )


def _repeats(named: Sequence[Field | InstanceParam]) -> list[int]:
    """The places of names that stood before."""
    if len(named) < 2:
        return []
    first = {each.name: place for place, each in reversed(list(enumerate(named)))}
    return [place for place, each in enumerate(named) if first[each.name] != place]


def _bodies(steps: tuple[Step, ...], first: dict[str, int], holder: dict[str, str]) -> Iterator[Problem]:
    """Rules 2 and 3: body ids are known, other than the construct, listed once, and in one body only."""
    for place, step in enumerate(steps):
        if not step.is_construct:
            continue
        seen: set[str] = set()
        for index, member in enumerate(step.body or ()):
            at = f"/steps/{place}/body/{index}"
            if member in seen:
                yield Problem(at, f"the body of '{step.id}' lists '{_short(member)}' twice")
            elif member not in first:
                yield Problem(at, f"the body of '{step.id}' names an unknown step '{_short(member)}'")
            elif member == step.id:
                yield Problem(at, f"the body of '{step.id}' lists '{step.id}' itself: a containment cycle")
            elif holder[member] != step.id:
                yield Problem(
                    at,
                    f"'{member}' is in more than one body: '{holder[member]}' and '{step.id}'; a step runs in one",
                )
            seen.add(member)


def _nesting(steps: tuple[Step, ...], first: dict[str, int], holder: dict[str, str]) -> Iterator[Problem]:
    """Rules 3 and 7: containment is a forest, and not more than 64 deep.

    Each step has one holder at most, so walking up from every step, and stopping at what was met before, meets each
    step once.
    """
    depth: dict[str, int] = {}  # how many constructs are around a step; absent while unknown
    endless: set[str] = set()  # on a cycle, or below one
    for step in steps:
        walk: list[str] = []
        on_walk: set[str] = set()
        current: str | None = step.id
        while current is not None and current not in depth and current not in endless:
            if current in on_walk:
                cycle = walk[walk.index(current) :][::-1]
                yield _cycle(
                    "containment cycle", cycle, first, "body", "take one of them out of the other's body"
                )
                endless.update(walk)
                break
            walk.append(current)
            on_walk.add(current)
            current = holder.get(current)
        if current is not None and current in endless:
            endless.update(walk)
            continue
        around = -1 if current is None else depth[current]
        for met in reversed(walk):
            around += 1
            depth[met] = around
    for place, step in enumerate(steps):
        if step.is_construct and depth.get(step.id) == DEEPEST_BODY and first[step.id] == place:
            yield Problem(
                f"/steps/{place}/body",
                f"bodies are nested more than {DEEPEST_BODY} deep at '{step.id}': flatten the plan",
            )


def _dependencies(
    steps: tuple[Step, ...], first: dict[str, int], holder: dict[str, str]
) -> Iterator[Problem]:
    """Rule 4: dependencies are known, other than the step, named once, of its scope, and without a cycle."""
    needs: list[list[int]] = []
    for place, step in enumerate(steps):
        scope = holder.get(step.id)
        kept: dict[str, int] = {}
        for index, needed in enumerate(step.depends_on):
            at = f"/steps/{place}/depends_on/{index}"
            if needed not in first:
                yield Problem(at, f"'{step.id}' depends on an unknown step '{_short(needed)}'")
            elif needed == step.id:
                yield Problem(at, f"'{step.id}' depends on itself: a dependency cycle")
            elif needed in kept:
                yield Problem(at, f"'{step.id}' names the same dependency twice: '{needed}'")
            elif holder.get(needed) != scope:
                yield Problem(
                    at,
                    f"'{step.id}' ({_where(scope)}) depends on '{needed}' ({_where(holder.get(needed))}): a"
                    " dependency must be in the same scope; let the constructs around them depend on each other",
                )
            else:
                kept[needed] = first[needed]
        needs.append(list(kept.values()))
    for cycle in _cycles(needs):
        names = [steps[place].id for place in cycle]
        yield _cycle("dependency cycle", names, first, "depends_on", "drop one of these dependencies")


def _short(name: str) -> str:
    """A name that may be no id, and so as long as a body may be."""
    return name if len(name) <= 200 else f"{name[:200]}…"


def _where(scope: str | None) -> str:
    return "top level" if scope is None else f"body of '{scope}'"


def _cycles(needs: list[list[int]]) -> Iterator[list[int]]:
    """Cycles among what is left when every node whose needs are met has been taken away: one at least, if any.

    Each is a list in which every node needs the next one, and the last the first.
    """
    unmet = [len(each) for each in needs]
    dependents: list[list[int]] = [[] for _ in needs]
    for node, each in enumerate(needs):
        for needed in each:
            dependents[needed].append(node)
    ready = [node for node, count in enumerate(unmet) if not count]
    while ready:
        for dependent in dependents[ready.pop()]:
            unmet[dependent] -= 1
            if not unmet[dependent]:
                ready.append(dependent)
    met: set[int] = set()
    for start, count in enumerate(unmet):
        walk: list[int] = []
        place_on_walk: dict[int, int] = {}
        node = start
        while (
            count and node not in met
        ):  # everything left needs something left, so the walk goes on until it meets
            met.add(node)
            place_on_walk[node] = len(walk)
            walk.append(node)
            node = next(needed for needed in needs[node] if unmet[needed])
        if node in place_on_walk:
            yield walk[place_on_walk[node] :]


def _cycle(phrase: str, names: list[str], first: dict[str, int], key: str, remedy: str) -> Problem:
    """A cycle as a problem, told from its first step in the plan; a long one is cut short."""
    start = min(range(len(names)), key=lambda place: first[names[place]])
    told = names[start:] + names[:start]
    shown = [f"'{name}'" for name in told]
    if len(shown) > _MOST_NAMED:
        shown = [*shown[: _MOST_NAMED - 1], f"… ({len(names):,} steps in all)"]
    return Problem(f"/steps/{first[told[0]]}/{key}", f"{phrase}: {' → '.join([*shown, shown[0]])}; {remedy}")


def _groups(steps: tuple[Step, ...], groups: tuple[Group, ...]) -> Iterator[Problem]:
    """Contract 12: a described path is a step's group or a parent of one; paths are sane and described once."""
    used: set[str] = set()
    wrong: dict[str, str | None] = {}
    for place, step in enumerate(steps):
        if step.group is None:
            continue
        if step.group not in wrong:
            wrong[step.group] = group_path_problem(step.group)
            if wrong[step.group] is None:
                used.update(with_parents(step.group))
        if wrong[step.group] is not None:
            yield Problem(
                f"/steps/{place}/group", f"the group of '{step.id}', '{step.group[:80]}', {wrong[step.group]}"
            )
    described: set[str] = set()
    for place, group in enumerate(groups):
        at = f"/groups/{place}/path"
        if group.path in described:
            yield Problem(at, f"the group '{group.path[:80]}' is described twice")
        elif group.path not in used:
            yield Problem(
                at,
                f"the group '{group.path[:80]}' is neither a step's group nor a parent of one: use a path that a"
                " step's 'group' names, or leave the description out",
            )
        described.add(group.path)


def with_parents(path: str) -> Iterator[str]:
    """A display path's parents from the outside in, then the path: ``a/b`` gives ``a``, ``a/b``."""
    end = path.find("/")
    while end >= 0:
        yield path[:end]
        end = path.find("/", end + 1)
    yield path


def group_paths(steps: Iterable[Step]) -> set[str]:
    """Every path that may be described: the steps' groups and their parents."""
    return set(
        chain.from_iterable(with_parents(path) for path in {s.group for s in steps if s.group is not None})
    )
