"""What a few values of a gradient tell of a change made by hand."""

from __future__ import annotations

from torch import Tensor

from gradledger.ledger.record import dataclass
from gradledger.runtime.cohort import Cohort

_FEW = 16
_MOST_PARTS = 4096
"""Nobody averages over more micro-batches by hand."""


@dataclass(frozen=True, slots=True)
class Alteration:
    """What a few values tell of a change by hand."""

    clipping: bool = False
    divided_by: int = 0


def alteration(cohort: Cohort) -> Alteration:
    """Clipping changes values unevenly or by a varying factor; normalising divides by a whole number."""
    before, now = cohort.sample, take_sample(cohort)
    if before is None or now is None or len(before) != len(now):
        return Alteration()
    ratios = [b / a for a, b in zip(before, now, strict=True) if a]
    if not ratios or max(map(abs, ratios)) > 1.0 + 1e-6:
        return Alteration()
    ratio, last = max(ratios, key=abs), cohort.last_ratio
    if max(ratios) - min(ratios) > 1e-3 * abs(ratio):
        return Alteration(clipping=True)
    cohort.last_ratio = ratio
    by = round(1 / ratio) if ratio else 0
    # Any small factor is close to one over some large number.
    if 2 <= by <= _MOST_PARTS and abs(by * ratio - 1) < 1e-4 / max(1.0, by / 64):
        return Alteration(divided_by=by)
    return Alteration(clipping=last is not None and abs(last - ratio) > 1e-3 * abs(ratio))


def take_sample(cohort: Cohort) -> list[float] | None:
    """A few numbers of the smallest gradient, to tell one change from another."""
    return sample_of(cohort.smallest())


def sample_of(grad: Tensor | None) -> list[float] | None:
    """A few numbers of this gradient."""
    if grad is None or not grad.is_cpu or grad.is_sparse:
        return None
    few = getattr(grad, "_local_tensor", grad)
    if few.dim() != 1 or few.numel() > _FEW:
        few = few.detach().flatten()[:_FEW]
    return few.tolist() if few.is_floating_point() else []
