"""A window replayed as one full batch."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm

from gradledger.engine import nesting
from gradledger.engine.causes import Evidence, cause
from gradledger.engine.cycle import Cycle
from gradledger.engine.randomness import Randomness
from gradledger.engine.replaying import Replaying, Side
from gradledger.engine.untouched import untouched
from gradledger.engine.verification import Comparison, Verification, compare

Batch = TypeVar("Batch")

LossFn = Callable[[Batch], Any]
"""From a batch to its loss, to (loss, count), or to {"name": (loss, count)}."""

_TOLERANCE = {torch.float64: 1e-8, torch.float32: 1e-3}
_LOW = 5e-2
_HOW = ": pass collate=, a function that makes one batch of the list of micro-batches, for example by padding"


def verify(
    cycle: Cycle,
    models: Sequence[nn.Module],
    batches: list[Any],
    loss_fn: LossFn[Any],
    collate: Callable[[list[Any]], Any] | None = None,
    *,
    tolerance: float | None = None,
) -> Verification:
    """Compare the window's gradient with the full batch's, and look for the reason if they differ."""
    if not batches:
        raise ValueError("verify needs the micro-batches of a window, and got none")
    if cycle.reduction.needs_equal_passes:
        raise ValueError("verify compares whole gradients: call it before fully_shard() cuts the model up")
    whole = nesting.concatenate(batches, how=_HOW) if collate is None else collate(batches)
    modules = [module for model in models for module in model.modules()]
    with untouched(modules, cycle.parameters) as leaves:
        replaying = Replaying(cycle, modules, loss_fn, leaves)
        notes = _quieten(modules, batches[0], replaying)
        if tolerance is None:
            tolerance = (
                _LOW if replaying.low else max(_TOLERANCE.get(p.dtype, _LOW) for p in cycle.parameters)
            )
        look = _Look(replaying, batches, whole, [cycle.roster.name(p) for p in cycle.parameters], tolerance)
        look.collated = collate is not None
        found = look.compare()
        causes: list[str] = []
        if not found.ok:
            causes = look.causes()
            normed = [m for m in modules if isinstance(m, _BatchNorm) and m.training]
            if normed:
                with _frozen(normed):
                    without = look.compare()
                    causes = [] if without.ok else look.causes()
                if without.ok or without.error < 0.5 * found.error:
                    causes.insert(0, "BatchNorm couples the samples of a micro-batch")
    return Verification(
        found.ok,
        found.error,
        found.scale,
        tolerance,
        len(batches),
        tuple(causes),
        tuple(notes),
        found.rows,
    )


class _Look:
    """One comparison of a window with its full batch."""

    def __init__(
        self, replaying: Replaying, batches: list[Any], whole: Any, names: list[str], tolerance: float
    ) -> None:
        self._replaying = replaying
        self._batches = batches
        self._whole = whole
        self._names = names
        self._tolerance = tolerance
        self.collated = False
        self._window: dict[str, Side] = {}
        self._full: dict[str, Side] = {}

    def compare(self) -> Comparison:
        """Run both and put them side by side."""
        self._full = self._replaying.run([self._whole])
        self._window = self._replaying.run(self._batches)
        if self._full.keys() != self._window.keys():
            raise ValueError("loss_fn gives other terms for the full batch than for the micro-batches")
        if all(gradient is None for side in self._full.values() for gradient in side.gradients):
            raise ValueError(
                f"this loss reaches none of the {len(self._names)} parameters: it was computed by another "
                "model, or from detached tensors, or all of them are frozen"
            )
        return compare(_total(self._window), _total(self._full), self._names, self._tolerance)

    def causes(self) -> list[str]:
        """What is wrong, term by term."""
        found = []
        for term, window in self._window.items():
            full = self._full[term]
            alone = compare(window.gradients, full.gradients, self._names, self._tolerance)
            if not alone.ok:
                evidence = Evidence(
                    term,
                    tuple(window.counts),
                    tuple(window.sketches),
                    full.sketches[0],
                    self._replaying.summed,
                    self.collated,
                )
                found.append(cause(evidence, alone.scale, alone.residual, self._tolerance))
        return found


def _total(sides: Mapping[str, Side]) -> list[Tensor | None]:
    first, *others = sides.values()
    total = list(first.gradients)
    for side in others:
        for index, gradient in enumerate(side.gradients):
            held = total[index]
            total[index] = gradient if held is None else held if gradient is None else held + gradient
    return total


def _quieten(modules: Sequence[nn.Module], batch: Any, replaying: Replaying) -> list[str]:
    """Switch off what makes the loss random: first the dropout layers, then all that training mode does."""
    if not _is_random(batch, replaying):
        return []
    dropping = [m for m in modules if "drop" in type(m).__name__.lower()]
    others = [m for m in modules if not isinstance(m, _BatchNorm)]
    for quiet in (dropping, others):
        for module in quiet:
            module.training = False
        if not _is_random(batch, replaying):
            return ["the loss is random (dropout): compared with dropout off"]
    return ["the loss is random even in eval mode: the two gradients saw different random numbers"]


def _is_random(batch: Any, replaying: Replaying) -> bool:
    """Whether two looks at the same batch differ although nothing but random numbers has moved."""
    start = Randomness.take()
    one, other = replaying.values(batch), replaying.values(batch)
    start.restore()
    again = replaying.values(batch)
    # A loss that differs with the same random numbers is one of a device that adds in any order.
    return one == again and one != other


@contextlib.contextmanager
def _frozen(layers: Sequence[nn.Module]) -> Iterator[None]:
    for layer in layers:
        layer.training = False
    try:
        yield
    finally:
        for layer in layers:
            layer.training = True
