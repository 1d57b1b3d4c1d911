"""Curves without a script are drawn between round numbers."""

from __future__ import annotations

import re

import pytest

from gradledger.report.page.line_plot import line_plot, round_ticks
from gradledger.report.plot import Line


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [
        (0.211, 14.89, [0, 5, 10, 15]),
        (0.081, 0.778, [0, 0.2, 0.4, 0.6, 0.8]),
        (0, 110.048, [0, 50, 100, 150]),
        (-3, 5, [-4, -2, 0, 2, 4, 6]),
        (1e-07, 4e-07, [1e-07, 2e-07, 3e-07, 4e-07]),
        (0.5, 1.5, [0.5, 0.75, 1, 1.25, 1.5]),
    ],
)
def test_ticks_are_round_and_hold_what_is_drawn(low: float, high: float, ticks: list[float]) -> None:
    assert round_ticks(low, high) == pytest.approx(ticks)


def test_every_point_is_inside_the_frame() -> None:
    drawn = line_plot("Loss", [Line("right", (1, 2, 3), (0.211, 14.89, float("nan")))], "step")
    (path,) = re.findall(r'd="M([^"]*)"', drawn)
    assert all(8 <= float(point.split(",")[1]) <= 148 for point in path.split("L"))
    assert [*re.findall(r'text-anchor="end">([^<]*)<', drawn)] == ["0", "5", "10", "15", "step 2"]
