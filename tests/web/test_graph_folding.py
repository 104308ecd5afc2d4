"""Folding: however hard a plan is folded, nothing of it is lost and the boxes have no cycle."""

from collections.abc import Iterable

from hypothesis import given, settings
from hypothesis import strategies as st

from chief_project.web.graph.folding import MOST_BOXES, Fold, Folding, Unit, fold_plan
from chief_project.web.graph.scene import reduced
from workflows.domain.plan import Plan, Step


def plan_of(
    count: int,
    edges: Iterable[tuple[int, int]],
    *,
    bodies: dict[int, list[int]] | None = None,
    groups: dict[int, str] | None = None,
    goals: str = "Do part",
) -> Plan:
    """Steps ``s0`` …; an edge ``(a, b)`` lets b wait for a, where both are in one scope."""
    bodies, groups = bodies or {}, groups or {}
    home = {member: construct for construct, members in bodies.items() for member in members}
    waits: dict[int, list[str]] = {}
    for tail, head in sorted(set(edges)):
        if tail < head and home.get(tail) == home.get(head):
            waits.setdefault(head, []).append(f"s{tail}")
    return Plan(
        tuple(
            Step(
                f"s{number}",
                ("loop" if number % 2 else "parallel") if number in bodies else "task",
                f"{goals} {number}",
                depends_on=tuple(waits.get(number, ())),
                body=tuple(f"s{member}" for member in bodies[number]) if number in bodies else None,
                group=groups.get(number),
            )
            for number in range(count)
        )
    )


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    count = draw(st.integers(1, 60))
    numbers = st.integers(0, count - 1)
    edges = draw(st.lists(st.tuples(numbers, numbers), max_size=120))
    home: dict[int, int] = {}
    for member, construct in draw(st.lists(st.tuples(numbers, numbers), max_size=12)):
        if construct < member and construct % 5 == 0:
            home.setdefault(member, construct)
    bodies: dict[int, list[int]] = {}
    for member, construct in home.items():
        bodies.setdefault(construct, []).append(member)
    groups = draw(st.dictionaries(numbers, st.sampled_from(["a", "a/b", "a/c", "d"]), max_size=30))
    return plan_of(count, edges, bodies=bodies, groups=groups, goals=draw(st.sampled_from(["Do", "Do the"])))


def boxed(folding: Folding) -> list[str]:
    found = []
    for units in folding.scopes.values():
        for unit in units:
            found += [unit] if isinstance(unit, str) else unit.steps
    return found


def has_cycle(plan: Plan, units: tuple[Unit, ...]) -> bool:
    owner = {
        each: place
        for place, unit in enumerate(units)
        for each in ((unit,) if isinstance(unit, str) else unit.members)
    }
    after: dict[int, set[int]] = {place: set() for place in range(len(units))}
    for step_id, place in owner.items():
        for needed in plan.by_id[step_id].depends_on:
            if owner[needed] != place:
                after[owner[needed]].add(place)
    waiting = [0] * len(units)
    for heads in after.values():
        for head in heads:
            waiting[head] += 1
    ready = [place for place in after if not waiting[place]]
    for place in ready:
        for head in after[place]:
            waiting[head] -= 1
            if not waiting[head]:
                ready.append(head)
    return len(ready) < len(units)


@settings(max_examples=150, deadline=None)
@given(plans(), st.integers(1, 40), st.sets(st.integers(0, 59), max_size=3))
def test_every_step_is_in_exactly_one_box_and_boxes_have_no_cycle(
    plan: Plan, most: int, kept: set[int]
) -> None:
    held = {f"s{number}" for number in kept} & plan.by_id.keys()
    for step_id in list(held):
        while step_id in plan.container:
            step_id = plan.container[step_id]
            held.add(step_id)
    folding = fold_plan(plan, most=most, kept=frozenset(held))
    assert sorted(boxed(folding)) == sorted(plan.by_id)
    assert folding.hidden == len(plan.steps) - sum(
        isinstance(unit, str) for units in folding.scopes.values() for unit in units
    )
    assert not any(has_cycle(plan, units) for units in folding.scopes.values())
    assert held <= {unit for units in folding.scopes.values() for unit in units if isinstance(unit, str)}


@settings(max_examples=100, deadline=None)
@given(plans(), st.integers(1, 10))
def test_opening_a_fold_loses_nothing_either(plan: Plan, most: int) -> None:
    opened: frozenset[str] = frozenset()
    for _ in range(4):
        folding = fold_plan(plan, most=most, opened=opened)
        assert sorted(boxed(folding)) == sorted(plan.by_id)
        assert not any(has_cycle(plan, units) for units in folding.scopes.values())
        assert len({fold.id for fold in folding.folds}) == len(folding.folds)
        assert {fold.id for fold in folding.opened} == opened
        if not folding.folds:
            break
        opened |= {folding.folds[0].id}


@settings(max_examples=100, deadline=None)
@given(plans())
def test_edges_that_are_left_out_are_implied_by_others(plan: Plan) -> None:
    places = {step.id: place for place, step in enumerate(plan.steps)}
    edges = [(places[needed], places[step.id]) for step in plan.steps for needed in step.depends_on]

    def reach(kept: list[tuple[int, int]]) -> set[tuple[int, int]]:
        after: dict[int, set[int]] = {}
        for tail, head in sorted(kept, reverse=True):
            after.setdefault(tail, set()).update({head}, after.get(head, set()))
        return {(tail, head) for tail, heads in after.items() for head in heads}

    assert reach(reduced(len(places), edges)) == reach(edges)


def test_a_small_plan_is_drawn_step_by_step() -> None:
    plan = plan_of(10, [(0, number) for number in range(1, 9)] + [(number, 9) for number in range(1, 9)])
    assert fold_plan(plan).hidden == 0


def test_more_than_eight_that_stand_alike_share_a_box_in_any_plan() -> None:
    plan = plan_of(12, [(0, number) for number in range(1, 11)] + [(number, 11) for number in range(1, 11)])
    (fold,) = fold_plan(plan).folds
    assert (fold.why, len(fold.members)) == ("alike", 10)


def test_a_thousand_that_meet_again_are_one_box() -> None:
    plan = plan_of(1002, [(0, n) for n in range(1, 1001)] + [(n, 1001) for n in range(1, 1001)])
    folding = fold_plan(plan)
    assert folding.boxes == 3
    assert folding.hidden == 1000


def test_a_thousand_are_opened_in_boxes_that_can_be_opened_again() -> None:
    plan = plan_of(1002, [(0, n) for n in range(1, 1001)] + [(n, 1001) for n in range(1, 1001)])
    first = fold_plan(plan).folds[0]
    opened = fold_plan(plan, opened=frozenset({first.id}))
    assert 2 < opened.boxes <= MOST_BOXES
    inner = opened.folds[0]
    twice = fold_plan(plan, opened=frozenset({first.id, inner.id}))
    assert twice.hidden == opened.hidden - len(inner.members)


def test_a_chain_of_five_hundred_is_folded_by_rank() -> None:
    folding = fold_plan(plan_of(500, [(n, n + 1) for n in range(499)]))
    assert folding.boxes <= MOST_BOXES
    assert {fold.why for fold in folding.folds} == {"rank"}
    assert [fold.ranks[0] for fold in folding.folds] == sorted(fold.ranks[0] for fold in folding.folds)


def test_groups_are_folded_before_words_are_counted() -> None:
    groups = {number: f"phase {number // 50}" for number in range(200)}
    folding = fold_plan(plan_of(200, [(n, n + 1) for n in range(199)], groups=groups))
    assert [fold.why for fold in folding.folds] == ["group"] * 4


def test_a_group_that_a_path_leaves_and_enters_again_is_not_one_box() -> None:
    groups = {number: "a" if number % 2 else "b" for number in range(200)}
    folding = fold_plan(plan_of(200, [(n, n + 1) for n in range(199)], groups=groups))
    assert not any(isinstance(unit, Fold) and unit.why == "group" for unit in folding.scopes[None])


def test_steps_of_one_rank_are_told_apart_by_the_first_words_of_their_goals() -> None:
    steps = [Step("start", "task", "Start")]
    for lane in range(60):
        for place, verb in enumerate(("Align", "Sort", "Call")):
            before = f"{lane}.{place - 1}" if place else "start"
            steps.append(Step(f"{lane}.{place}", "task", f"{verb} sample {lane}", depends_on=(before,)))
    folding = fold_plan(Plan(tuple(steps)))
    assert folding.boxes == 4
    assert {fold.why for fold in folding.folds} == {"words"}
