"""What is inside an open window: counts, losses, and the unit in which counts enter a backward."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from gradledger.parallel.reduction import Reduction

MOST_TERMS = 8
"""Loss terms with a denominator of their own; ranks exchange their counts in a message of fixed size."""

SOLE = ""
"""The name of the loss term where there is only one."""


def checked_count(count: object) -> float:
    """A count as a number, or a ValueError that says what is wrong with it."""
    if isinstance(count, Tensor):
        if count.numel() != 1:
            raise ValueError(
                f"count must be one number, not a tensor of shape {tuple(count.shape)}; "
                "pass its sum, such as (labels != -100).sum()"
            )
        count = count.item()
    try:
        number = float(count)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise ValueError(f"count must be a number of samples or tokens, not {count!r}") from None
    if not 0 <= number < math.inf:
        raise ValueError(f"count must be a finite number that is not negative, not {number}")
    return number


def unit_for(count: float) -> float:
    """A power of two near the count: to divide by it keeps loss * count in range and rounds nothing."""
    return float(2.0 ** round(math.log2(count)))


class Tally:
    """One loss term's part of a window."""

    __slots__ = ("_waiting", "count", "loss")

    def __init__(self, count: float = 0.0, loss: float = 0.0) -> None:
        self.count = count
        self.loss = loss
        self._waiting: list[tuple[Tensor, float]] = []

    def add(self, loss: Tensor, weight: float, count: float) -> None:
        """Take in a micro-batch whose loss is the mean over `weight` things."""
        self.count += count
        if not weight:
            return
        if loss.is_cpu:
            self.loss += loss.item() * weight
        else:
            # To read a number from a device is to wait for it; that is done once, when the window closes.
            self._waiting.append((loss.detach(), weight))

    def settle(self) -> None:
        """Read the losses that are still on a device."""
        if self._waiting:
            losses = torch.stack([loss.reshape(()) for loss, _ in self._waiting]).double()
            weights = losses.new_tensor([weight for _, weight in self._waiting])
            self.loss += float(torch.dot(losses, weights))
            self._waiting.clear()


class Window:
    """The open window."""

    def __init__(self) -> None:
        self.micro_batches = 0
        self.tallies: dict[str, Tally] = {}

    def tally(self, term: str) -> Tally:
        """The part of this term."""
        found = self.tallies.get(term)
        if found is None:
            found = self.tallies[term] = Tally()
        return found

    @property
    def count(self) -> float:
        """What is inside, by the first term's count."""
        return next(iter(self.tallies.values())).count if self.tallies else 0.0

    def state_dict(self) -> dict[str, Any]:
        """Everything as plain data."""
        for tally in self.tallies.values():
            tally.settle()
        terms = {name: [tally.count, tally.loss] for name, tally in self.tallies.items()}
        return {"micro_batches": self.micro_batches, "terms": terms}

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Window:
        """The reverse of `state_dict`."""
        window = cls()
        window.micro_batches = state["micro_batches"]
        window.tallies = {name: Tally(count, loss) for name, (count, loss) in state["terms"].items()}
        return window


@dataclass(frozen=True, slots=True)
class Totals:
    """What the windows of all ranks hold together, term by term in the order of their names."""

    counts: tuple[float, ...]
    losses: tuple[float, ...]
    micro_batches: float
    all_finished: bool
    """Every rank's data has ended."""

    @property
    def terms(self) -> int:
        """How many loss terms there are."""
        return len(self.counts)

    @property
    def empty(self) -> bool:
        """Whether there is nothing to divide by."""
        return not any(self.counts)

    @property
    def loss(self) -> float:
        """The sum of the terms' means."""
        return sum(loss / count for loss, count in zip(self.losses, self.counts, strict=True) if count)


def exchange(window: Window, reduction: Reduction, *, finished: bool) -> Totals:
    """Add this rank's window to those of the others."""
    tallies = [window.tallies[name] for name in sorted(window.tallies)]
    for tally in tallies:
        tally.settle()
    counts, losses = [t.count for t in tallies], [t.loss for t in tallies]
    if reduction.ranks == 1:
        return Totals(tuple(counts), tuple(losses), window.micro_batches, all_finished=True)
    space = [0.0] * (MOST_TERMS - len(tallies))
    sums = reduction.sums([finished, window.micro_batches, *counts, *space, *losses, *space])
    done, micro_batches, *numbers = sums
    counts, losses = numbers[:MOST_TERMS], numbers[MOST_TERMS:]
    used = max((i + 1 for i, count in enumerate(counts) if count), default=1)
    used = max(used, len(tallies))
    return Totals(tuple(counts[:used]), tuple(losses[:used]), micro_batches, done == reduction.ranks)
