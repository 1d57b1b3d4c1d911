"""Curves drawn with characters, as wide as the terminal."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

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
    label = 0
    while True:  # the numbers beside the frame want room, and the room decides on the columns
        width = facts.width - label - 5
        # The frame ends where the drawing does: one outlier inside a column's mean must not leave it empty.
        columns = [_columns(line, left, right, width) for line in lines]
        low = min(y for column in columns for _, y in column)
        high = max(y for column in columns for _, y in column)
        if high == low:
            low, high = low - 0.5, high + 0.5
        half = (height - 1) // 2
        middle = high - (high - low) * half / (height - 1)
        ticks = {half: _tick(middle), height - 1: _tick(low), 0: _tick(high)}
        longest = max(map(len, ticks.values()))
        if longest <= label:
            break
        label = longest
    grid = [[" "] * width for _ in range(height)]
    for index, drawn_columns in enumerate(columns):
        mark = facts.paint(_MARKS[not facts.unicode][index % 4], _ROLES[index % 4])
        for column, value in drawn_columns:
            row = round((high - value) / (high - low) * (height - 1))
            grid[row][column] = mark
    corner, side, floor = ("└", "│", "─") if facts.unicode else ("+", "|", "-")
    drawn = []
    for row, cells in enumerate(grid):
        drawn.append(f"  {ticks.get(row, ''):>{label}} {side}{''.join(cells).rstrip()}")
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
    means = [(column, sum(values) / len(values)) for column, values in sorted(sums.items())]
    if 2 * len(means) < width:
        return means
    # Nearly a point for each column: the few that have none are no gaps in the curve.
    between = [(a + 1, (y + z) / 2) for (a, y), (b, z) in pairwise(means) if b == a + 2]
    return sorted(means + between)


def _tick(value: float) -> str:
    """A number beside the frame, in three digits or so."""
    return number(value, 3 if abs(value) < 1 else max(0, 2 - int(math.log10(abs(value)))))


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
