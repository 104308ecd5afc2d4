"""A difference, counted for a sentence."""

from dataclasses import replace
from typing import Any

from workflows.domain.changes import KINDS, count_changes, criteria_changes, places_changed
from workflows.domain.diff import plan_diff
from workflows.domain.plan import Criterion, Field, Group, InstanceParam, Plan, Step

A = Step("a", "task", "Do a", criteria=(Criterion("c1", "It is fast"), Criterion("c2", "It is small")))
B = Step("b", "task", "Do b", depends_on=("a",))


def diff(before: list[Step], after: list[Step], **titles: str) -> dict[str, Any]:
    return plan_diff(Plan(tuple(before)), Plan(tuple(after)), **titles)


def criteria(*texts: str) -> tuple[Criterion, ...]:
    return tuple(Criterion(f"c{place}", text) for place, text in enumerate(texts, 1))


def test_nothing_is_counted_where_nothing_changed() -> None:
    found = diff([A, B], [B, A])
    assert count_changes(found) == {}
    assert places_changed(found) == 0


def test_steps_goals_and_criteria_are_counted_apart() -> None:
    found = diff(
        [A, B, Step("old", "task", "Go")],
        [
            replace(A, goal="Do a well", criteria=criteria("It is fast", "It is small", "It lasts")),
            B,
            Step("n", "task", "Come"),
            Step("m", "task", "Come too"),
        ],
        title_before="Old",
        title_after="New",
    )
    assert count_changes(found) == {
        "steps_added": 2,
        "steps_removed": 1,
        "titles": 1,
        "goals": 1,
        "criteria_added": 1,
    }
    assert places_changed(found) == 5


def test_every_field_has_a_kind() -> None:
    before = Step("s", "task", "Do")
    after = Step(
        "s",
        "loop",
        "Do it",
        "x",
        depends_on=("a",),
        inputs={"k": 1},
        outputs={"o": 1},
        criteria=criteria("It holds"),
        body=("b",),
        on_instance_failure="continue",
        exit_when="done",
        instance_params=(InstanceParam("p"),),
        fields=(Field("f"),),
        group="g",
    )
    counts = count_changes(diff([A, B, before], [A, B, after]))
    assert set(counts) == set(KINDS) - {
        "steps_added",
        "steps_removed",
        "titles",
        "criteria_removed",
        "criteria_reworded",
        "criteria_moved",
    }
    assert list(counts) == [kind for kind in KINDS if kind in counts]


def test_a_criterion_that_goes_in_the_middle_leaves_the_others_the_same() -> None:
    change = diff([A], [replace(A, criteria=criteria("It is small"))])["changed"][0]
    found = criteria_changes(change["fields"]["criteria"])
    assert [each["text"] for each in found["removed"]] == ["It is fast"]
    assert [each["text"] for each in found["same"]] == ["It is small"]
    assert found["added"] == found["reworded"] == []


def test_a_criterion_that_was_reworded_is_a_pair() -> None:
    found = diff([A], [replace(A, criteria=criteria("It is fast", "It is tiny", "It lasts"))])
    told = criteria_changes(found["changed"][0]["fields"]["criteria"])
    assert [(old["text"], new["text"]) for old, new in told["reworded"]] == [("It is small", "It is tiny")]
    assert [each["text"] for each in told["added"]] == ["It lasts"]
    assert count_changes(found) == {"criteria_added": 1, "criteria_reworded": 1}


def test_groups_are_one_place() -> None:
    found = plan_diff(Plan((A,), (Group("g", "G"), Group("h"))), Plan((A,), (Group("g", "Gee"),)))
    assert count_changes(found) == {"groups": 2}
    assert places_changed(found) == 1


def test_criteria_that_only_changed_places_are_told_so() -> None:
    found = diff([A], [replace(A, criteria=criteria("It is small", "It is fast"))])
    assert count_changes(found) == {"criteria_moved": 1}
