from __future__ import annotations

import pytest

from gradledger.ledger.events import LossMeasured, OptimizerStepped
from gradledger.ledger.window import MeasuredWindow, Window
from gradledger.rules.measured import all_times, mean_times, measured_lines, windows_of
from tests.ledger_script import Script, at


def losses(*factors: float | None, reduction: str = "mean") -> MeasuredWindow:
    measured = tuple(LossMeasured(None, (1,), reduction, factor, 8) for factor in factors)  # type: ignore[arg-type]
    return MeasuredWindow(1, Window(OptimizerStepped(None, (1,), 1), ()), measured)


def test_every_loss_must_have_the_factor() -> None:
    assert all_times(losses(0.5, 0.5), 0.5)
    assert all_times(losses(0.0, 0.0), 0.0)
    assert all_times(losses(-0.5), -0.5)
    assert not all_times(losses(0.5, 0.6), 0.5)
    assert not all_times(losses(0.5, None), 0.5)


@pytest.mark.parametrize("sign", [1, -1])
def test_what_rounding_does_is_no_difference(sign: int) -> None:
    assert all_times(losses(0.5 + sign * 4e-7), 0.5)
    assert not all_times(losses(0.5 + sign * 6e-7), 0.5)


def test_only_means_are_means() -> None:
    assert mean_times(losses(0.5), 0.5)
    assert mean_times(losses(0.504), 0.5, tolerance=0.01)
    assert not mean_times(losses(0.504), 0.5)
    assert not mean_times(losses(0.5, reduction="sum"), 0.5)


def windows(script: Script, *lines: int) -> Script:
    for line in lines:
        script.backward(line).loss(1.0)
    return script


def test_windows_are_gathered_by_the_line_that_filled_them() -> None:
    script = Script()
    for lines in ((3, 3), (4, 4), (3, 3), (3,), (3, 4)):
        windows(script, *lines).step(5).clear(6)
    windows(script, 3, 3).change(8).step(5).clear(6)  # the program's own arithmetic
    gathered = measured_lines(script.books.optimizer(1))
    assert {site.line: [m.step for m in found] for site, found in gathered.items()} == {3: [1, 3], 4: [2]}


def test_a_window_that_another_optimizer_has_used_is_left_out() -> None:
    script = Script().optimizer(2, 2).open(2, optimizer=2)
    for _ in range(2):
        script.backward(3, 1, 2).loss(1.0)
    script.step(4, 2, optimizer=2).step(5)
    assert measured_lines(script.books.optimizer(1)) == {}


def test_all_windows_of_a_line_are_counted_whatever_their_size() -> None:
    script = Script()
    for lines in ((4, 4), (3, 3), (3, 3, 3), (3,), (3, 4), (3, 3)):
        windows(script, *lines).step(5).clear(6)
    whole = windows_of(script.books.optimizer(1), at(3))
    assert (whole.count, whole.first) == (3, 2)
