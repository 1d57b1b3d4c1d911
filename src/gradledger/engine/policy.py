"""When a window is full, and what becomes of the one that is open when the data ends."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from gradledger.engine.counting import Window

Tail = Literal["flush", "carry", "drop"]
"""Apply the short window, keep it open for the next epoch, or throw it away."""

Every = int | Callable[[int], int]
"""So many micro-batches, or that number as a function of how many windows were closed before."""


class Policy:
    """Decides when a window is full."""

    def __init__(self, every: Every | None, target_count: float | None) -> None:
        if every is not None and target_count is not None:
            raise ValueError("give either every= or target_count=, not both")
        if target_count is not None and not 0 < target_count < float("inf"):
            raise ValueError(f"target_count must be a positive number, not {target_count!r}")
        if every is not None and not callable(every):
            whole_number("every", every)
        self._every: Every = 1 if every is None else every
        self._target = target_count

    def length(self, windows: int) -> int | None:
        """How many micro-batches the next window takes; None where only the counts tell."""
        if self._target is not None:
            return None
        if callable(self._every):
            return whole_number(f"every({windows})", self._every(windows))
        return self._every

    def expected(self, count: float, length: int | None, ranks: int) -> float:
        """About how much a rank's window will hold if its micro-batches are like this one."""
        return count * length if length is not None else max(count, (self._target or 0.0) / ranks)

    def fills(self, window: Window, count: float, length: int | None, ranks: int) -> bool:
        """Whether one more micro-batch fills the window; a target is meant for all ranks together."""
        if length is not None:
            return window.micro_batches + 1 >= length
        assert self._target is not None
        return (window.count + count) * ranks >= self._target


def whole_number(name: str, number: object) -> int:
    """A number of micro-batches or samples, or a ValueError."""
    if isinstance(number, bool) or not isinstance(number, int) or number < 1:
        raise ValueError(f"{name} must be a whole number, at least 1, not {number!r}")
    return number
