"""Contract 2: what differs between two plans, by step id."""

import time
from dataclasses import replace
from typing import Any

import pytest

from workflows.domain.diff import plan_diff, step_document
from workflows.domain.plan import Criterion, Field, Group, InstanceParam, Plan, Step

A = Step(id="a", type="task", goal="Do a", harness="x")
B = Step(id="b", type="task", goal="Do b", harness="x", depends_on=("a",))
L = Step(id="l", type="loop", goal="Repeat", harness="x", body=("a", "b"), on_instance_failure="fail_fast")


def diff(before: list[Step], after: list[Step]) -> dict[str, Any]:
    return plan_diff(Plan(tuple(before)), Plan(tuple(after)))


def fields(before: Step, after: Step) -> dict[str, Any]:
    found = diff([before], [after])
    assert len(found["changed"]) == 1
    changed: dict[str, Any] = found["changed"][0]["fields"]
    return changed


def test_the_same_plan_has_no_difference() -> None:
    found = plan_diff(
        Plan((A, B), (Group("g", "G"),)), Plan((A, B), (Group("g", "G"),)), title_before="T", title_after="T"
    )
    assert found == {
        "title": None,
        "added": [],
        "removed": [],
        "changed": [],
        "groups": {"added": [], "removed": [], "changed": []},
        "unchanged": 2,
        "same": True,
        "text": "Nothing changed.",
    }


def test_steps_come_and_go_as_documents() -> None:
    c = Step(id="c", type="checkpoint", goal="Look", harness="human")
    found = diff([A, B], [A, c])
    assert (found["added"], found["removed"], found["unchanged"]) == (
        [step_document(c)],
        [step_document(B)],
        1,
    )
    assert found["same"] is False
    assert found["text"] == "+ c (checkpoint): Look\n- b (task): Do b"


def test_a_text_is_compared_by_words() -> None:
    found = fields(A, replace(A, goal="Do a well, twice"))
    assert found == {
        "goal": {
            "before": "Do a",
            "after": "Do a well, twice",
            "words": [["=", "Do a"], ["+", " well, twice"]],
        }
    }
    assert diff([A], [replace(A, goal="Do the a")])["text"] == "~ a.goal: Do {+the +}a"


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (A, replace(A, group="g"), {"group": {"before": None, "after": "g"}}),
        (
            replace(A, type="loop", body=("b",), on_instance_failure="continue"),
            A,
            {
                "type": {"before": "loop", "after": "task"},
                "on_instance_failure": {"before": "continue", "after": None},
                "body": {"before": ["b"], "after": None, "added": [], "removed": ["b"]},
            },
        ),
        (
            B,
            replace(B, depends_on=("c",)),
            {"depends_on": {"before": ["a"], "after": ["c"], "added": ["c"], "removed": ["a"]}},
        ),
        (
            A,
            replace(A, criteria=(Criterion("c1", "it holds"),)),
            {"criteria": {"before": [], "after": [{"id": "c1", "text": "it holds"}]}},
        ),
        (
            A,
            replace(A, fields=(Field("f"),)),
            {
                "fields": {
                    "before": [],
                    "after": [{"name": "f", "label": None, "hint": None, "required": True}],
                }
            },
        ),
        (
            A,
            replace(A, instance_params=(InstanceParam("p"),)),
            {
                "instance_params": {
                    "before": [],
                    "after": [{"name": "p", "description": None, "required": True}],
                }
            },
        ),
        (A, replace(A, inputs={"x": 1}), {"inputs": {"before": {}, "after": {"x": 1}}}),
        (
            replace(A, outputs={"x": [1]}),
            replace(A, outputs={"x": [True]}),
            {"outputs": {"before": {"x": [1]}, "after": {"x": [True]}}},
        ),
    ],
)
def test_each_key_is_told_before_and_after(before: Step, after: Step, expected: dict[str, Any]) -> None:
    assert fields(before, after) == expected


def test_an_order_that_changed_alone_is_no_change() -> None:
    c = Step(id="c", type="task", goal="Do c", depends_on=("a", "b"))
    former = [A, B, c, L, replace(A, id="i", inputs={"x": 1, "y": {"p": 1, "q": 2}})]
    later = [
        replace(A, id="i", inputs={"y": {"q": 2, "p": 1}, "x": 1}),
        replace(L, body=("b", "a")),
        replace(c, depends_on=("b", "a")),
        A,
        B,
    ]
    assert diff(former, later)["same"] is True


def test_titles_and_groups_are_compared_too() -> None:
    found = plan_diff(
        Plan((A,), (Group("g", "G"), Group("h", "H"))),
        Plan((A,), (Group("g", "other"), Group("i", "I"))),
        title_before="Old plan",
        title_after="New plan",
    )
    assert found["title"]["words"] == [["-", "Old"], ["+", "New"], ["=", " plan"]]
    assert found["groups"] == {
        "added": [{"path": "i", "description": "I"}],
        "removed": [{"path": "h", "description": "H"}],
        "changed": [{"path": "g", "before": "G", "after": "other"}],
    }
    assert found["text"].splitlines() == [
        "~ title: [-Old-]{+New+} plan",
        "+ group i: I",
        "- group h: H",
        "~ group g: G → other",
    ]


def test_huge_plans_are_compared_in_bounded_time() -> None:
    words = " ".join(f"w{n}" for n in range(3_000))
    former = [replace(A, id=f"s{n}", goal=f"{n} {words}") for n in range(300)]
    later = [replace(A, id=f"s{n}", goal=f"{n} {words[::-1]}") for n in range(300)]
    many = [replace(A, id=f"s{n}", depends_on=(f"s{n - 1}",)) for n in range(5_000)]
    other = [replace(A, id=f"s{n}", goal="Do it") for n in range(5_000)]
    wide = [replace(L, body=tuple(f"s{n}" for n in range(5_000)))]
    wider = [replace(L, body=tuple(f"s{n}" for n in range(1, 5_001)))]
    repeated = [replace(A, id=f"s{n}", goal="alpha beta gamma " * 40 + str(n)) for n in range(2_000)]
    exchanged = [replace(step, goal=step.goal.replace("beta", "delta")) for step in repeated]
    began = time.process_time()
    assert len(diff(former, later)["changed"]) == 300
    assert len(diff(repeated, exchanged)["changed"]) == 2_000
    assert len(diff(many, other)["changed"]) == 5_000
    assert fields(wide[0], wider[0])["body"]["added"] == ["s5000"]
    assert time.process_time() - began < 10
