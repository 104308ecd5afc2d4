"""Which failure a skipped step waits for (contract 3: "a summary saying which")."""

from __future__ import annotations

from runs.domain.skips import skip_root, skip_roots, skip_sentence
from workflows.domain.plan import Plan, Step

FAILED = ("failed", None)
SKIPPED = ("skipped", "dependency")
DONE = ("completed", None)


def chain(**needs: str) -> Plan:
    """Steps with what each depends on, in words: ``a="", b="a", c="a b"``."""
    return Plan(
        tuple(Step(name, "task", name, depends_on=tuple(text.split())) for name, text in needs.items())
    )


def test_a_step_right_behind_the_failure_waits_for_it() -> None:
    plan = chain(a="", b="a")
    assert skip_root(plan, {"a": FAILED, "b": SKIPPED}, "b") == "a"


def test_a_step_down_a_chain_waits_for_the_failure_at_its_head() -> None:
    plan = chain(a="", b="a", c="b", d="c")
    standings = {"a": FAILED, "b": SKIPPED, "c": SKIPPED, "d": SKIPPED}
    assert skip_root(plan, standings, "d") == "a"
    assert skip_roots(plan, standings, ["d", "b", "c"]) == {"b": "a", "c": "a", "d": "a"}


def test_a_failed_dependency_comes_before_a_skipped_one() -> None:
    plan = chain(a="", b="a", x="", c="b x")
    standings = {"a": FAILED, "b": SKIPPED, "x": FAILED, "c": SKIPPED}
    assert skip_root(plan, standings, "c") == "x"
    assert skip_roots(plan, standings, ["b", "c"]) == {"b": "a", "c": "x"}


def test_several_skipped_dependencies_are_followed_in_their_order() -> None:
    plan = chain(a="", x="", b="a", y="x", c="y b")
    standings = {"a": FAILED, "x": FAILED, "b": SKIPPED, "y": SKIPPED, "c": SKIPPED}
    assert skip_root(plan, standings, "c") == "x"
    assert skip_roots(plan, standings, ["b", "c", "y"])["c"] == "x"


def test_completed_dependencies_are_no_cause() -> None:
    plan = chain(a="", b="", c="a b")
    assert skip_root(plan, {"a": DONE, "b": FAILED, "c": SKIPPED}, "c") == "b"


def test_where_nothing_failed_there_is_no_root() -> None:
    plan = chain(a="", b="a")
    assert skip_root(plan, {"a": DONE, "b": SKIPPED}, "b") is None
    assert skip_roots(plan, {"a": DONE, "b": SKIPPED, "gone": SKIPPED}, ["b", "gone"]) == {
        "b": None,
        "gone": None,
    }


def test_five_thousand_steps_in_one_chain_take_no_recursion_and_little_time() -> None:
    needs = {"s0": ""} | {f"s{n}": f"s{n - 1}" for n in range(1, 5000)}
    plan = chain(**dict(reversed(needs.items())))
    standings = {"s0": FAILED} | {f"s{n}": SKIPPED for n in range(1, 5000)}
    assert skip_root(plan, standings, "s4999") == "s0"
    assert set(skip_roots(plan, standings, [f"s{n}" for n in range(1, 5000)]).values()) == {"s0"}


def test_the_sentence_names_the_cause() -> None:
    assert skip_sentence("dependency", root="a") == "Skipped: it waits for 'a', which failed."
    assert skip_sentence("removed", amendment_id="amd_1") == "Removed by amendment amd_1."
    assert skip_sentence("cancelled") == "Skipped: the run was cancelled."
