"""What a loss is the mean of: asked of the user, or read off the graph that computed it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import Tensor

from gradledger.runtime.graphs import loss_facts

Count = Callable[[Any], Any]
"""From a batch to the number of samples, tokens or weights its loss is the mean of."""


def counted(loss: Tensor, batch: Any, count: Count | None, *, scaled: bool = False) -> float:
    """The number behind this loss; an error says what to do where it cannot be told."""
    if count is not None:
        number = float(count(batch))
        if not number >= 0:
            raise ValueError(f"count() gave {number} for a batch: it is a number of samples or tokens")
        return number
    facts = loss_facts(loss.grad_fn, scaled=scaled)
    if facts.reduction not in ("mean", "masked") or facts.count is None:
        raise ValueError(
            "gradledger cannot tell what this loss is the mean of: pass count=, a function from the batch to "
            "that number, for example count=lambda batch: (batch['labels'] != -100).sum()"
        )
    return facts.count
