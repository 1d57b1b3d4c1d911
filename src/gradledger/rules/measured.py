"""Windows whose losses were measured pass by pass."""

from __future__ import annotations

from gradledger.ledger.books import OptimizerBook
from gradledger.ledger.site import Site
from gradledger.ledger.window import MeasuredWindow, Tally
from gradledger.rules.regularity import by_hand, same_line


def measured_lines(book: OptimizerBook) -> dict[Site, list[MeasuredWindow]]:
    """By backward() line, the windows it filled alone with two micro-batches or more."""
    lines: dict[Site, list[MeasuredWindow]] = {}
    for measured in book.measured:
        window = measured.window
        shared = any(posting.used_by is not None for posting in window.postings())
        if window.one_line is not None and same_line(window) and not by_hand(window) and not shared:
            lines.setdefault(window.one_line, []).append(measured)
    return lines


def windows_of(book: OptimizerBook, site: Site) -> Tally:
    """How many windows of two micro-batches or more this line filled in all, measured or not."""
    whole = Tally()
    for window, tally in book.windows.items():
        if same_line(window) and window.one_line == site:
            whole.first = whole.first or tally.first
            whole.count += tally.count
    return whole


def mean_times(measured: MeasuredWindow, factor: float, *, tolerance: float = 1e-6) -> bool:
    """Whether every loss was a mean that entered with this factor."""
    return all(loss.reduction == "mean" for loss in measured.losses) and all_times(
        measured, factor, tolerance
    )


def all_times(measured: MeasuredWindow, factor: float, tolerance: float = 1e-6) -> bool:
    """Whether every loss, reduced in whatever way, entered with this factor."""
    return all(
        loss.factor is not None and abs(loss.factor - factor) <= tolerance * abs(factor)
        for loss in measured.losses
    )
