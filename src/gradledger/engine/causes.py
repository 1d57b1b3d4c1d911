"""Why a window's gradient is not that of the full batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True, slots=True)
class Evidence:
    """What one loss term has shown in the micro-batches and in the full batch."""

    term: str
    counts: tuple[float, ...]
    """What each micro-batch was said to weigh."""
    parts: tuple[Tensor, ...]
    """A sample of each micro-batch's gradient, and its loss at the end."""
    whole: Tensor
    """The same of the full batch."""
    summed: bool
    """Losses are said to be sums."""
    collated: bool
    """The full batch was put together by the user."""

    def weights(self, tolerance: float) -> list[float] | None:
        """The weights with which the parts make up the whole, if there are any."""
        size = float(torch.linalg.vector_norm(self.whole[:-1]))
        if len(self.whole) < 2 * len(self.parts) or not size:
            return None
        # The loss obeys the same law as its gradient, and counts as much as all of it.
        even = torch.full_like(self.whole, 1 / size)
        even[-1] = 1 / max(abs(float(self.whole[-1])), 1e-30)
        matrix, whole = torch.stack(self.parts, dim=1) * even[:, None], self.whole * even
        found = torch.linalg.lstsq(matrix, whole, driver="gelsd").solution
        left = float(torch.linalg.vector_norm(matrix @ found - whole))
        return [float(each) for each in found] if left <= min(10 * tolerance, 0.1) else None


def cause(evidence: Evidence, scale: float, residual: float, tolerance: float) -> str:
    """The most likely reason in words."""
    name = f"{evidence.term}: " if evidence.term else ""
    weights = evidence.weights(tolerance)
    if weights is None:
        padding = ", or the padding of collate changes the loss" if evidence.collated else ""
        return (
            f"{name}this loss compares samples with each other{padding}: its parts do not make up the whole; "
            "use gradledger.cached_backward"
        )
    return f"{name}{_off(scale, residual, tolerance)}{_reading(evidence, weights)}"


def _off(scale: float, residual: float, tolerance: float) -> str:
    """How wrong it is, where one factor says it."""
    if residual > min(10 * tolerance, 0.1) or scale <= 0 or abs(scale - 1) <= max(tolerance, 1e-2):
        return ""
    return f"{scale:.2f}x too large: " if scale > 1 else f"{1 / scale:.2f}x too small: "


def _reading(evidence: Evidence, weights: Sequence[float]) -> str:
    counts, total = evidence.counts, sum(evidence.counts)
    if not evidence.summed and _near(weights, [1.0] * len(weights)):
        return 'the loss is a sum and not a mean: Accumulator(..., reduction="sum")'
    if evidence.summed and _near(weights, [count / total for count in counts]):
        return 'the loss is not a sum but a mean, and is not divided: leave reduction="sum" out'
    if _near([sum(weights)], [1.0]) and min(weights) >= 0:
        share = [weight * total for weight in weights]
        return (
            f"the counts are not those of the loss: they say {_listed(counts)}, and the full batch weighs "
            f"its parts {_listed(share)}; pass what the loss is divided by, such as the number of labels "
            "that are not ignored"
        )
    return (
        f"the loss is not a mean over {_listed(counts)}: the full batch weighs its parts {_listed(weights)}"
    )


def _near(found: Sequence[float], expected: Sequence[float]) -> bool:
    return all(abs(f - e) <= 1e-2 * max(abs(e), 1e-2) for f, e in zip(found, expected, strict=True))


def _listed(numbers: Sequence[float]) -> str:
    shown = " : ".join(f"{number:.4g}" for number in numbers[:6])
    return f"{shown} : ..." if len(numbers) > 6 else shown
