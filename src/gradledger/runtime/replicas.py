"""The probes at data parallelism: did the replicas' gradients meet?"""

from __future__ import annotations

import gc
import sys
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.nn.parallel import DistributedDataParallel

from gradledger.ledger import events as ev
from gradledger.runtime.cohort import Cohort
from gradledger.runtime.observer import Observer
from gradledger.runtime.patch import Patches
from gradledger.runtime.shield import shielded

_COLLECTIVES = (
    "all_reduce",
    "all_reduce_coalesced",
    "reduce_scatter_tensor",
    "all_gather",
    "reduce",
    "broadcast",
)


class Replicas:
    """DDP decides in forward whether the next backward reduces; FSDP2 carries the choice in its state."""

    def __init__(self, observer: Observer) -> None:
        self.observer = observer
        self._forwards: dict[int, bool] = {}
        self._idle: weakref.WeakSet[Any] = weakref.WeakSet()
        """Wrappers through which no forward has gone so far."""
        self._sharded: list[Any] | None = None

    @property
    def active(self) -> bool:
        """Whether there may be replicas at all."""
        return bool(self._forwards) or bool(self._idle) or "torch.distributed.fsdp" in sys.modules

    def install(self, patches: Patches) -> None:
        """Put the probes in place."""

        def forward(original: Callable[..., Any]) -> Callable[..., Any]:
            def run(module: Any, *args: Any, **kwargs: Any) -> Any:
                if torch.is_grad_enabled():
                    self._idle.discard(module)
                    self._forwards[id(module)] = bool(module.require_backward_grad_sync)
                return original(module, *args, **kwargs)

            return run

        def build(original: Callable[..., Any]) -> Callable[..., Any]:
            def __init__(module: Any, *args: Any, **kwargs: Any) -> None:
                original(module, *args, **kwargs)
                self._idle.add(module)

            return __init__

        def collective(original: Callable[..., Any]) -> Callable[..., Any]:
            def run(*args: Any, **kwargs: Any) -> Any:
                result = original(*args, **kwargs)
                if not self.observer.here.in_backward:
                    self._reduced_by_hand()
                return result

            return run

        patches.wrap(DistributedDataParallel, "__init__", build)
        patches.wrap(DistributedDataParallel, "forward", forward)
        if torch.distributed.is_available():
            for name in _COLLECTIVES:
                patches.wrap(torch.distributed, name, collective)

    @shielded
    def _reduced_by_hand(self) -> None:
        accounts = tuple(c.account for c in self.observer.cohorts if c.waiting)
        if accounts:
            event = self.observer.same(("reduced", accounts), lambda: ev.GradientsReduced(None, accounts))
            self.observer.post(event)

    def reduced(self) -> bool | None:
        """Whether the backward that just ran reduced its gradients; None without replicas."""
        if self._forwards:
            answer = all(self._forwards.values())
            self._forwards.clear()
            return answer
        modules = self._fsdp()
        return all(map(_fsdp_reduces, modules)) if modules else None

    def passed_by(self, cohorts: Sequence[Cohort]) -> bool:
        """Whether a pass filled only parameters whose wrapper was never called: nothing reduces them then."""
        if not self._idle:
            return False
        wrapped = {id(param) for module in self._idle for param in module.parameters()}
        return bool(cohorts) and all(id(ref()) in wrapped for cohort in cohorts for ref in cohort.refs)

    def unreduced(self, cohorts: Sequence[Cohort]) -> list[Cohort]:
        """The cohorts a pass has filled out of sight: FSDP2 keeps unreduced gradients out of `.grad`."""
        modules = self._fsdp()
        if not modules or all(map(_fsdp_reduces, modules)):
            return []
        return [cohort for cohort in cohorts if cohort.local]

    def _fsdp(self) -> list[Any]:
        if "torch.distributed.fsdp" not in sys.modules or not any(c.local for c in self.observer.cohorts):
            return []
        kind = getattr(sys.modules["torch.distributed.fsdp"], "FSDPModule", None)
        if kind is None:
            return []
        if self._sharded is None:
            self._sharded = [thing for thing in gc.get_objects() if issubclass(type(thing), kind)]
        return self._sharded


def _fsdp_reduces(module: Any) -> bool:
    try:
        group = module._get_fsdp_state()._fsdp_param_group
        return group is None or bool(group.reduce_grads)
    except AttributeError:
        return True
