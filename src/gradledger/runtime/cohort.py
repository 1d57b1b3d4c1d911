"""Parameters whose gradients have always moved together: looked at together, booked as one account."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from itertools import repeat
from operator import is_, is_not
from typing import Literal

import torch
from torch import Tensor

from gradledger.ledger.site import Site

Change = Literal["same", "none", "new", "replaced", "changed"]

KEPT_WHOLE = 1 << 18
"""Up to this many numbers a cohort's gradients are kept in hand between two looks, beyond it only the
smallest, and not even that where all are large: auditing must not hold memory the program has given up."""


class Gone(Exception):
    """A parameter of the cohort has been deleted."""


class Cohort:
    """Weakly held parameters and what their gradients were at the last look."""

    __slots__ = (
        "account",
        "anchor",
        "at_pass",
        "before_pass",
        "changed_by_step",
        "grads",
        "held",
        "hides_clearing",
        "ids",
        "last_line",
        "last_ratio",
        "local",
        "looks",
        "numbers",
        "optimizer",
        "param_mark",
        "refs",
        "sample",
        "spent",
        "thread",
        "versions",
        "waiting",
        "wasteful",
    )

    def __init__(self, account: int, params: Sequence[Tensor], optimizer: int | None) -> None:
        self.account = account
        self.optimizer = optimizer
        self.refs = [weakref.ref(p) for p in params]
        self.numbers = sum(map(size, params))
        self.local = any(hasattr(p, "_local_tensor") for p in params)
        self.held = False
        """Whether any gradient was there at the last look."""
        self.spent = False
        self.waiting = 0
        self.last_line: Site | None = None
        """The backward() line that added to it last."""
        self.wasteful = False
        """What a pass added was once cleared unused."""
        self.at_pass: Tensor | None = None
        """Then: the values of the smallest parameter at the last pass."""
        self.changed_by_step = False
        self.hides_clearing = False
        self.looks = 0
        self.sample: list[float] | None = None
        self.last_ratio: float | None = None
        self.before_pass: list[Tensor | None] | None = None
        self.thread = 0
        """The thread that trains these parameters, where it is known."""
        self.ids: list[int] = []
        self.grads: list[Tensor | None] = []
        self.anchor: weakref.ref[Tensor] | None = None
        """The smallest gradient where it is too large to be held."""
        self.versions: list[int] = []
        self.param_mark: tuple[list[int], Tensor] | None = None
        self.snapshot(self.look())

    def params(self) -> list[Tensor]:
        """The living parameters; raises Gone if one has died."""
        params = [ref() for ref in self.refs]
        if not all(map(is_not, params, repeat(None))):
            raise Gone
        return params  # type: ignore[return-value]

    def look(self) -> list[Tensor | None]:
        """The gradients now."""
        try:
            return [ref().grad for ref in self.refs]  # type: ignore[union-attr]
        except AttributeError:
            raise Gone from None

    def snapshot(self, grads: list[Tensor | None]) -> None:
        """Remember these as the last look."""
        if all(map(is_, grads, repeat(None))):
            self.empty()
        else:
            self.fill(grads)

    def empty(self) -> None:
        """Remember that no gradient was there."""
        if self.held:
            self.held = False
            self.grads, self.ids, self.versions, self.anchor = [], [], [], None

    def disown(self) -> None:
        """Forget what was remembered of the gradients: whatever is there now counts as changed by hand."""
        grads = self.look()
        self.held = True
        self.ids = [id(grad) if grad is not None else 0 for grad in grads]
        self.versions = [-2 for _ in grads]

    def fill(self, grads: list[Tensor | None]) -> None:
        """Remember these gradients."""
        self.held = True
        self.versions = self._versions(grads)
        self.ids = list(map(id, grads))
        if self.numbers <= KEPT_WHOLE:
            self.grads = grads
        else:
            self._hold_smallest(grads)

    def _hold_smallest(self, grads: list[Tensor | None]) -> None:
        smallest = self._smallest(grads)
        large = smallest is not None and smallest.numel() > KEPT_WHOLE
        self.grads = [] if large else [smallest]
        self.anchor = weakref.ref(smallest) if smallest is not None and large else None

    def _versions(self, grads: list[Tensor | None]) -> list[int]:
        if self.local:
            return [-1 if g is None else getattr(g, "_local_tensor", g)._version for g in grads]
        try:
            return [g._version for g in grads]  # type: ignore[union-attr]
        except AttributeError:
            return [-1 if g is None else g._version for g in grads]
        except RuntimeError:  # inference tensors keep no version
            return [-1 for _ in grads]

    def _smallest(self, grads: list[Tensor | None]) -> Tensor | None:
        return min((g for g in grads if g is not None), key=lambda g: g.numel(), default=None)

    def smallest(self) -> Tensor | None:
        """The smallest gradient at the last look."""
        return self._smallest(self.grads) if self.anchor is None else self.anchor()

    def unchanged(self, grads: list[Tensor | None]) -> bool:
        """Whether nothing has happened since the last look."""
        if not self.held:
            return all(map(is_, grads, repeat(None)))
        if self.anchor is not None and self.anchor() is None:
            return False
        return list(map(id, grads)) == self.ids and self._versions(grads) == self.versions

    def changes(self, grads: list[Tensor | None]) -> list[Change]:
        """What happened to each gradient since the last look."""
        if not self.held:
            return ["same" if g is None else "new" for g in grads]
        versions = self._versions(grads)
        if self.anchor is not None and self.anchor() is None:
            # It is gone, so what is there now is new, even at the same address.
            return ["none" if g is None else "replaced" for g in grads]
        return [
            _change(gone_id, gone_version, g, version)
            for gone_id, gone_version, g, version in zip(
                self.ids, self.versions, grads, versions, strict=True
            )
        ]

    def keep(self, indices: Sequence[int]) -> None:
        """Reduce the cohort to these of its parameters."""
        self.refs = [self.refs[i] for i in indices]
        self.numbers = sum(map(size, self.params()))
        if self.held:
            self.ids = [self.ids[i] for i in indices]
            self.versions = [self.versions[i] for i in indices]
            whole = len(self.grads) > 1 and len(self.grads) >= len(indices)
            self.grads = [self.grads[i] for i in indices] if whole else self.grads
            if self.anchor is not None:
                self._hold_smallest(self.look())

    def note_pass(self) -> None:
        """Remember where the parameters are, if what passes add here has been cleared unused before."""
        smallest = min(self.params(), key=size)
        if smallest.is_cpu and not self.local:
            self.at_pass = smallest.detach().clone()

    def moved_since_pass(self) -> bool:
        """Whether somebody, and no optimizer, has moved the parameters since the last pass."""
        if self.at_pass is None:
            return False
        smallest = min(self.params(), key=size)
        return not torch.equal(smallest.detach(), self.at_pass)

    def mark_params(self) -> None:
        """Remember the parameters' own state, to notice updates written by hand."""
        params = self.params()
        smallest = min(params, key=size)
        with torch.no_grad():
            self.param_mark = ([p._version for p in params], smallest.detach().clone())

    def params_lost(self) -> bool:
        """Whether the parameters were finite when they were marked and are no more."""
        if self.param_mark is None:
            return False
        return finite([self.param_mark[1]]) and not finite([min(self.params(), key=size)])

    def params_moved(self) -> bool:
        """Whether somebody changed the parameters since they were marked."""
        if self.param_mark is None:
            return False
        params = self.params()
        versions, values = self.param_mark
        if [p._version for p in params] != versions:
            return True
        smallest = min(params, key=size)
        return not torch.equal(smallest.detach(), values)


def size(param: Tensor) -> int:
    """How many numbers it holds; a lazy parameter holds none yet."""
    try:
        return param.numel()
    except ValueError:
        return 0


def _change(old_id: int, old_version: int, grad: Tensor | None, version: int) -> Change:
    was_none = old_version == -1 and old_id == id(None)
    if grad is None:
        return "same" if was_none else "none"
    if was_none:
        return "new"
    if id(grad) != old_id:
        return "replaced"
    return "same" if version == old_version else "changed"


def all_zero(grads: Sequence[Tensor | None]) -> bool:
    """Whether every gradient that is there is zero throughout."""
    with torch.no_grad():
        there = [g for g in grads if g is not None]
        return bool(there) and not any(bool(_plain(g).any()) for g in there)


def norm(grads: Sequence[Tensor | None]) -> float:
    """The norm of all of them together."""
    with torch.no_grad():
        total = 0.0
        for g in grads:
            if g is not None:
                total += float(_plain(g).double().norm()) ** 2
        return float(total**0.5)


def finite(grads: Sequence[Tensor | None]) -> bool:
    """Whether no gradient holds NaN or Inf."""
    with torch.no_grad():
        return all(bool(torch.isfinite(_plain(g)).all()) for g in grads if g is not None)


def _plain(grad: Tensor) -> Tensor:
    grad = getattr(grad, "_local_tensor", grad).detach()
    return grad.coalesce().values() if grad.is_sparse else grad
