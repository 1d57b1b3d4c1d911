"""What a comparison of a window with its full batch has shown, in numbers and in words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True, slots=True)
class Compared:
    """One parameter's gradient in the window against that of the full batch."""

    name: str
    error: float
    """The norm of the difference over the norm of the full batch's gradient."""
    scale: float
    """The factor that takes the full batch's gradient nearest to the window's."""
    norm: float
    """The norm of the full batch's gradient."""
    ok: bool

    def __str__(self) -> str:
        return f"{self.name}: error {self.error:.1e}, scale {self.scale:.4g}"


@dataclass(frozen=True, slots=True)
class Verification:
    """Whether a window's gradient is that of the full batch, and if not, why."""

    ok: bool
    error: float
    """The relative error of the whole gradient."""
    scale: float
    """The factor that takes the full batch's gradient nearest to the window's."""
    tolerance: float
    micro_batches: int
    causes: tuple[str, ...]
    """What explains the difference, most certain first; empty if there is none."""
    notes: tuple[str, ...]
    """What one should know about the comparison."""
    parameters: tuple[Compared, ...]
    """Every parameter that has a gradient."""

    @property
    def message(self) -> str:
        """The verdict in one line."""
        if self.ok:
            verdict = "exact" if not self.error else f"exact to {self.error:.0e}"
        else:
            verdict = "; ".join(self.causes)
        return "; ".join((verdict, *self.notes))

    def __bool__(self) -> bool:
        return self.ok

    def __str__(self) -> str:
        count = "1 micro-batch" if self.micro_batches == 1 else f"{self.micro_batches} micro-batches"
        lines = [f"{count} against the full batch: {self.message}"]
        if not self.ok:
            lines.append(f"  whole gradient: error {self.error:.1e}, scale {self.scale:.4g}")
            wrong = sorted((each for each in self.parameters if not each.ok), key=lambda each: -each.error)
            lines += [f"  {each}" for each in wrong[:8]]
            if len(wrong) > 8:
                lines.append(f"  and {len(wrong) - 8} more of {len(self.parameters)} parameters")
        return "\n".join(lines)


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two gradients, parameter by parameter and as a whole."""

    rows: tuple[Compared, ...]
    error: float
    scale: float
    residual: float
    """What is left of the difference if the scale is taken out."""

    @property
    def ok(self) -> bool:
        """Whether no parameter differs by more than rounding."""
        return all(row.ok for row in self.rows)


def compare(
    window: Sequence[Tensor | None], full: Sequence[Tensor | None], names: Sequence[str], tolerance: float
) -> Comparison:
    """Compare in double precision; differences far below the whole gradient's size are rounding."""
    numbers = [_numbers(w, f) for w, f in zip(window, full, strict=True)]
    total = math.sqrt(sum(n[2] for n in numbers if n is not None))
    rows = []
    for name, found in zip(names, numbers, strict=True):
        if found is not None:
            apart, along, square, _ = found
            norm, difference = math.sqrt(square), math.sqrt(apart)
            # A gradient that is zero in theory is all rounding: it is measured against the whole.
            fine = difference <= max(tolerance * norm, tolerance * 1e-2 * total)
            rows.append(Compared(name, _ratio(difference, norm), _ratio(along, square), norm, fine))
    apart, along, square, other = (sum(n[i] for n in numbers if n is not None) for i in range(4))
    left = max(other - along**2 / square, 0.0) if square else other
    error = _ratio(math.sqrt(apart), math.sqrt(square))
    return Comparison(
        tuple(rows), error, _ratio(along, square), _ratio(math.sqrt(left), math.sqrt(other) or 1.0)
    )


def _numbers(window: Tensor | None, full: Tensor | None) -> tuple[float, float, float, float] | None:
    """Squares of difference, full and window, and the product of the last two: all that is needed."""
    if window is None and full is None:
        return None
    there = window if full is None else full
    assert there is not None
    w, f = (_flat(torch.zeros_like(there) if each is None else each) for each in (window, full))
    return (
        float(torch.dot(w - f, w - f)),
        float(torch.dot(w, f)),
        float(torch.dot(f, f)),
        float(torch.dot(w, w)),
    )


def _flat(gradient: Tensor) -> Tensor:
    whole = gradient.to_dense() if gradient.is_sparse else gradient
    wide = torch.float32 if gradient.device.type == "mps" else torch.float64
    return whole.detach().reshape(-1).to(wide)


def _ratio(one: float, other: float) -> float:
    if other:
        return one / other
    return math.inf if one else 0.0
