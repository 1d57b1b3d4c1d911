"""The gradients of the open window: sums, not yet divided by anything; one set for each loss term."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from gradledger.engine.counting import SOLE, Totals, unit_for
from gradledger.engine.differentiating import Pass, nothing
from gradledger.engine.policy import Policy
from gradledger.engine.precision import Scaling, full_precision
from gradledger.engine.roster import Roster
from gradledger.parallel.reduction import Reduction

Term = tuple[str, Tensor, float]
"""A loss term's name, its value, and the count it is the mean (or sum) of."""


class Sums:
    """Adds weighted gradients up, and puts them together when the window's totals are known.

    One loss is summed in `.grad` itself. Several terms have denominators that are unknown until the end, so
    each is differentiated by itself and summed in buffers of its own.
    """

    def __init__(
        self, roster: Roster, scaling: Scaling, reduction: Reduction, policy: Policy, *, summed: bool
    ) -> None:
        self._roster = roster
        self._scaling = scaling
        self._reduction = reduction
        self._policy = policy
        self.summed = summed
        self.unit = 0.0
        """The count that weighs one; a power of two, the same on all ranks and for the whole run."""
        self.agreed = False
        """Whether all ranks have this unit."""
        self.buffers: dict[str, list[Tensor | None]] = {}
        """The gradients of each loss term, where there are several."""
        self.inputs: Sequence[Tensor] = ()
        """What a backward is kept to; everything if this is empty."""
        self._root: tuple[float, torch.dtype, Tensor] | None = None

    # -- units ------------------------------------------------------------------------------------------

    def choose_unit(self, count: float, length: int | None) -> None:
        """Take the first count; ranks whose passes go together agree now, others at the first close."""
        reduction = self._reduction
        if reduction.needs_equal_passes:
            count = reduction.extremes(count)[1]
        if count:
            # The whole window, as far as it is known: its sum is then about a mean, and a scale fits as well.
            self.unit = unit_for(self._policy.expected(count, length, reduction.ranks))
            self.agreed = reduction.ranks == 1 or reduction.needs_equal_passes

    def agree(self) -> None:
        """Bring the gradients of this rank's window to a unit that all ranks share."""
        common = self._reduction.extremes(self.unit)[1]
        mine = [g for held in self.buffers.values() for g in held if g is not None]
        mine += [p.grad for p in self._roster.parameters if p.grad is not None]
        if mine and self.unit and self.unit != common:
            torch._foreach_mul_(mine, self.unit / common)
        self.unit, self.agreed = common, bool(common)

    # -- adding -----------------------------------------------------------------------------------------

    def add(self, terms: Sequence[Term], through: Pass, *, reduces: bool) -> None:
        """Differentiate every term."""
        name, loss, count = terms[0]
        if name == SOLE and not self.buffers:
            self._add(loss, count, through, reduces=reduces, keep_graph=False)
            return
        held = self._shown()
        if not self.buffers and any(g is not None for g in held):
            self.buffers[SOLE] = held
        for number, (name, loss, count) in enumerate(terms, 1):
            self.show(self.buffers.get(name))
            self._add(loss, count, through, reduces=False, keep_graph=number < len(terms))
            self.buffers[name] = self._shown()
        self.show(None)

    def _add(self, loss: Tensor, count: float, through: Pass, *, reduces: bool, keep_graph: bool) -> None:
        weight = (1.0 if self.summed else count) / self.unit if count else 0.0
        if not weight and not self._reduction.needs_equal_passes:
            if not reduces:
                return
            # The others wait for this rank's part; a loss over nothing may be NaN, which no factor mends.
            loss = nothing([p for p in self._roster.parameters if p.requires_grad])
        if self._scaling.scaler is not None:
            loss = full_precision(loss)
        factor = weight * self._scaling.now
        root = self._root
        if root is None or root[0] != factor or root[1] != loss.dtype or root[2].shape != loss.shape:
            root = self._root = (factor, loss.dtype, torch.full_like(loss, factor, requires_grad=False))
        through(loss, root[2], self.inputs, keep_graph=keep_graph)

    # -- showing ----------------------------------------------------------------------------------------

    def _shown(self) -> list[Tensor | None]:
        return [p.grad for p in self._roster.parameters]

    def show(self, gradients: Sequence[Tensor | None] | None) -> None:
        """Let the parameters' `.grad` be these."""
        for index, p in enumerate(self._roster.parameters):
            p.grad = None if gradients is None else gradients[index]

    def by_term(self) -> dict[str, list[Tensor | None]]:
        """All gradients, by the name of their term."""
        return self.buffers or {SOLE: self._shown()}

    def take_over(self, gradients: dict[str, list[Tensor | None]]) -> None:
        """Go on from saved ones."""
        if gradients.keys() == {SOLE}:
            self.show(gradients[SOLE])
        else:
            self.buffers = gradients

    # -- putting together -------------------------------------------------------------------------------

    def combine(self, totals: Totals) -> float:
        """Make `.grad` the sums over the ranks; gives what they are still to be multiplied by."""
        if not self.buffers and totals.terms == 1:
            gradients = [self._shown()]
        else:
            none: list[Tensor | None] = [None] * len(self._roster.parameters)
            mine = [self.buffers[name] for name in sorted(self.buffers)]
            gradients = [*mine, *[none] * (totals.terms - len(mine))]
        finished = self._reduction.finish(gradients, self._roster.parameters)
        unit = self.unit * self._reduction.factor() / self._scaling.now
        factors = [unit / count if count else 0.0 for count in totals.counts]
        if len(finished) == 1:
            if self._reduction.ranks > 1:
                self.show(finished[0])
            return factors[0] or 1.0
        for index, p in enumerate(self._roster.parameters):
            parts = [(part[index], factor) for part, factor in zip(finished, factors, strict=True)]
            terms = [g.mul_(factor) for g, factor in parts if g is not None]
            p.grad = terms[0] if terms else None
            for term in terms[1:]:
                terms[0].add_(term)
        return 1.0
