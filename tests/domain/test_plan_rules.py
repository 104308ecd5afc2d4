"""Contract 2, rules 1 to 7, and contract 12: what a plan must be."""

import time
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chief_project.shared.errors import ValidationFailed
from workflows.domain.plan import Criterion, Field, Group, InstanceParam, Plan, Step
from workflows.domain.rules import Problem, ensure_valid, problems


def task(step_id: str, *needs: str, **more: object) -> Step:
    return Step(id=step_id, type="task", goal=f"{step_id} is done", depends_on=needs, **more)  # type: ignore[arg-type]


def loop(step_id: str, *body: str, **more: object) -> Step:
    more = {"type": "loop", "on_instance_failure": "fail_fast"} | more
    return Step(id=step_id, goal=f"{step_id} is done", body=body, **more)  # type: ignore[arg-type]


def checkpoint(step_id: str, **more: object) -> Step:
    more = {"harness": "human"} | more
    return Step(id=step_id, type="checkpoint", goal=f"{step_id} is decided", **more)  # type: ignore[arg-type]


def judged(*steps: Step, groups: tuple[Group, ...] = ()) -> list[Problem]:
    return problems(Plan(steps=steps, groups=groups))


def the_problem(*steps: Step, groups: tuple[Group, ...] = ()) -> Problem:
    found = judged(*steps, groups=groups)
    assert len(found) == 1, found
    return found[0]


def test_a_plan_that_keeps_the_rules_has_no_problem() -> None:
    assert not judged(
        task("a", criteria=(Criterion("c1", "it holds"),), group="build/first"),
        task("h", harness="human"),
        loop("l", "b", "p", exit_when="enough", instance_params=(InstanceParam("x"), InstanceParam("y"))),
        task("b"),
        loop("p", "q", type="parallel", on_instance_failure="continue", depends_on=("b",)),
        checkpoint("q", fields=(Field("why"), Field("when"))),
        checkpoint("end", depends_on=("a", "l")),
        groups=(Group("build", "everything"), Group("build/first", "what is first")),
    )


@pytest.mark.parametrize(
    ("steps", "pointer", "phrase"),
    [
        ([], "/steps", "at least one step"),
        ([task("a"), task("b"), task("a")], "/steps/2/id", "duplicate step id 'a'"),
        ([loop("l")], "/steps/0/body", "non-empty body"),
        (
            [Step(id="l", type="loop", goal="g", on_instance_failure="fail_fast")],
            "/steps/0/body",
            "non-empty body",
        ),
        ([task("a"), loop("l", "a", "a")], "/steps/1/body/1", "lists 'a' twice"),
        ([task("a", body=())], "/steps/0/body", "must not have a body"),
        ([checkpoint("a", body=())], "/steps/0/body", "must not have a body"),
        (
            [task("a", on_instance_failure="continue")],
            "/steps/0/on_instance_failure",
            "applies only to loop/parallel",
        ),
        (
            [task("a", instance_params=(InstanceParam("x"),))],
            "/steps/0/instance_params",
            "must not have instance_params",
        ),
        ([task("a", exit_when="done")], "/steps/0/exit_when", "applies only to loop"),
        (
            [task("a"), loop("p", "a", type="parallel", exit_when="x")],
            "/steps/1/exit_when",
            "applies only to loop",
        ),
        ([loop("l", "nowhere")], "/steps/0/body/0", "unknown step 'nowhere'"),
        ([task("a"), loop("l", "a", "l")], "/steps/1/body/1", "containment cycle"),
        ([loop("k", "a"), loop("l", "a"), task("a")], "/steps/1/body/0", "more than one body"),
        ([task("t"), loop("k", "l"), loop("l", "k")], "/steps/1/body", "containment cycle"),
        ([task("a", "nowhere")], "/steps/0/depends_on/0", "unknown step 'nowhere'"),
        ([task("b"), task("a", "b", "a")], "/steps/1/depends_on/1", "depends on itself"),
        ([task("b"), task("a", "b", "b")], "/steps/1/depends_on/1", "same dependency twice"),
        ([task("b"), loop("l", "a"), task("a", "b")], "/steps/2/depends_on/0", "same scope"),
        ([task("b", "a"), loop("l", "a"), task("a")], "/steps/0/depends_on/0", "same scope"),
        ([loop("l", "a"), task("a", "l")], "/steps/1/depends_on/0", "same scope"),
        (
            [task("z"), task("a", "b"), task("b", "c"), task("c", "a")],
            "/steps/1/depends_on",
            "dependency cycle",
        ),
        ([loop("l", "a", "b"), task("a", "b"), task("b", "a")], "/steps/1/depends_on", "dependency cycle"),
        (
            [checkpoint("a", criteria=(Criterion("c1", "x"),))],
            "/steps/0/criteria",
            "criteria apply only to task steps",
        ),
        (
            [task("b"), loop("l", "b", criteria=(Criterion("c1", "x"),))],
            "/steps/1/criteria",
            "only to task steps",
        ),
        ([checkpoint("a", harness="claude")], "/steps/0/harness", "harness must be 'human'"),
        ([checkpoint("a", harness="")], "/steps/0/harness", "harness must be 'human'"),
        ([task("a", fields=(Field("x"),))], "/steps/0/fields", "apply only to checkpoints"),
        (
            [checkpoint("a", fields=(Field("x"), Field("y"), Field("x")))],
            "/steps/0/fields/2/name",
            "same field twice",
        ),
        (
            [task("a"), loop("l", "a", instance_params=(InstanceParam("x"), InstanceParam("x")))],
            "/steps/1/instance_params/1/name",
            "same instance parameter twice",
        ),
        ([task("a", group="x//y")], "/steps/0/group", "single slashes"),
        ([task("a", group="/x")], "/steps/0/group", "single slashes"),
        ([task("a", group="")], "/steps/0/group", "single slashes"),
        ([task("a", group=" ")], "/steps/0/group", "single slashes"),
        ([task("a", group="/".join("x" * 65))], "/steps/0/group", "more than 64 deep"),
        ([task("a", group="x" * 1001)], "/steps/0/group", "1,000 characters"),
    ],
)
def test_a_broken_rule_is_named_with_its_place(steps: list[Step], pointer: str, phrase: str) -> None:
    problem = the_problem(*steps)
    assert problem.pointer == pointer
    assert phrase in problem.message


def test_a_dependency_cycle_names_its_steps_from_the_first_in_the_plan() -> None:
    problem = the_problem(task("ok"), task("b", "c", "ok"), task("c", "d"), task("d", "b"), task("e", "d"))
    assert "dependency cycle: 'b' → 'c' → 'd' → 'b'" in problem.message


def test_a_containment_cycle_names_its_constructs_from_the_outside_in() -> None:
    problem = the_problem(loop("k", "l"), loop("l", "m"), loop("m", "k", "t"), task("t"))
    assert "containment cycle: 'k' → 'l' → 'm' → 'k'" in problem.message


@pytest.mark.parametrize("path", ["b", "a/bc", "a/b/c"])
def test_a_described_group_must_be_a_steps_group_or_a_parent_of_one(path: str) -> None:
    problem = the_problem(task("s", group="a/b"), groups=(Group("a"), Group(path)))
    assert problem.pointer == "/groups/1/path"
    assert "neither a step's group nor a parent of one" in problem.message


def test_a_group_is_described_once() -> None:
    problem = the_problem(task("s", group="a"), groups=(Group("a", "one"), Group("a", "two")))
    assert (problem.pointer, "described twice" in problem.message) == ("/groups/1/path", True)


def test_every_problem_of_a_plan_is_told_at_once() -> None:
    found = judged(task("a", "x"), task("a", "y"), checkpoint("c", harness="me"))
    assert [problem.pointer for problem in found] == [
        "/steps/1/id",
        "/steps/2/harness",
        "/steps/0/depends_on/0",
        "/steps/1/depends_on/0",
    ]


def test_a_refusal_shows_fifty_problems_and_says_how_many_more() -> None:
    with pytest.raises(ValidationFailed) as refused:
        ensure_valid(Plan(steps=tuple(task(f"s{n}", "nowhere") for n in range(70))))
    assert refused.value.details["pointer"] == "/steps/0/depends_on/0"
    assert len(refused.value.details["errors"]) == 50
    assert refused.value.details["more"] == 20
    assert "67 more" in refused.value.message


def test_what_is_wrong_in_many_places_is_said_once_and_pointed_at_everywhere() -> None:
    with pytest.raises(ValidationFailed) as caught:
        ensure_valid(Plan(steps=(loop("l", "z", "a"), task("a"), task("b", "z"), task("b", "z"), task("b"))))
    assert caught.value.message == (
        "duplicate step id 'b': step 3 has it already; give each its own; the body of 'l' names an unknown step 'z';"
        " 'b' depends on an unknown step 'z'"
    )
    assert [problem["pointer"] for problem in caught.value.details["errors"]] == [
        "/steps/3/id", "/steps/4/id", "/steps/0/body/0", "/steps/2/depends_on/0", "/steps/3/depends_on/0",
    ]  # fmt: skip


def test_a_name_that_is_no_id_is_cut_short_in_a_refusal() -> None:
    found = judged(task("a", "x" * 100_000), loop("l", "y" * 100_000, "y" * 100_000))
    assert len(found) == 3
    assert all(len(problem.message) < 400 for problem in found)


def test_a_plan_that_keeps_the_rules_is_let_through() -> None:
    ensure_valid(Plan(steps=(task("a"),)))


def nested(depth: int) -> list[Step]:
    return [loop(f"l{n}", f"l{n + 1}") for n in range(depth - 1)] + [loop(f"l{depth - 1}", "t"), task("t")]


def test_bodies_may_nest_64_deep() -> None:
    assert not judged(*nested(64))


@pytest.mark.parametrize("depth", [65, 1_000, 5_000])
@pytest.mark.parametrize("turn", [list, lambda steps: steps[::-1]])
def test_deeper_bodies_are_refused_once_saying_so(
    depth: int, turn: Callable[[list[Step]], list[Step]]
) -> None:
    assert "nested more than 64 deep at 'l64'" in the_problem(*turn(nested(depth))).message


SIZE = 5_000
WIDE = [loop("l", *(f"s{n}" for n in range(SIZE))), *(task(f"s{n}") for n in range(SIZE))]
CHAIN = [task("s0"), *(task(f"s{n}", f"s{n - 1}") for n in range(1, SIZE))]


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        (CHAIN, []),
        (CHAIN[::-1], []),
        (CHAIN[::2] + CHAIN[1::2], []),
        (WIDE, []),
        ([task("s0", f"s{SIZE - 1}"), *CHAIN[1:]], ["dependency cycle"]),
        ([loop(f"l{n}", f"l{(n + 1) % SIZE}") for n in range(SIZE)], ["containment cycle"]),
        ([*CHAIN[:-1], task("last", *(f"s{n}" for n in range(SIZE - 1)))], []),
        ([task(f"s{n}", group="/".join(f"g{n}_{m}" for m in range(30))) for n in range(SIZE)], []),
    ],
)
def test_large_plans_are_judged_without_recursion_and_quickly(steps: list[Step], expected: list[str]) -> None:
    began = time.process_time()
    found = judged(*steps)
    assert time.process_time() - began < 2
    assert len(found) == len(expected)
    for problem, phrase in zip(found, expected, strict=True):
        assert phrase in problem.message
        assert len(problem.message) < 1_000


def naive(steps: list[Step]) -> set[str]:
    """Which of the graph rules are broken, told the slow way, from the rule's words."""
    ids = {step.id for step in steps}
    broken = set()
    if len(ids) < len(steps):
        broken.add("duplicate step id")
    around: dict[str, list[str]] = {}
    for step in steps:
        if step.is_construct and not step.body:
            broken.add("non-empty body")
        for member in step.body or ():
            if member not in ids:
                broken.add("unknown step")
            else:
                around.setdefault(member, []).append(step.id)
        if len(set(step.body or ())) < len(step.body or ()):
            broken.add("twice")
    if any(len(set(constructs)) > 1 for constructs in around.values()):
        broken.add("more than one body")
    up = {member: set(constructs) for member, constructs in around.items()}
    if any(step_id in reach(up, step_id) for step_id in ids):
        broken.add("containment cycle")
    needs: dict[str, set[str]] = {step.id: set() for step in steps}
    for step in steps:
        needs[step.id] |= set(step.depends_on) & ids
        if set(step.depends_on) - ids:
            broken.add("unknown step")
        if len(set(step.depends_on)) < len(step.depends_on):
            broken.add("same dependency twice")
        if any(around.get(needed) != around.get(step.id) for needed in set(step.depends_on) & ids):
            broken.add("same scope")
    if any(step_id in reach(needs, step_id) for step_id in ids):
        broken.add("dependency cycle")
    return broken


def reach(edges: dict[str, set[str]], start: str) -> set[str]:
    found: set[str] = set()
    for _ in range(len(edges) + 1):
        found |= edges.get(start, set()) | {far for near in found for far in edges.get(near, ())}
    return found


IDS = st.sampled_from("abcdefg")


@st.composite
def some_steps(draw: st.DrawFn) -> list[Step]:
    made = []
    for step_id in draw(st.lists(IDS, min_size=1, max_size=7, unique=draw(st.booleans()))):
        needs = tuple(draw(st.lists(IDS, max_size=2)))
        if draw(st.integers(0, 3)) == 0:
            made.append(loop(step_id, *draw(st.lists(IDS, max_size=3)), depends_on=needs))
        else:
            made.append(task(step_id, *needs))
    return made


@given(some_steps())
@settings(max_examples=600, deadline=None)
def test_any_graph_is_legal_exactly_when_a_naive_reading_of_the_rules_says_so(steps: list[Step]) -> None:
    assert bool(judged(*steps)) == bool(naive(steps))


@given(some_steps())
@settings(max_examples=600, deadline=None)
def test_a_rule_is_only_named_when_a_naive_reading_finds_it_broken_too(steps: list[Step]) -> None:
    broken = naive(steps)
    if broken & {"containment cycle", "more than one body", "duplicate step id"}:
        broken |= {"same scope", "dependency cycle"}  # then it is open which scope a step is in
    for problem in judged(*steps):
        assert any(phrase in problem.message for phrase in broken), (problem, broken)


@given(st.permutations(CHAIN[:60]))
@settings(max_examples=50, deadline=None)
def test_the_order_of_the_steps_does_not_matter(steps: list[Step]) -> None:
    assert not judged(*steps)
