"""One sentence about the numbers of an epoch, and one about those of the run."""

from __future__ import annotations

import math
from collections.abc import Sequence

from gradledger.ledger.record import replace
from gradledger.story.told import Epoch

FLAT = 0.01
"""A change of the loss by less than this share is none."""
DIVERGED = 2.0
"""So many times the best loss so far is no longer learning."""
GROWN = 1.25
"""So many times the norm before is growth."""


def observed(epochs: Sequence[Epoch]) -> tuple[Epoch, ...]:
    """The same table with its observations."""
    told: list[Epoch] = []
    best = math.inf
    for number, epoch in enumerate(epochs):
        text = _sentence(epoch, epochs[number - 1] if number else None, best)
        if epoch.skipped:
            text += f"; {_times(epoch.skipped, 'update')} skipped by the scaler"
        told.append(replace(epoch, observation=text))
        if epoch.loss is not None and math.isfinite(epoch.loss):
            best = min(best, epoch.loss)
    return tuple(told)


def _sentence(epoch: Epoch, before: Epoch | None, best: float) -> str:
    if not epoch.updates and not epoch.skipped:
        return "no update was made"
    if epoch.loss is not None and not math.isfinite(epoch.loss):
        return "the loss is no number any more"
    trend = _trend(epoch, before, best)
    if epoch.stale_updates and epoch.stale_updates >= epoch.updates / 2:
        grown = before is not None and _ratio(epoch.norm, before.norm) > GROWN
        why = "gradients grow" if grown else "old gradients are applied again"
        return f"{why}: they were never cleared; {trend}"
    return trend


def _trend(epoch: Epoch, before: Epoch | None, best: float) -> str:
    if epoch.loss is None:
        return "no loss was seen"
    if before is None or before.loss is None or not math.isfinite(before.loss):
        first, last = epoch.first_loss, epoch.last_loss
        if first is None or last is None or epoch.passes < 2:
            return "the first value"
        least = abs(first) * FLAT
        word = "falling" if last < first - least else "rising" if last > first + least else "level"
        return f"{word} from {first:.3g} to {last:.3g}"
    change = (epoch.loss - before.loss) / abs(before.loss) if before.loss else 0.0
    if best > 0 and epoch.loss > DIVERGED * best:
        return f"diverging: {epoch.loss / best:.3g} times the best loss so far"
    if abs(change) < FLAT:
        return "plateau: the loss changed by less than 1%"
    word = "falling" if change < 0 else "rising"
    if before.loss <= 0 or epoch.loss < 0:  # a share of what may be negative says nothing
        return f"{word} from {before.loss:.3g} to {epoch.loss:.3g}"
    return f"{word} by {abs(change):.0%}"


def summed_up(epochs: Sequence[Epoch]) -> str:
    """What became of the loss over the run."""
    losses = [epoch.loss for epoch in epochs if epoch.loss is not None]
    if len(losses) < 2:
        return ""
    digits = ".3f" if min(map(abs, losses)) >= 1e-3 else ".3g"
    text = f"loss {losses[0]:{digits}} to {losses[-1]:{digits}}"
    right = [epoch.accuracy for epoch in epochs if epoch.accuracy is not None]
    if len(right) > 1:
        text += f", accuracy {right[0]:.3f} to {right[-1]:.3f}"
    stale = sum(epoch.stale_updates for epoch in epochs)
    if stale:
        text += f"; {_times(stale, 'update')} applied gradients that an earlier one had applied"
    return text


def _ratio(now: float | None, before: float | None) -> float:
    return now / before if now is not None and before else 0.0


def _times(count: int, what: str) -> str:
    return f"1 {what}" if count == 1 else f"{count} {what}s"
