"""What somebody asked to see beyond the books."""

from __future__ import annotations

from gradledger.ledger.details import DEFAULT_STEP
from gradledger.ledger.record import dataclass


@dataclass(frozen=True, slots=True)
class Wanted:
    """Curves of the whole run, and shapes and values around a few steps."""

    steps: tuple[int, ...] = (1, DEFAULT_STEP)
    """The steps to look at closely, counted from 1; skipped ones count."""
    metric: str | None = None
    """A variable of the program whose value is read when an epoch is over."""
