"""Curves of characters."""

from __future__ import annotations

import math

import pytest

from gradledger.report.cells import cells
from gradledger.report.plot import Line, number, plot
from gradledger.report.style import StreamFacts


@pytest.mark.parametrize("width", [60, 80, 120])
@pytest.mark.parametrize("unicode", [True, False])
def test_a_plot_is_as_wide_as_the_terminal(width: int, unicode: bool) -> None:
    facts = StreamFacts(width=width, unicode=unicode)
    drawn = plot([Line("loss", range(200), [1 / (1 + i) for i in range(200)])], facts, below="step")
    assert max(map(cells, drawn)) <= width
    assert max(map(cells, drawn)) >= width - 2
    assert unicode or "\n".join(drawn).isascii()


def test_a_falling_line_falls() -> None:
    drawn = plot([Line("loss", [1, 2, 3], [3.0, 2.0, 1.0])], StreamFacts(width=60), below="step", height=3)
    rows = [line.partition("│")[2] for line in drawn[:3]]
    assert [row.index("•") for row in rows] == sorted(row.index("•") for row in rows)
    assert [row.count("•") for row in rows] == [1, 1, 1]
    assert drawn[0].split()[0] == "3"
    assert drawn[2].split()[0] == "1"


@pytest.mark.parametrize("values", [[], [1.0], [math.nan, math.inf]])
def test_too_few_points_are_not_drawn(values: list[float]) -> None:
    assert plot([Line("loss", range(len(values)), values)], StreamFacts(), below="step") == []


def test_a_level_line_and_broken_values_can_be_drawn() -> None:
    drawn = plot([Line("loss", range(4), [1.0, math.nan, 1.0, math.inf])], StreamFacts(), below="step")
    assert sum(line.count("•") for line in drawn) == 2


def test_the_frame_ends_where_the_drawing_does() -> None:
    values = [1.0] * 500 + [1000.0] + [2.0] * 499
    drawn = plot([Line("loss", range(1000), values)], StreamFacts(width=60), below="step")
    assert "•" in drawn[0]
    assert "•" in drawn[9]
    assert float(drawn[0].split()[0]) < 100


@pytest.mark.parametrize("values", [[0.0, 1.0], [1.0, 3.0], [0.0, 0.0015], [-1e4, 0.0], [24.03, 384.5]])
def test_the_frame_is_straight_whatever_stands_beside_it(values: list[float]) -> None:
    drawn = plot([Line("loss", [1, 2], values)], StreamFacts(width=60), below="step")
    assert len({line.index("│") for line in drawn[:10]}) == 1
    assert drawn[10].index("└") == drawn[0].index("│")
    assert max(len(line.partition("│")[0].strip()) for line in drawn[:10]) <= 8
    assert drawn[9].split()[0].rstrip("│") == number(values[0], 1 if values[0] == 24.03 else 3)


def test_nearly_as_many_points_as_columns_are_a_curve_without_gaps() -> None:
    drawn = plot([Line("loss", range(48), [1.0] * 48)], StreamFacts(width=60), below="step")
    (row,) = [line.partition("│")[2] for line in drawn if "•" in line]
    assert set(row) == {"•"}
    few = plot([Line("loss", range(8), [1.0] * 8)], StreamFacts(width=60), below="step")
    assert sum(line.count("•") for line in few) == 8


def test_two_lines_are_told_apart() -> None:
    lines = [Line("right", [1, 2], [1.0, 1.0]), Line("wrong", [1, 2], [2.0, 3.0])]
    drawn = "\n".join(plot(lines, StreamFacts(), below="step"))
    assert "• right   ○ wrong" in drawn


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "-"),
        (0.0, "0"),
        (3.0, "3"),
        (0.25, "0.250"),
        (1e-5, "1.00e-05"),
        (2.5e7, "2.50e+07"),
        (math.inf, "inf"),
    ],
)
def test_numbers_are_short(value: float | None, text: str) -> None:
    assert number(value) == text
