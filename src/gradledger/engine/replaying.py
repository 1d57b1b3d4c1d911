"""Batches differentiated the accumulator's way, with everything kept that a comparison needs."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from gradledger.engine import inputs, nesting
from gradledger.engine.counting import unit_for
from gradledger.engine.cycle import Cycle
from gradledger.engine.differentiating import differentiate
from gradledger.engine.precision import full_precision
from gradledger.engine.rehearsal import rehearsal
from gradledger.engine.sums import Term
from gradledger.engine.untouched import Leaves, leaves_of

_SAMPLE = 4096
"""So many values of a gradient are enough to tell of what it is made."""


class Side:
    """One loss term of a run over some batches."""

    def __init__(self, size: int) -> None:
        self.gradients: list[Tensor | None] = [None] * size
        """Sums at first, and divided by the counts' total at the end."""
        self.counts: list[float] = []
        self.sketches: list[Tensor] = []
        """Of each batch: values of its gradient, and its loss as the last one."""
        self.before: Tensor | None = None


class Replaying:
    """Runs loss functions; whoever calls it has put the parameters' gradients aside."""

    def __init__(
        self, cycle: Cycle, modules: Sequence[nn.Module], loss_fn: Callable[[Any], Any], leaves: Leaves
    ) -> None:
        self._cycle = cycle
        self._modules = modules
        self._parameters = cycle.parameters
        self._loss_fn = loss_fn
        self._leaves = leaves
        self._scale = cycle.scaling.now if cycle.scaling.scaler is not None else 1.0
        self.summed = cycle.sums.summed
        self.low = isinstance(cycle.scaling.autocast(), torch.autocast)
        """Whether the forward is cast to a lower precision."""

    def values(self, batch: Any) -> list[float]:
        """The loss terms' values."""
        return [float(loss.detach()) for _, loss, _ in self._terms(batch)]

    def run(self, batches: Sequence[Any]) -> dict[str, Side]:
        """The gradients of one window of these batches, term by term."""
        sides = self._run(batches)
        tries = 3 if self._cycle.scaling.scaler is not None else 0
        while tries and not all(_finite(side.gradients) for side in sides.values()):
            # As a scaler does when it meets an overflow, only quicker.
            self._scale, tries = self._scale / 256, tries - 1
            sides = self._run(batches)
        if not all(_finite(side.gradients) for side in sides.values()):
            raise ValueError("the gradient of this window is not finite, so there is nothing to compare")
        return sides

    def _run(self, batches: Sequence[Any]) -> dict[str, Side]:
        sides: dict[str, Side] = {}
        unit = 0.0
        for batch in batches:
            terms = self._terms(batch)
            unit = unit or unit_for(terms[0][2] or 1.0)
            for number, (name, loss, count) in enumerate(terms, 1):
                side = sides.setdefault(name, Side(len(self._parameters)))
                self._add(side, loss, count, unit, keep_graph=number < len(terms))
        for side in sides.values():
            total = sum(side.counts)
            factor = unit / total / self._scale if total else 0.0
            side.gradients = [None if g is None else g.mul_(factor) for g in side.gradients]
        return sides

    def _terms(self, batch: Any) -> list[Term]:
        # Every look starts from the same buffers: some modules change them whenever they run.
        with _uncompiled(), rehearsal(self._modules), torch.enable_grad(), self._cycle.scaling.fresh():
            given = self._loss_fn(batch)
        count: Any = None
        if isinstance(given, tuple):
            given, count = given
        elif isinstance(given, Tensor):
            count = nesting.samples(batch)
        return inputs.terms(given, count, self._parameters[0].device)

    def _add(self, side: Side, loss: Tensor, count: float, unit: float, *, keep_graph: bool) -> None:
        self._leaves.put_aside(leaves_of(loss))
        weight = (1.0 if self.summed else count) / unit if count else 0.0
        side.counts.append(count)
        for p, gradient in zip(self._parameters, side.gradients, strict=True):
            p.grad = gradient
        if weight:
            wide = full_precision(loss)
            differentiate(wide, torch.full_like(wide, weight * self._scale), (), keep_graph=keep_graph)
        side.gradients = [p.grad for p in self._parameters]
        for p in self._parameters:
            p.grad = None
        sketch = torch.cat(list(self._sketch(side.gradients)))
        part = (sketch if side.before is None else sketch - side.before) / ((weight or 1.0) * self._scale)
        side.before = sketch
        value = part.new_tensor([float(loss.detach()) if weight else 0.0])
        side.sketches.append(torch.cat([part, value]))

    def _sketch(self, gradients: Sequence[Tensor | None]) -> Iterator[Tensor]:
        total = sum(p.numel() for p in self._parameters)
        for p, gradient in zip(self._parameters, gradients, strict=True):
            stride = max(1, p.numel() // max(16, _SAMPLE * p.numel() // total))
            if gradient is None:
                yield torch.zeros(len(range(0, p.numel(), stride)), dtype=torch.float64)
            else:
                whole = gradient.to_dense() if gradient.is_sparse else gradient
                yield whole.detach().reshape(-1)[::stride].cpu().double()


def _uncompiled() -> contextlib.AbstractContextManager[Any]:
    """Compiled models run as they were written, where torch can be asked for that (from 2.6 on)."""
    stance = getattr(torch.compiler, "set_stance", None)
    return contextlib.nullcontext() if stance is None else stance("force_eager")


def _finite(gradients: Sequence[Tensor | None]) -> bool:
    return all(math.isfinite(float(g.detach().abs().sum())) for g in gradients if g is not None)
