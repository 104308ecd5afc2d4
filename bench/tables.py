"""Medians and tables of plain text, which are Markdown too."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median, quantiles

__all__ = ["milliseconds", "ratio", "spread", "table"]


def milliseconds(seconds: Sequence[float]) -> str:
    """The median."""
    return f"{median(seconds) * 1e3:.2f} ms"


def spread(seconds: Sequence[float]) -> str:
    """The middle half of the samples."""
    low, _, high = quantiles(seconds, n=4)
    return f"{low * 1e3:.2f}–{high * 1e3:.2f}"


def ratio(these: Sequence[float], those: Sequence[float]) -> float:
    """Of the medians."""
    return median(these) / median(those)


def table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print it."""
    widths = [max(map(len, cells)) for cells in zip(columns, *rows, strict=True)]

    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)) + " |"

    print(f"\n### {title}\n")
    print(line(columns))
    print("|" + "|".join("-" * (width + 2) for width in widths) + "|")
    for row in rows:
        print(line(row), flush=True)
