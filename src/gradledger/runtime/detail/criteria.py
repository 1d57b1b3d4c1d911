"""The closer look at torch's loss functions: what they were given and gave, and which answers were right."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from gradledger.ledger.details import AccuracySeen, CriterionCalled
from gradledger.ledger.record import dataclass
from gradledger.ledger.site import Site
from gradledger.runtime import graphs
from gradledger.runtime.detail.answers import IGNORED, answers
from gradledger.runtime.detail.looking import seen
from gradledger.runtime.detail.telling import Telling, careful
from gradledger.runtime.observer import Observer
from gradledger.runtime.patch import Patches

FUNCTIONS = (
    "cross_entropy",
    "nll_loss",
    "binary_cross_entropy_with_logits",
    "binary_cross_entropy",
    "mse_loss",
    "l1_loss",
    "smooth_l1_loss",
    "huber_loss",
    "kl_div",
)
_IGNORING = ("cross_entropy", "nll_loss")
MOST_PENDING = 64


@dataclass(frozen=True, slots=True)
class Called:
    """One call whose result nobody has differentiated yet."""

    site: Site
    birth: int
    value: float | None
    samples: int | None
    answers: tuple[int, int] | None
    """How many were right, of how many."""


class CriterionLook:
    """Sees the loss functions; what it saw counts once a backward pass starts from it."""

    def __init__(self, telling: Telling, observer: Observer) -> None:
        self.telling = telling
        self._observer = observer
        self._pending: list[Called] = []

    def install(self, patches: Patches) -> None:
        """Put the probes in place."""
        for name in FUNCTIONS:
            wrapper = patches.wrap(functional, name, self._maker(name))
            # A compiled program may have the function inside; there the wrapper only passes it on.
            del wrapper._torchdynamo_disable

    def _maker(self, name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        def make(original: Callable[..., Any]) -> Callable[..., Any]:
            def criterion(*args: Any, **kwargs: Any) -> Any:
                result = original(*args, **kwargs)
                if not torch.compiler.is_compiling():
                    self._called(name, result, args, kwargs)
                return result

            return criterion

        return make

    @careful
    def _called(self, name: str, result: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        if not isinstance(result, Tensor) or result.grad_fn is None:
            return  # an evaluation
        output = args[0] if args else kwargs.get("input")
        target = args[1] if len(args) > 1 else kwargs.get("target")
        if not isinstance(output, Tensor) or not isinstance(target, Tensor):
            return
        site = self._observer.sites.find(2)
        value = float(result.detach()) if result.numel() == 1 else None
        ignored = args[4] if len(args) > 4 and name in _IGNORING else kwargs.get("ignore_index", IGNORED)
        right = answers(name, output.detach(), target.detach(), ignored)
        samples = target.shape[0] if target.dim() else None
        self._pending = self._pending[1 - MOST_PENDING :]
        self._pending.append(Called(site, graphs.born(result.grad_fn), value, samples, right))
        if self.telling.closely and value is not None:
            inputs = (seen(output, "input"), seen(target, "target"))
            self.telling.tell(CriterionCalled(site, name, value, inputs))

    def differentiated(self, tensors: Any) -> tuple[Called | None, AccuracySeen | None]:
        """The one call that led to this loss, and the right answers of all that did."""
        pending, self._pending = self._pending, []
        if not pending:
            return None, None
        starts = graphs.roots(tensors)
        inside = [called for called in pending if graphs.contains(starts, called.birth)]
        # Calls of another loss may still be differentiated later.
        self._pending = [called for called in pending if called not in inside]
        return _together(inside)

    def latest(self) -> tuple[Called | None, AccuracySeen | None]:
        """The same for a pass that did not show its loss: the latest call."""
        pending, self._pending = self._pending, []
        return _together(pending[-1:])


def _together(inside: list[Called]) -> tuple[Called | None, AccuracySeen | None]:
    counts = [called.answers for called in inside if called.answers is not None and called.answers[1]]
    accuracy = None
    if counts:
        right, total = sum(c[0] for c in counts), sum(c[1] for c in counts)
        accuracy = AccuracySeen(inside[-1].site, right / total, total)
    return inside[0] if len(inside) == 1 else None, accuracy
