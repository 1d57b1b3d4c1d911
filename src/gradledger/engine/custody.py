"""An optimizer in an accumulator's keeping: nobody else steps it, and nobody clears an open window."""

from __future__ import annotations

import math
import weakref
from collections.abc import Sequence
from typing import Any

from torch.optim import Optimizer

from gradledger.engine.books import Books
from gradledger.engine.lines import caller
from gradledger.ledger.errors import LedgerError

_keepers: weakref.WeakKeyDictionary[Optimizer, weakref.ref[Custody]] = weakref.WeakKeyDictionary()


class Custody:
    """Guards some optimizers; forgotten together with the accumulator."""

    def __init__(self, optimizers: Sequence[Optimizer], books: Books) -> None:
        self.books = books
        self.stepping = False
        self._optimizers = tuple(optimizers)
        for optimizer in optimizers:
            keeper = _keepers.get(optimizer)
            other = keeper() if keeper is not None else None
            if other is not None:
                raise LedgerError(
                    f"{caller()}: this optimizer already belongs to the gradledger.Accumulator made at "
                    f"{other.books.made_at}. Use that one, or call its close() first."
                )
        self._hooks = [_guard(optimizer, weakref.ref(self)) for optimizer in optimizers]
        self.known = self.fingerprint()

    def fingerprint(self) -> tuple[int, ...]:
        """Which parameters the optimizers hold now, in which order."""
        return tuple([id(p) for o in self._optimizers for group in o.param_groups for p in group["params"]])

    @property
    def first(self) -> Optimizer:
        """The first optimizer."""
        return self._optimizers[0]

    def rate(self) -> float:
        """The learning rate of the first parameter group."""
        return float(self._optimizers[0].param_groups[0].get("lr", math.nan))

    def step(self) -> None:
        """Let the optimizers step."""
        self.stepping = True
        try:
            for optimizer in self._optimizers:
                optimizer.step()
        finally:
            self.stepping = False

    def release(self) -> None:
        """Give the optimizers back."""
        for optimizer, hook in zip(self._optimizers, self._hooks, strict=True):
            hook.remove()
            optimizer.__dict__.pop("zero_grad", None)
            _keepers.pop(optimizer, None)


def several() -> bool:
    """Whether more than one accumulator is alive."""
    if len(_keepers) < 2:
        return False
    return len({keeper() for keeper in _keepers.values()} - {None}) > 1


def _rehearses(optimizer: Optimizer) -> bool:
    """Whether this is the step at rate zero by which torch.distributed.checkpoint makes room for a state."""
    return not optimizer.state and all(float(group.get("lr", 1.0)) == 0.0 for group in optimizer.param_groups)


def _guard(optimizer: Optimizer, keeper: weakref.ref[Custody]) -> Any:
    """Hook the optimizer's step and stand before its zero_grad; neither is pickled or copied with it."""

    def refuse(*_: Any) -> None:
        custody = keeper()
        if custody is not None and not custody.stepping and not _rehearses(optimizer):
            custody.books.refuse_step()

    original = optimizer.zero_grad

    def zero_grad(set_to_none: bool = True) -> None:  # noqa: FBT001, FBT002
        custody = keeper()
        if custody is not None:
            custody.books.refuse_clear()
        original(set_to_none)

    optimizer.zero_grad = zero_grad  # type: ignore[method-assign]
    _keepers[optimizer] = keeper
    return optimizer.register_step_pre_hook(refuse)
