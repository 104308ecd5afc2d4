"""Two texts compared word by word, in bounded time. Pure.

Myers' greedy algorithm: the fewest words that go and come. Its work grows with how much differs, is counted as it
goes, and stops at a bound; the library's matcher has none, and took minutes over a long goal that was written anew.
"""

import re
from dataclasses import dataclass

_WORDS = re.compile(r"\s+|\d+(?:[.,]\d+)+|\w+|[^\w\s]")  # 0.85 and 4.2.1 are words as well
_MOST_WORK = 1_000_000  # about a second
_MOST_OF_ONE = 150_000  # some five hundred words that go or come

Match = tuple[int, int, int]
"""Words that stay: their place before, their place after, how many."""


@dataclass(slots=True)
class Budget:
    """How much work is left for all the texts of one difference, so that huge plans can't keep a worker busy."""

    left: int = _MOST_WORK


def word_changes(before: str, after: str, budget: Budget) -> list[list[str]]:
    """Two texts as words that stay (``=``), go (``-``) and come (``+``), in reading order.

    Where the budget doesn't reach, the one text goes and the other comes as a whole.
    """
    old, new = _WORDS.findall(before), _WORDS.findall(after)
    matches = _matches(old, new, budget) if budget.left > 0 else None
    if matches is None:
        return [[mark, text] for mark, text in (("-", before), ("+", after)) if text]
    found: list[list[str]] = []
    at_old = at_new = 0
    for place_old, place_new, count in [*matches, (len(old), len(new), 0)]:
        for mark, words in (
            ("-", old[at_old:place_old]),
            ("+", new[at_new:place_new]),
            ("=", old[place_old : place_old + count]),
        ):
            if words and found and found[-1][0] == mark:
                found[-1][1] += "".join(words)
            elif words:
                found.append([mark, "".join(words)])
        at_old, at_new = place_old + count, place_new + count
    return found


def _matches(old: list[str], new: list[str], budget: Budget) -> list[Match] | None:
    """What stays, in order; None beyond the budget."""
    shorter = min(len(old), len(new))
    head = 0
    while head < shorter and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < shorter - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    between = _between(old[head : len(old) - tail], new[head : len(new) - tail], budget)
    if between is None:
        return None
    inner = [(x + head, y + head, count) for x, y, count in between]
    return [(0, 0, head), *inner, (len(old) - tail, len(new) - tail, tail)]


def _between(old: list[str], new: list[str], budget: Budget) -> list[Match] | None:
    """``_matches`` of two texts that begin and end differently.

    ``rounds[d]`` holds how far into ``old`` ``d`` edits reach on each of their ``d + 1`` diagonals (places in ``old``
    minus places in ``new``: ``-d, -d + 2, … d``).
    """
    end_old, end_new = len(old), len(new)
    if not (old and new):
        return []
    rounds = [[0]]
    most = min(budget.left, _MOST_OF_ONE)
    spent = edits = 0
    while True:
        former = rounds[edits]
        edits += 1
        reached = []
        for place in range(edits + 1):
            x = former[place] if _comes(former, place, edits) else former[place - 1] + 1
            y = x - 2 * place + edits
            while x < end_old and y < end_new and old[x] == new[y]:
                x += 1
                y += 1
                spent += 1
            reached.append(x)
            if x >= end_old and y >= end_new:
                budget.left -= spent
                return _back(rounds, edits, x, y)
        rounds.append(reached)
        spent += edits
        if spent > most:
            budget.left -= spent
            return None


def _comes(former: list[int], place: int, edits: int) -> bool:
    """Whether the last of ``edits`` edits on a diagonal is a word that comes, and not one that goes."""
    return place == 0 or (place < edits and former[place - 1] < former[place])


def _back(rounds: list[list[int]], edits: int, x: int, y: int) -> list[Match]:
    """The matches on the way that led to ``x``, ``y``."""
    found: list[Match] = []
    for number in range(edits, 0, -1):
        former, diagonal = rounds[number - 1], x - y
        place = (diagonal + number) // 2
        comes = _comes(former, place, number)
        began = former[place] if comes else former[place - 1] + 1
        if x > began:
            found.append((began, began - diagonal, x - began))
        x, y = (began, began - diagonal - 1) if comes else (began - 1, began - diagonal)
    return found[::-1]
