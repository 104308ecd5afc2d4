"""Two texts, word by word: right, short, and in bounded time."""

import time
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workflows.domain.words import Budget, word_changes

words = st.lists(st.sampled_from(["a", "b", " ", ".", "\n"]), max_size=40).map("".join)


def changes(before: str, after: str) -> list[list[str]]:
    return word_changes(before, after, Budget())


def longest_in_common(one: str, other: str) -> int:
    """How many signs two texts have in common at most, by the book."""
    above = [0] * (len(other) + 1)
    for mine in one:
        row = [0]
        for place, theirs in enumerate(other):
            row.append(above[place] + 1 if mine == theirs else max(above[place + 1], row[-1]))
        above = row
    return above[-1]


@given(st.one_of(st.text(max_size=80), words), st.one_of(st.text(max_size=80), words))
@settings(max_examples=300, deadline=None)
def test_words_that_stay_and_go_make_the_former_text_and_those_that_stay_and_come_the_later(
    before: str, after: str
) -> None:
    found = changes(before, after)
    assert "".join(text for mark, text in found if mark != "+") == before
    assert "".join(text for mark, text in found if mark != "-") == after
    marks = [mark for mark, _ in found]
    assert all(one != next_one and one + next_one != "+-" for one, next_one in pairwise(marks))


@given(st.text(".,;!", max_size=30), st.text(".,;!", max_size=30))
@settings(max_examples=300, deadline=None)
def test_as_many_words_stay_as_can(before: str, after: str) -> None:
    stay = sum(len(text) for mark, text in changes(before, after) if mark == "=")
    assert stay == longest_in_common(before, after)


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("Do a", "Do a well", [["=", "Do a"], ["+", " well"]]),
        ("the quick brown fox", "the slow brown fox", [["=", "the "], ["-", "quick"], ["+", "slow"], ["=", " brown fox"]]),
        ("", "new", [["+", "new"]]),
        ("old", "", [["-", "old"]]),
        ("same", "same", [["=", "same"]]),
        ("", "", []),
    ],
)  # fmt: skip
def test_what_changed_is_told_in_reading_order(before: str, after: str, expected: list[list[str]]) -> None:
    assert changes(before, after) == expected


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (" ".join(f"w{n}" for n in range(100_000)), " ".join(f"v{n}" for n in range(100_000))),
        ("a " * 200_000, "b a " * 100_000),
        ("a " * 1_000 + "b " * 1_000, "b " * 1_000 + "a " * 1_000),
    ],
)
def test_what_differs_too_much_goes_and_comes_whole_soon(before: str, after: str) -> None:
    began = time.process_time()
    assert changes(before, after) == [["-", before], ["+", after]]
    assert time.process_time() - began < 5  # a fraction of a second here


def test_a_spent_budget_is_spent_for_all_that_follows() -> None:
    budget = Budget(left=0)
    assert word_changes("Do a", "Do b", budget) == [["-", "Do a"], ["+", "Do b"]]


def test_a_number_changes_as_a_whole() -> None:
    assert changes("above 0.8, in 4.2.1.", "above 0.85, in 4.3.0.") == [
        ["=", "above "],
        ["-", "0.8"],
        ["+", "0.85"],
        ["=", ", in "],
        ["-", "4.2.1"],
        ["+", "4.3.0"],
        ["=", "."],
    ]
