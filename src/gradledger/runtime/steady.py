"""Who may book a cycle of the loop many times at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from gradledger.ledger import events as ev


class Steady(Protocol):
    """Whoever can book a cycle many times at once."""

    def is_calm(self, events: Sequence[ev.Event]) -> bool:
        """Whether this cycle may be booked so."""

    def repeat(self, events: Sequence[ev.Event], times: int) -> None:
        """Book it."""
