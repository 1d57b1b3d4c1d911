"""The probes at zero_grad(), of optimizers and of modules."""

from __future__ import annotations

import sys
from collections.abc import Callable
from itertools import repeat
from operator import is_
from typing import Any

from torch import nn
from torch.optim import optimizer as optim

from gradledger.ledger import events as ev
from gradledger.ledger.site import Site
from gradledger.runtime import source
from gradledger.runtime.cohort import Cohort, Gone, all_zero
from gradledger.runtime.observer import Observer
from gradledger.runtime.passes import Passes
from gradledger.runtime.patch import Patches
from gradledger.runtime.shield import shielded


class Clearing:
    """Sees zero_grad() and books what it really cleared; clearing by hand shows at the next boundary."""

    def __init__(self, observer: Observer, passes: Passes) -> None:
        self.observer = observer
        self._passes = passes

    def install(self, patches: Patches) -> None:
        """Put the probes in place."""
        patches.wrap(optim.Optimizer, "zero_grad", self._of_optimizer)
        patches.wrap(nn.Module, "zero_grad", self._of_module)

    def _of_optimizer(self, original: Callable[..., Any]) -> Callable[..., Any]:
        here = self.observer.here

        def zero_grad(optimizer: Any, *args: Any, **kwargs: Any) -> Any:
            result = original(optimizer, *args, **kwargs)
            cruise = here.cruise
            if cruise.on and cruise.clears(optimizer):
                return result
            self._optimizer_cleared(optimizer, self.observer.sites.find(1))
            return result

        return zero_grad

    def _of_module(self, original: Callable[..., Any]) -> Callable[..., Any]:
        here = self.observer.here

        def zero_grad(module: Any, *args: Any, **kwargs: Any) -> Any:
            result = original(module, *args, **kwargs)
            cruise = here.cruise
            if cruise.on and cruise.clears():
                return result
            self._module_cleared(module, self.observer.sites.find(1))
            return result

        return zero_grad

    @shielded
    def _optimizer_cleared(self, optimizer: Any, site: Site) -> None:
        number, cohorts = self.observer.optimizer(optimizer)
        self._book(cohorts, site, by="optimizer", owner=number)

    @shielded
    def _module_cleared(self, module: nn.Module, site: Site) -> None:
        held = [cohort for cohort in self.observer.mine() if cohort.held]
        if len(held) > 1 and source.hand_written_clear(site) is not None:
            self._settle_others(held, module, site)
        if not self._book(held, site, by="module", owner=None):
            # Worth knowing all the same: a clearing that never clears anything is a mistyped one.
            self.observer.cleared(self._empty(module), site, by="module", to="none")

    def _settle_others(self, held: list[Cohort], module: nn.Module, site: Site) -> None:
        """What other models lost by now was cleared by hand before."""
        own = set(map(id, module.parameters()))
        others = [cohort for cohort in held if not any(id(ref()) in own for ref in cohort.refs)]
        self.observer.settle(others, site)

    def _empty(self, module: nn.Module) -> list[Cohort]:
        """The cohorts of this module that hold nothing."""
        known = (self.observer.cohort_of(param) for param in module.parameters())
        return list({c.account: c for c in known if c is not None and not c.held}.values())

    def _book(self, cohorts: list[Cohort], site: Site, *, by: str, owner: int | None) -> bool:
        """Book what a clearing has emptied; False if that is nothing."""
        observer = self.observer
        if any(cohort.waiting for cohort in cohorts):
            self._passes.loops.ended(sys._getframe(3))
        emptied: dict[str, list[Cohort]] = {}
        for cohort in cohorts.copy():
            try:
                if cohort.param_mark is not None and cohort.params_moved():
                    observer.moved_by_hand(cohort, site)
                grads = cohort.look()
                if all(map(is_, grads, repeat(None))):
                    cohort.empty()
                    emptied.setdefault("none", []).append(cohort)
                elif not cohort.unchanged(grads) and all_zero(grads):
                    cohort.snapshot(grads)
                    emptied.setdefault("zero", []).append(cohort)
                elif by == "optimizer" and all_zero(grads):
                    emptied.setdefault("zero", []).append(cohort)
                elif not cohort.unchanged(grads):
                    clear = ev.GradientCleared(site, (), by, "none", owner)  # type: ignore[arg-type]
                    observer.settle([cohort], site, clear=clear)
            except Gone:
                observer.forget(cohort)
        for to, parts in emptied.items():
            observer.cleared(parts, site, by=by, to=to, owner=owner)
        return bool(emptied)
