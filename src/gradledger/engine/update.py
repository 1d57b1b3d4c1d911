"""What became of a window."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Outcome = Literal["applied", "skipped_nonfinite", "skipped_empty"]
"""Skipped are windows with a NaN or infinite gradient, and windows whose counts add up to nothing."""


@dataclass(frozen=True, slots=True)
class Update:
    """One closed window."""

    step: int
    """How many updates have been applied so far, this one included."""
    outcome: Outcome
    grad_norm: float
    """The norm of the window's gradient, before clipping; NaN or inf where it is not finite."""
    count: float
    """The samples, tokens or weights inside, over all ranks."""
    micro_batches: int
    """The backward passes inside, on this rank."""
    lr: float
    """The learning rate it was applied with (that of the first parameter group)."""
    loss: float
    """The loss of the window: the mean over everything inside, over all ranks."""

    @property
    def applied(self) -> bool:
        """Whether the parameters moved."""
        return self.outcome == "applied"
