"""How small the model is: lengths of loops, stand-ins for numbers that are large or cannot be seen."""

from __future__ import annotations

from gradledger.ledger.record import dataclass, field

STAND_IN = 3
"""What an unknown or large window length becomes."""

LARGEST = 8
"""Windows up to this length are played as they are."""

EPOCHS = 2

EXACT = 12
"""Loops of a known length up to this are run in full."""


@dataclass(frozen=True, slots=True)
class Scale:
    """What one attempt assumes; a later attempt assumes what the one before has learnt."""

    window: int = 1
    """The longest window seen."""
    small: dict[int, int] = field(default_factory=dict)
    """Large numbers that close windows -> what they become."""
    values: dict[str, int] = field(default_factory=dict)
    """Unknown numbers that close windows -> what they become."""
    optimizers: tuple[str, ...] = ()
    """Labels of the optimizers that were not built in sight."""

    @property
    def batches(self) -> int:
        """How many batches a loader of unknown length yields: three windows and a tail."""
        return 3 if self.window == 1 else 3 * self.window + 1

    def number(self, value: int) -> int:
        """The stand-in for a number."""
        return self.small.get(value, value)

    def length(self, length: int) -> int:
        """A known length made small, so that the last window is as full as it was."""
        if length in self.small:
            return self.small[length]
        window = self.window
        if length <= max(self.batches, EXACT):
            return length
        if window == 1:
            return self.batches
        real = next((large for large, small in self.small.items() if small == window), window)
        rest = length % real
        return 3 * window + (rest if real == window else min(rest, 1))


@dataclass(slots=True)
class Learnt:
    """What an attempt found out about the numbers."""

    windows: set[int] = field(default_factory=set)
    large: dict[int, None] = field(default_factory=dict)
    unknown: dict[str, None] = field(default_factory=dict)
    optimizers: dict[str, None] = field(default_factory=dict)

    def scale(self, before: Scale) -> Scale:
        """What the next attempt should assume."""
        small = dict(before.small)
        for number in self.large:
            small.setdefault(number, STAND_IN if not small else STAND_IN + len(small))
        values = dict(before.values)
        for label in self.unknown:
            values.setdefault(label, STAND_IN)
        window = max(
            1,
            before.window,
            *self.windows,
            *(small[n] for n in self.large),
            *(values[u] for u in self.unknown),
        )
        optimizers = tuple(dict.fromkeys((*before.optimizers, *self.optimizers)))
        return Scale(min(window, LARGEST), small, values, optimizers)
