"""What a harness may do now (contract 3, ``GET /runs/{id}/next``). The facts are made by hand: no database."""

from __future__ import annotations

from itertools import count

from runs.domain.next import (
    Group,
    InstanceFact,
    StateFact,
    Survey,
    Target,
    hint,
    is_done,
    is_ready,
    state_path,
    survey,
)
from workflows.domain.plan import Plan, Step


class Scene:
    """A run under construction: ``state`` and ``instance`` give row ids."""

    def __init__(self, *steps: Step) -> None:
        self.plan = Plan(steps)
        self.states: dict[int, StateFact] = {}
        self.instances: dict[int, InstanceFact] = {}
        self._ids = count(1)

    def state(
        self,
        step_id: str,
        status: str = "pending",
        *,
        inside: int | None = None,
        cause: str | None = None,
        closed: bool = False,
    ) -> int:
        pk = next(self._ids)
        self.states[pk] = StateFact(pk, inside, step_id, status, cause, closed)
        return pk

    def instance(self, construct: int, instance_id: str, status: str = "running") -> int:
        pk = next(self._ids)
        self.instances[pk] = InstanceFact(construct, instance_id, status)
        return pk

    def survey(self, target: Target | None = None) -> Survey:
        return survey(self.plan, self.states.values(), self.instances, target=target)


def task(step_id: str, *needs: str, type_: str = "task", **keys: str) -> Step:
    return Step(step_id, type_, step_id, depends_on=needs, **keys)  # type: ignore[arg-type]


def loop(step_id: str, *body: str, policy: str = "fail_fast") -> Step:
    return Step(step_id, "loop", step_id, body=body, on_instance_failure=policy)


def paths(groups: list[Group]) -> list[tuple[str, int]]:
    return [(group.path, group.count) for group in groups]


def test_a_step_is_ready_once_everything_it_depends_on_is_completed() -> None:
    scene = Scene(task("a"), task("b", "a"), task("c", "a", "b"))
    scene.state("a", "completed")
    scene.state("b")
    scene.state("c")
    found = scene.survey()
    assert paths(found.ready) == [("b", 1)]
    assert found.waiting == 1


def test_a_dependency_that_an_amendment_removed_is_satisfied_and_one_skipped_for_a_failure_is_not() -> None:
    step = task("c", "a")
    assert is_ready(step, {"a": ("skipped", "removed")})
    assert not is_ready(step, {"a": ("skipped", "dependency")})
    assert not is_ready(step, {"a": ("failed", None)})
    assert not is_ready(step, {"a": ("running", None)})


def test_a_dependency_that_an_older_body_lacks_holds_nothing_up() -> None:
    assert is_ready(task("c", "new"), {})


def test_a_running_step_is_listed_whatever_it_depends_on() -> None:
    scene = Scene(task("a"), task("b", "a"))
    scene.state("a")
    scene.state("b", "running")
    found = scene.survey()
    assert [(group.path, group.status) for group in found.ready] == [("a", "pending"), ("b", "running")]


def test_equal_steps_of_many_instances_are_one_entry() -> None:
    scene = Scene(loop("l", "x", "y"), task("x"), task("y", "x"))
    construct = scene.state("l", "running")
    for number in range(10_000):
        inside = scene.instance(construct, f"inst_{number}")
        scene.state("x", "completed" if number % 2 else "pending", inside=inside)
        scene.state("y", inside=inside)
    found = scene.survey()
    assert paths(found.ready) == [("l/*/x", 5000), ("l/*/y", 5000)]
    assert found.waiting == 5000


def test_nested_instances_share_one_pattern_across_their_outer_instances() -> None:
    scene = Scene(loop("outer", "inner"), loop("inner", "x"), task("x"))
    outer = scene.state("outer", "running")
    for number in range(2):
        around = scene.instance(outer, f"o{number}")
        inner = scene.state("inner", "running", inside=around)
        for other in range(3):
            last = scene.state("x", inside=scene.instance(inner, f"i{other}"))
    found = scene.survey()
    assert paths(found.ready) == [("outer/*/inner/*/x", 6)]
    path, through = state_path(scene.states[last], scene.states, scene.instances)
    assert path == ("outer", "o1", "inner", "i2", "x")
    assert [scene.instances[pk].instance_id for pk in through] == ["o1", "i2"]


def test_a_construct_takes_instances_until_it_is_closed_or_finished() -> None:
    scene = Scene(
        task("a"), loop("now", "x"), loop("later", "y"), loop("closed", "z"), task("x"), task("y"), task("z")
    )
    scene.plan = Plan(
        tuple(
            Step("later", "loop", "", depends_on=("a",), body=("y",)) if s.id == "later" else s
            for s in scene.plan.steps
        )
    )
    scene.state("a")
    scene.state("now")
    scene.state("later")
    scene.state("closed", "running", closed=True)
    found = scene.survey()
    assert paths(found.constructs) == [("now", 1)]
    assert found.waiting == 1


def test_nothing_is_ready_inside_what_fail_fast_has_ended() -> None:
    scene = Scene(loop("l", "x", "y"), task("x"), task("y"), task("other"))
    construct = scene.state("l", "failed")
    broken = scene.instance(construct, "i0", "failed")
    scene.state("x", "failed", inside=broken)
    scene.state("y", inside=broken)
    scene.state("x", inside=scene.instance(construct, "i1"))
    scene.state("other")
    found = scene.survey()
    assert paths(found.ready) == [("other", 1)]
    assert paths(found.failed) == [("l/*/x", 1)]


def test_a_tolerated_failure_is_not_listed_as_one_that_holds_others_up() -> None:
    scene = Scene(loop("l", "x", policy="continue"), loop("x", "y"), task("y"))
    construct = scene.state("l", "running")
    inner = scene.state("x", "failed", inside=scene.instance(construct, "i0"))
    scene.state("y", "failed", inside=scene.instance(inner, "j0", "failed"))
    found = scene.survey()
    assert found.failed == []


def test_what_is_blocked_is_listed_also_beside_a_failure() -> None:
    scene = Scene(loop("l", "gate"), task("gate", type_="checkpoint"), task("a"))
    construct = scene.state("l", "failed")
    scene.state("gate", "blocked", inside=scene.instance(construct, "i1"))
    scene.state("a", "blocked")
    assert paths(scene.survey().blocked) == [("l/*/gate", 1), ("a", 1)]


def test_a_path_narrows_to_what_lies_at_or_below_it() -> None:
    scene = Scene(loop("l", "x"), task("x"), task("a"))
    construct = scene.state("l", "running")
    first = scene.instance(construct, "i0")
    scene.state("x", inside=first)
    scene.state("x", inside=scene.instance(construct, "i1"))
    outside = scene.state("a")
    assert paths(scene.survey(Target("instance", first)).ready) == [("l/*/x", 1)]
    below = scene.survey(Target("state", construct))
    assert paths(below.ready) == [("l/*/x", 2)]
    assert paths(below.constructs) == [("l", 1)]
    assert paths(scene.survey(Target("state", outside)).ready) == [("a", 1)]


def test_it_is_done_when_the_run_is_over_or_failed_with_nothing_left_to_do() -> None:
    nothing = Survey([], [], [], [], 0)
    something = Survey([Group("a", "a", "pending", [1])], [], [], [], 0)
    assert is_done("completed", nothing)
    assert is_done("cancelled", nothing)
    assert is_done("failed", nothing)
    assert not is_done("failed", something)
    assert not is_done("waiting_on_human", Survey([], [], [Group("a", "a", "blocked", [1])], [], 0))
    assert not is_done("running", something)


def test_the_hint_says_what_each_situation_asks() -> None:
    nothing = Survey([], [], [], [], 0)
    failed = Survey([], [], [], [Group("a", "a", "failed", [1])], 0)
    blocked = Survey([], [], [Group("a", "a", "blocked", [1])], [], 0)
    assert "cancelled" in hint("cancelled", nothing, pending_amendment_id=None)
    assert "completed" in hint("completed", nothing, pending_amendment_id=None)
    assert "replay_step" in hint("failed", failed, pending_amendment_id=None)
    assert "person" in hint("waiting_on_human", blocked, pending_amendment_id=None)
    assert "amd_1" in hint("paused_for_approval", blocked, pending_amendment_id="amd_1")


def test_sixty_four_constructs_deep_take_no_recursion() -> None:
    steps = [loop(f"l{n}", f"l{n + 1}") for n in range(64)] + [task("l64")]
    scene = Scene(*steps)
    inside = None
    for number in range(64):
        construct = scene.state(f"l{number}", "running", inside=inside)
        inside = scene.instance(construct, "i")
    scene.state("l64", inside=inside)
    found = scene.survey()
    assert found.ready[0].path == "/*/".join(f"l{n}" for n in range(65))
    assert len(found.constructs) == 64
