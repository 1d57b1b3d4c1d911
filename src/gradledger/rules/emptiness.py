"""Steps that found nothing to apply, and nothing that had been taken away from them."""

from __future__ import annotations

from gradledger.ledger.books import OptimizerBook
from gradledger.ledger.site import Site
from gradledger.ledger.window import Tally, Window


def barren(window: Window) -> bool:
    """Whether no backward() reached the step's parameters since the step before."""
    return window.empty and next(window.lost(), None) is None


def barren_steps(book: OptimizerBook) -> dict[Site | None, Tally]:
    """How often each line stepped on nothing, and when first."""
    lines: dict[Site | None, Tally] = {}
    for window, tally in book.windows.items():
        if barren(window):
            line = lines.setdefault(window.step.site, Tally(0, tally.first))
            line.count += tally.count
    return lines
