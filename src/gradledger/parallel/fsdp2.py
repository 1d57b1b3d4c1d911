"""FSDP2: parameters and gradients are sharded by `fully_shard`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Literal

import torch
import torch.distributed as dist
from torch import Tensor

from gradledger.ledger.errors import LedgerError
from gradledger.parallel import collective

Traffic = Literal["micro_batch", "window"]
"""Reduce after every micro-batch (gradients stay sharded: less memory) or once per window (less traffic)."""


class Sharded:
    """Every rank holds a part of each parameter; forward and backward of all ranks go together."""

    needs_equal_passes: ClassVar[bool] = True

    def __init__(
        self, modules: Sequence[Any], group: dist.ProcessGroup | None, device: torch.device, traffic: Traffic
    ) -> None:
        self._modules = list(modules)
        self._group = group
        self._device = device
        self._per_window = traffic == "window"
        self.ranks = dist.get_world_size(group)
        self._unreduced = False

    def before_forward(self, *, last: bool | None) -> None:
        """FSDP2 decides in the backward."""

    def before_backward(self, *, last: bool) -> bool | None:
        """Reduce now, or leave the whole gradients on every rank until the last one."""
        reduce = last or not self._per_window
        for module in self._modules:
            module.set_requires_gradient_sync(reduce)
        self._unreduced = not reduce
        return reduce

    def sums(self, values: Sequence[float]) -> list[float]:
        """Summed over the ranks."""
        return collective.sums(values, self._group, self._device)

    def extremes(self, value: float) -> tuple[float, float]:
        """Over the ranks."""
        return collective.extremes(value, self._group, self._device)

    def gathered(self, value: Any) -> list[Any]:
        """From all ranks."""
        return collective.gathered(value, self._group)

    def finish(
        self, gradients: Sequence[Sequence[Tensor | None]], like: Sequence[Tensor]
    ) -> list[list[Tensor | None]]:
        """Everything was reduced by the backward passes."""
        if self._unreduced:
            raise LedgerError(
                'with traffic="window" FSDP2 reduces in the last backward of a window, and this window ends '
                "without one "
                "that was known to be the last: iterate over acc.batches(loader), pass last=True to the last "
                'acc.backward(), or use traffic="micro_batch"'
            )
        return [list(part) for part in gradients]

    def factor(self) -> float:
        """FSDP2 divides by the number of ranks."""
        return float(self.ranks)

    def norm(self, norms: Sequence[Tensor]) -> float:
        """Norms of sharded gradients are themselves spread over the ranks."""
        total = torch.linalg.vector_norm(torch.stack(list(norms)))
        whole = total.full_tensor() if hasattr(total, "full_tensor") else total
        return float(whole)
