"""The end of a window: unscale, normalise and clip in as few passes as can be, then step."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.optim import Optimizer

from gradledger.engine.clipping import Clip, norms
from gradledger.engine.custody import Custody
from gradledger.engine.precision import WideGradients
from gradledger.parallel.reduction import Reduction


@dataclass(frozen=True, slots=True)
class Plan:
    """What is done to the gradients before the step."""

    factors: tuple[float, ...]
    """For each parameter group what its gradients are multiplied by."""
    norm: float
    """Of the window's gradient before clipping."""
    clips: bool
    """Whether a bound was exceeded."""

    @property
    def finite(self) -> bool:
        """Whether the gradient can be applied."""
        return math.isfinite(self.norm)


class Closing:
    """Works on gradients that are sums: divides, bounds and applies them."""

    def __init__(
        self,
        optimizers: Sequence[Optimizer],
        custody: Custody,
        clip: Clip,
        reduction: Reduction,
        wide: WideGradients | None,
    ) -> None:
        self._optimizers = tuple(optimizers)
        self._custody = custody
        self._clip = clip
        self._reduction = reduction
        self._wide = wide

    def _groups(self) -> list[list[Tensor]]:
        """The gradients, group by group."""
        return [
            [p.grad for p in group["params"] if p.grad is not None]
            for optimizer in self._optimizers
            for group in optimizer.param_groups
        ]

    def plan(self, factor: float) -> Plan:
        """Measure the gradients once; the factor turns the sums into the window's mean."""
        groups = self._groups()
        flat = [gradient for group in groups for gradient in group]
        if not flat:
            return Plan((factor,) * len(groups), 0.0, clips=False)
        parts = norms(flat)
        norm = self._reduction.norm(parts) * factor
        clip = self._clip
        if clip.norm is None or not math.isfinite(norm):
            return Plan((factor,) * len(groups), norm, clips=False)
        if isinstance(clip.norm, float):
            bound = clip.coefficient(norm, clip.norm)
            return Plan((factor * bound,) * len(groups), norm, clips=bound < 1)
        factors: list[float] = []
        for group, limit in zip(groups, clip.norm, strict=True):
            mine, parts = parts[: len(group)], parts[len(group) :]
            inside = self._reduction.norm(mine) * factor if mine else 0.0
            factors.append(factor * clip.coefficient(inside, limit))
        return Plan(tuple(factors), norm, clips=min(factors) < factor)

    def prepare(self, plan: Plan) -> Tensor | None:
        """Multiply and bound the gradients; or the scale with which a fused optimizer does it on the way."""
        if self._folds(plan):
            return self._grad_scale(plan.factors[0])
        self._multiply(plan)
        if self._clip.value is not None:
            flat = [gradient for group in self._groups() for gradient in group]
            torch._foreach_clamp_max_(flat, self._clip.value)
            torch._foreach_clamp_min_(flat, -self._clip.value)
        if self._wide is not None:
            self._wide.hand_over()
        return None

    def step(self, scale: Tensor | None) -> None:
        """Let the optimizers apply what is there."""
        if scale is None:
            self._custody.step()
            return
        for optimizer in self._optimizers:
            optimizer.grad_scale = scale  # type: ignore[attr-defined]
        try:
            self._custody.step()
        finally:
            for optimizer in self._optimizers:
                del optimizer.grad_scale  # type: ignore[attr-defined]

    def _folds(self, plan: Plan) -> bool:
        """Whether the optimizers multiply the gradients themselves: by one factor, in single precision."""
        for optimizer in self._optimizers:
            if not getattr(optimizer, "_step_supports_amp_scaling", False):
                return False
        if len(set(plan.factors)) != 1 or self._clip.value is not None or self._wide is not None:
            return False
        return self._first().dtype != torch.float64

    def _grad_scale(self, factor: float) -> Tensor:
        """The factor as fused optimizers take it: what they divide by."""
        return torch.full((), 1.0 / factor, dtype=torch.float32, device=self._first().device)

    def _first(self) -> Tensor:
        return next(p for o in self._optimizers for g in o.param_groups for p in g["params"])

    def _multiply(self, plan: Plan) -> None:
        groups = self._groups()
        if len(set(plan.factors)) == 1:
            groups = [[gradient for group in groups for gradient in group]]
        for group, factor in zip(groups, plan.factors, strict=False):
            if group and factor != 1.0:
                torch._foreach_mul_(group, factor)
