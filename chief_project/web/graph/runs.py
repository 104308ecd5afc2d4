"""The scene of a run: the plan it goes by, with what happened to each step, branch and iteration."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from chief_project.web.graph import words
from chief_project.web.graph.folding import MOST_LANES, Fold, Folding, Unit
from chief_project.web.graph.parts import (
    Links,
    assemble,
    box,
    facts_text,
    filled,
    first_facts,
    fold_box,
    fold_title,
    head_width,
    loop_lines,
    step_width,
    title,
    value_text,
)
from chief_project.web.graph.plans import container
from chief_project.web.graph.scene import HEAD, Badge, Count, Lane, Named, Node, Scope
from chief_project.web.graph.text import plain, spoken
from runs.domain.paths import parameters_of
from workflows.domain.plan import Plan, Step

State = Mapping[str, Any]

TALLY_WIDTH = 260
NAMED = 6  # of many, how many are told by name
_ROW = 21
_OVER = frozenset({"completed", "failed", "skipped"})
TALLY_HEIGHT = HEAD + 80 + len(words.TOLD) * _ROW + 8 + NAMED * 20 + 4
_FEW_TALLIES = 4  # where more folds are of many, each stays a small box


@dataclass(frozen=True)
class Place:
    """Where in the run a scope is: the path to it, and what the instances on it brought, outermost first."""

    path: tuple[str, ...] = ()
    brought: tuple[Mapping[str, Any], ...] = ()
    construct: Step | None = None
    home: str = ""  # where the boxes of a body that has no instance lead, …
    bare: str = "pending"  # … and the state they are told in: they have none of their own

    def of(self, step_id: str) -> str:
        """A step's path."""
        return "/".join((*self.path, step_id))


def times_drawn(run: State) -> dict[str, int]:
    """How often each construct's body is drawn, at most: its branches as lanes; not at all where they are too many."""
    found: dict[str, int] = {}
    waiting: list[State] = [run.get("step_states") or {}]
    while waiting:
        for step_id, state in waiting.pop().items():
            instances = state.get("instances")
            if not instances:
                continue
            if instances[0]["kind"] == "iteration":
                waiting.append(instances[-1]["step_states"])
                continue
            lanes = len(instances) if len(instances) <= MOST_LANES else 0
            found[step_id] = max(found.get(step_id, 0), lanes)
            if lanes:
                waiting += [instance["step_states"] for instance in instances]
    return found


def run_scene(plan: Plan, run: State, folding: Folding, links: Links, voice: words.Voice) -> Scope:
    """Boxes for the whole run."""
    return _Run(plan, folding, links, voice).scope(None, run.get("step_states") or {}, None, Place())


@dataclass(frozen=True)
class _Run:
    plan: Plan
    folding: Folding
    links: Links
    voice: words.Voice

    def scope(
        self, construct: Step | None, states: Mapping[str, State], body: Sequence[str] | None, place: Place
    ) -> Scope:
        """One scope; ``body`` are the steps an instance was spawned with, None for those of the plan."""
        units = self._units(construct, states, body)
        wide = step_width(self.folding.widest[None if construct is None else construct.id])
        if construct is not None and construct.type == "parallel" and place.path:
            wide = min(wide, 160)
        values = parameters_of(self.plan, place.path, place.brought)
        nodes = [self._node(unit, wide, states, place, values) for unit in units]
        done = [node.state == "completed" for node in nodes]
        return assemble(
            self.plan,
            units,
            nodes,
            around=None if construct is None else construct.group,
            kind=lambda tail, _: "done" if done[tail] else "",
            opened=self.folding.opened,
        )

    def _units(
        self, construct: Step | None, states: Mapping[str, State], body: Sequence[str] | None
    ) -> tuple[Unit, ...]:
        units = self.folding.scopes[None if construct is None else construct.id]
        if body is None:
            return units
        mine = set(body)
        found: list[Unit] = []
        for unit in units:
            if isinstance(unit, str):
                found += [unit] if unit in mine else []
                continue
            members = tuple(each for each in unit.members if each in mine)
            if len(members) > 1:
                found.append(
                    unit if members == unit.members else replace(unit, members=members, steps=members)
                )
            else:
                found += members
        planned = set(self.plan.scope(None if construct is None else construct.id))
        kept = [each for each in body if each not in planned and not _removed(states.get(each))]
        return (*found, *kept)

    def _node(
        self, unit: Unit, wide: int, states: Mapping[str, State], place: Place, values: Mapping[str, Any]
    ) -> Node:
        if not isinstance(unit, str):
            return self._fold(unit, wide, states, place)
        step = self.plan.by_id.get(unit) or Step(unit, "task", "")
        state = states.get(unit)
        path = place.of(unit) if not place.home else f"{place.home}/*/{unit}"
        href = self.links.href(place.home or path)
        goal = filled(step.goal, values)
        if step.is_construct:
            node = self._construct(step, state, path, href, goal, place)
            if step.type == "loop":
                node.again = loop_lines(filled(step.exit_when or "", values))
        else:
            node = box(step, id=path, href=href, wide=wide, goal=goal, small=wide < 200)
        node.values = values
        if place.home:
            node.covers = frozenset({unit})
        tell(node, {"status": place.bare} if place.home else state, self.voice)
        return node

    def _construct(
        self, step: Step, state: State | None, path: str, href: str, goal: str, place: Place
    ) -> Node:
        instances: Sequence[State] = (state or {}).get("instances") or ()
        if not instances:
            # Of a construct that is over without an instance, the body never comes to pass.
            bare = "skipped" if (state or {}).get("status") in _OVER else place.bare
            inner = self.scope(
                step, {}, None, Place(place.path, place.brought, step, place.home or path, bare)
            )
            node = container(step, id=path, href=href, scope=inner)
            _make_bare(inner, bare, self.voice)
        elif step.type == "loop":
            node = self._loop(step, instances, path, href, place)
        elif len(instances) > MOST_LANES:
            node = self._tally(step, instances, path, href)
        else:
            node = Node(
                id=path, href=href, shape="parallel", name=step.id, goal=goal, width=0, height=0,
                lanes=[self._lane(step, instance, path, place) for instance in instances],
            )  # fmt: skip
            _level(node.lanes)
        node.goal = spoken(goal)
        if node.shape == "tally":
            node.width = self._tally_width(goal)
        else:
            node.width = max(node.width, head_width(step.id, goal, self.voice.state("completed") + "      "))
        return node

    def _tally_width(self, goal: str) -> int:
        """So that its title can be read beside what it may come to say on the right."""
        return max(TALLY_WIDTH, head_width("", goal, self.voice.inside(88) + "      "))

    def _inside(self, step: Step, instance: State, path: str, place: Place) -> Scope:
        inner = Place(
            (*place.path, step.id, instance["instance_id"]),
            (*place.brought, instance.get("metadata") or {}),
            step,
        )
        return self.scope(step, instance.get("step_states") or {}, instance.get("body"), inner)

    def _lane(self, step: Step, instance: State, path: str, place: Place) -> Lane:
        told, word = self._shown(instance)
        own = f"{path}/{instance['instance_id']}"
        name, short = instance_name(step, instance), instance_name(step, instance, named=False)
        named = {param.name for param in step.instance_params} if name != instance["instance_id"] else set()
        metadata = instance.get("metadata") or {}
        rest = (
            {key: value for key, value in metadata.items() if key not in named} if len(metadata) > 1 else {}
        )
        return Lane(
            self._inside(step, instance, path, place),
            head=name,
            short=short,
            title=name + _facts_line(instance),
            state=told,
            word=word,
            href=self.links.href(own),
            id=own,
            facts=_facts_badge(rest),
        )

    def _shown(self, instance: State) -> tuple[str, str]:
        """What its own mark says, and in words: what is stale doesn't count, and what failed and was tolerated needs
        eyes, though its branch is completed.
        """
        if instance.get("stale"):
            return "stale", self.voice.state("stale")
        told, failures = instance_state(instance), instance.get("failures")
        word = self.voice.state(told)
        if not failures:
            return told, word
        return "failed" if told == "completed" else told, words.with_failures(word, failures)

    def _loop(self, step: Step, instances: Sequence[State], path: str, href: str, place: Place) -> Node:
        latest = instances[-1]
        node = Node(
            id=path, href=href, shape="loop", name=step.id, goal=spoken(step.goal), width=0, height=0,
            lanes=[
                Lane(
                    self._inside(step, latest, path, place),
                    id=f"{path}/{latest['instance_id']}",
                    state=self._shown(latest)[0],
                )
            ],
            about=words.iterations_word(len(instances)),
        )  # fmt: skip
        if len(instances) > 1:
            node.backs = 1
            for instance in instances[-12:]:
                told, word = self._shown(instance)
                own = f"{path}/{instance['instance_id']}"
                node.past.append(Named(told, word, str(instance["index"] + 1), self.links.href(own), own))
        return node

    def _tally(self, step: Step, instances: Sequence[State], path: str, href: str) -> Node:
        told = [instance_state(instance) for instance in instances]
        names = [param.name for param in step.instance_params]
        node = Node(
            id=path, href=href, shape="tally", name=step.id, goal=spoken(step.goal), width=TALLY_WIDTH,
            height=TALLY_HEIGHT, total=len(instances), about=words.branches_word(len(instances), names), backs=1,
            counts=self._counts(Counter(told), path),
        )  # fmt: skip

        def named(number: int) -> Named:
            own = f"{path}/{instances[number]['instance_id']}"
            name = instance_name(step, instances[number])
            failures = instances[number].get("failures")
            word = self.voice.state(told[number])
            word = words.with_failures(word, failures) if failures else word
            return Named(eyes[number], word, name, self.links.href(own), own)

        # What failed and was tolerated needs eyes as well, though its branch is completed.
        eyes = [
            "failed" if state == "completed" and instance.get("failures") else state
            for state, instance in zip(told, instances, strict=True)
        ]
        node.named, node.more = _named(eyes, named)
        if stale := sum(bool(instance.get("stale")) for instance in instances):
            node.badges.append(Badge("stale", stale, f"{stale} {self.voice.state('stale')}"))
        return node

    def _by_name(self, fold: Fold, told: Sequence[str]) -> str:
        """What needs eyes in a small box of many, where there is no room to draw it."""
        lines = []
        for state in ("waiting", "failed", "running"):
            names = [member for member, each in zip(fold.members, told, strict=True) if each == state]
            if names:
                more = f" {words.more_word(len(names) - NAMED)}" if len(names) > NAMED else ""
                lines.append(f"{self.voice.state(state)}: {', '.join(names[:NAMED])}{more}")
        return "\n".join(lines)

    def _counts(self, counts: Mapping[str, int], path: str) -> list[Count]:
        link = self.links.counted
        return [
            Count(state, counts.get(state, 0), self.voice.counted(state), link(path, state) if link else None)
            for state in words.TOLD
        ]

    def _fold(self, fold: Fold, wide: int, states: Mapping[str, State], place: Place) -> Node:
        told = [place.bare if place.home else step_state(states.get(each)) for each in fold.members]
        counts = Counter(told)
        stale = sum(1 for each in fold.members if (states.get(each) or {}).get("stale"))
        own = "/".join((*place.path, fold.id))
        covers = frozenset(place.of(each) for each in fold.members) | frozenset(fold.steps)
        many = sum(len(each.members) > MOST_LANES for each in self.folding.folds) <= _FEW_TALLIES
        if many and len(fold.members) > MOST_LANES:
            goal = title(fold_title(self.plan, fold))
            node = Node(
                id=own, href=self.links.open_href(fold.id), shape="tally", name="", goal=spoken(goal),
                width=self._tally_width(goal), height=TALLY_HEIGHT, total=len(fold.steps), backs=1, covers=covers,
                icon="fold", hides=fold.steps, about=words.steps_word(len(fold.steps)).split(" ", 1)[-1], counts=self._counts(counts, own),
            )  # fmt: skip

            def named(number: int) -> Named:
                path = place.of(fold.members[number])
                word = self.voice.state(told[number])
                return Named(told[number], word, fold.members[number], self.links.href(path), path)

            node.named, node.more = _named(told, named)
        else:
            node = fold_box(self.plan, fold, id=own, links=self.links, wide=wide, small=wide < 200)
            node.covers = covers
            node.counts = self._counts(counts, own)
            node.facts = self._by_name(fold, told)
        # What is looked at first, and how many where not all; where all is over, what was done before what wasn't.
        node.state = next(state for state in words.STATES if counts.get(state))
        if node.state == "skipped" and counts.get("completed"):
            node.state = "completed"
        node.word = self.voice.state(node.state)
        if counts[node.state] < len(told):
            node.word = f"{words.number(counts[node.state])} {self.voice.counted(node.state)}"
        if stale:
            node.badges.append(Badge("stale", stale, f"{stale} {self.voice.state('stale')}"))
        return node


def tell(node: Node, state: State | None, voice: words.Voice) -> None:
    """Write on a box what happened to its step."""
    told = step_state(state)
    node.state = told
    node.word = voice.state(told)
    if state is None:
        return
    inside = _waiting_inside(state)
    failures = state.get("failures")
    if failures and node.shape == "tally":
        for count in node.counts:
            if count.state == "completed":
                count.word = words.with_failures(count.word, failures)
    if inside and state.get("instances"):
        node.word = voice.inside(inside)
    elif failures and node.shape != "tally":
        node.word = words.with_failures(node.word, failures)
    if state.get("stale"):
        node.stale = True
        node.word = voice.state("stale")
    metadata = state.get("metadata") or {}
    if facts := _facts_badge(metadata):
        node.badges.append(facts)
        node.facts = facts_text(metadata)
    node.icon = None


def step_state(state: State | None) -> str:
    """A step's state as it is drawn: what waits for a person inside a construct makes the construct wait."""
    if state is None:
        return "pending"
    status = str(state.get("status") or "pending")
    if status == "blocked":
        return "waiting"
    if status == "running" and state.get("instances") and _waiting_inside(state):
        return "waiting"
    return status


def instance_state(instance: State) -> str:
    """The same for a branch or an iteration."""
    status = str(instance.get("status") or "pending")
    if status == "running" and any(_waiting_inside(each) for each in instance["step_states"].values()):
        return "waiting"
    return status


def _waiting_inside(state: State) -> int:
    """How many steps wait for a person, in ``state`` or below."""
    if state.get("status") == "blocked":
        return 1
    if state.get("status") not in {"running", "failed"}:
        return 0
    return sum(
        _waiting_inside(inner)
        for instance in state.get("instances") or ()
        for inner in instance["step_states"].values()
    )


def instance_name(step: Step, instance: State, *, named: bool = True) -> str:
    """What a branch is called: its parameters (``named``: with what they are), else the id it has."""
    metadata = instance.get("metadata") or {}
    names = [param.name for param in step.instance_params if param.name in metadata]
    if not names and len(metadata) == 1:
        names = list(metadata)
    said = ", ".join((f"{plain(name[:80])}=" if named else "") + value_text(metadata[name]) for name in names)
    return said or str(instance["instance_id"])


def _facts_badge(metadata: Mapping[str, Any]) -> Badge | None:
    if not metadata:
        return None
    said = words.facts_word(len(metadata))
    return Badge("braces", len(metadata), said, first_facts(metadata))


def _facts_line(instance: State) -> str:
    metadata = instance.get("metadata") or {}
    return f"\n{facts_text(metadata)}" if metadata else ""


def _level(lanes: Sequence[Lane]) -> None:
    """Boxes of one step as high in each lane, so that lanes are read across."""
    highest: dict[str, int] = {}
    for lane in lanes:
        for node in lane.scope.nodes:
            highest[node.name] = max(highest.get(node.name, 0), node.height)
    for lane in lanes:
        for node in lane.scope.nodes:
            if not node.lanes and node.shape != "tally":
                node.height = highest[node.name]


def _named(told: Sequence[str], named: Any) -> tuple[list[Named], str]:
    """What waits, failed and runs, by name as far as there is room, some of each; and a word about the rest."""
    alike = [
        [number for number, each in enumerate(told) if each == state]
        for state in ("waiting", "failed", "running")
    ]
    in_turn = sorted(
        (turn, kind, number) for kind, each in enumerate(alike) for turn, number in enumerate(each)
    )
    shown = sorted((kind, number) for _, kind, number in in_turn[:NAMED])
    rest = len(in_turn) - NAMED
    return [named(number) for _, number in shown], words.more_word(rest) if rest > 0 else ""


def _removed(state: State | None) -> bool:
    return state is None or state.get("skip_cause") == "removed"


def _make_bare(scope: Scope, state: str, voice: words.Voice) -> None:
    for node in _nodes(scope):
        if node.state is None:
            node.state, node.word = state, voice.state(state)


def _nodes(scope: Scope) -> Iterable[Node]:
    for node in scope.nodes:
        yield node
        for lane in node.lanes:
            yield from _nodes(lane.scope)
