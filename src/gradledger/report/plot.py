"""Curves drawn with characters, as wide as the terminal."""

from __future__ import annotations

import math
from collections.abc import Sequence

from gradledger.ledger.record import dataclass
from gradledger.report.style import StreamFacts

HEIGHT = 10
_MARKS = ("•", "○", "×", "+"), ("*", "o", "x", "+")
_ROLES = "good", "error", "related", "warning"


@dataclass(frozen=True, slots=True)
class Line:
    """One curve: its name, and its points from left to right."""

    name: str
    at: Sequence[float]
    values: Sequence[float]


def plot(lines: Sequence[Line], facts: StreamFacts, *, below: str, height: int = HEIGHT) -> list[str]:
    """The curves in one frame: the mean of each column, the last curve on top."""
    points = [(x, y) for line in lines for x, y in zip(line.at, line.values, strict=True) if math.isfinite(y)]
    if len(points) < 2:
        return []
    left, right = min(x for x, _ in points), max(x for x, _ in points)
    label = max(len(number(edge(y for _, y in points))) for edge in (min, max))
    width = facts.width - label - 5
    # The frame ends where the drawing does: one outlier inside a column's mean must not leave it empty.
    columns = [_columns(line, left, right, width) for line in lines]
    low = min(y for column in columns for _, y in column)
    high = max(y for column in columns for _, y in column)
    if high == low:
        low, high = low - 0.5, high + 0.5
    grid = [[" "] * width for _ in range(height)]
    for index, drawn_columns in enumerate(columns):
        mark = facts.paint(_MARKS[not facts.unicode][index % 4], _ROLES[index % 4])
        for column, value in drawn_columns:
            row = round((high - value) / (high - low) * (height - 1))
            grid[row][column] = mark
    corner, side, floor = ("└", "│", "─") if facts.unicode else ("+", "|", "-")
    drawn = []
    for row, cells in enumerate(grid):
        told = {0: high, height - 1: low}.get(row)
        if row == (height - 1) // 2:
            told = high - (high - low) * row / (height - 1)
        drawn.append(f"  {'' if told is None else number(told):>{label}} {side}{''.join(cells).rstrip()}")
    drawn.append(f"  {'':>{label}} {corner}{floor * width}")
    scale = f"{left:g}{f'{below} {right:g}':>{width - len(f'{left:g}')}}"
    drawn.append(f"  {'':>{label}}  {scale}")
    if len(lines) > 1:
        marks = _MARKS[not facts.unicode]
        named = [f"{facts.paint(marks[i % 4], _ROLES[i % 4])} {line.name}" for i, line in enumerate(lines)]
        drawn.append(f"  {'':>{label}}  " + "   ".join(named))
    return drawn


def _columns(line: Line, left: float, right: float, width: int) -> list[tuple[int, float]]:
    sums: dict[int, list[float]] = {}
    for x, y in zip(line.at, line.values, strict=True):
        if math.isfinite(y):
            share = (x - left) / (right - left) if right > left else 0.0
            sums.setdefault(round(share * (width - 1)), []).append(y)
    return [(column, sum(values) / len(values)) for column, values in sorted(sums.items())]


def number(value: float | None, digits: int = 3) -> str:
    """A number in few characters; small and large ones as powers of ten, whole ones without a point."""
    if value is None:
        return "-"
    if not math.isfinite(value):
        return str(value)
    if value == int(value) and abs(value) < 1_000_000:
        return str(int(value))
    if 1e-3 <= abs(value) < 1e5:
        return f"{value:.{digits}f}"
    return f"{value:.2e}"
