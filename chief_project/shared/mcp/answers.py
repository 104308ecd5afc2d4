"""Compact answers: what changed and what is next, in as few bytes as say it (contract 10)."""

from collections.abc import Callable, Iterable
from typing import Any

from chief_project.shared.paging import Page
from chief_project.shared.wire.rendering import dumps


def cut(text: str | None, length: int = 80) -> str | None:
    """``text`` on one line, shortened to ``length``."""
    if text is None:
        return None
    line = " ".join(text.split())
    return line if len(line) <= length else line[: length - 1].rstrip() + "…"


def pruned(value: Any) -> Any:
    """``value`` without what says nothing: null, empty texts, arrays and objects inside objects."""
    if isinstance(value, dict):
        inner = {key: pruned(each) for key, each in value.items()}
        return {key: each for key, each in inner.items() if each is not None and each not in ("", [], {})}
    if isinstance(value, list):
        return [pruned(each) for each in value]
    return value


def within(items: Iterable[dict[str, Any]], budget: int) -> list[dict[str, Any]]:
    """As many of the first ``items`` as fit into ``budget`` bytes, and one at least."""
    kept: list[dict[str, Any]] = []
    for item in items:
        budget -= len(dumps(item))
        if kept and budget < 0:
            break
        kept.append(item)
    return kept


def listed(page: Page, make: Callable[[dict[str, Any]], dict[str, Any]]) -> dict[str, Any]:
    """``{items, has_more, cursor?}``: ``cursor`` asks for the next page."""
    found = {
        "items": [make(row) for row in page.rows],
        "has_more": page.next_cursor is not None,
        "cursor": page.next_cursor,
    }
    return {key: value for key, value in found.items() if value is not None}
