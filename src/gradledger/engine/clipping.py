"""Norms and bounds of a window's gradient."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True, slots=True)
class Clip:
    """What bounds a window's gradient: its norm, the norm of each parameter group, or each value."""

    norm: float | tuple[float, ...] | None = None
    value: float | None = None

    def coefficient(self, norm: float, bound: float) -> float:
        """What to multiply by, as torch.nn.utils.clip_grad_norm_ computes it."""
        return min(1.0, bound / (norm + 1e-6))


def checked_clip(norm: float | Sequence[float] | None, value: float | None, groups: int) -> Clip:
    """The bounds, or a ValueError."""
    if norm is not None and value is not None:
        raise ValueError("give either clip_norm= or clip_value=, not both")
    bounds: float | tuple[float, ...] | None
    if norm is None or isinstance(norm, (int, float)):
        bounds = None if norm is None else float(norm)
    else:
        bounds = tuple(float(bound) for bound in norm)
        if len(bounds) != groups:
            raise ValueError(f"clip_norm has {len(bounds)} bounds for {groups} parameter groups")
    for bound in (*(bounds if isinstance(bounds, tuple) else (bounds,)), value):
        if bound is not None and not bound > 0:
            raise ValueError(f"a gradient cannot be clipped to {bound!r}: the bound must be positive")
    return Clip(bounds, value)


def norms(gradients: list[Tensor]) -> list[Tensor]:
    """The norm of each gradient, in at least single precision, in one pass."""
    dtype = gradients[0].dtype
    if all(g.dtype == dtype for g in gradients):
        if dtype in (torch.float16, torch.bfloat16):
            return list(torch._foreach_norm(gradients, 2, dtype=torch.float32))
        return list(torch._foreach_norm(gradients, 2))
    return [torch.linalg.vector_norm(g, dtype=torch.float64).float() for g in gradients]
