"""DistributedDataParallel, or plain replicas in a process group."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import torch
import torch.distributed as dist
from torch import Tensor
from torch.nn.parallel import DistributedDataParallel

from gradledger.parallel import collective


class Replicas:
    """Every rank holds all parameters.

    A window whose last micro-batch is known before its forward is reduced by DDP itself, which overlaps with
    the backward (DDP decides in the forward whether the backward will reduce). Others are summed at the end.
    """

    needs_equal_passes: ClassVar[bool] = False

    def __init__(
        self,
        wrappers: Sequence[DistributedDataParallel],
        group: dist.ProcessGroup | None,
        device: torch.device,
    ) -> None:
        self._wrappers = list(wrappers)
        self._group = group
        self._device = device
        self.ranks = dist.get_world_size(group)
        self._announced = False
        self._reduced = False
        self.before_forward(last=None)

    def before_forward(self, *, last: bool | None) -> None:
        """Let DDP reduce in the backward of this forward only if all ranks know that it is the last."""
        self._announced = last is True and bool(self._wrappers)
        for wrapper in self._wrappers:
            wrapper.require_backward_grad_sync = self._announced
            if last is None:
                # Another rank may run no forward now: nothing may be sent in this one, buffers neither.
                wrapper.require_forward_param_sync = False

    def before_backward(self, *, last: bool) -> bool | None:
        """What the forward has settled."""
        self._reduced = self._announced
        return self._reduced

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
        """Sum what DDP has not averaged yet."""
        if self._reduced:
            for wrapper in self._wrappers:
                # DDP orders its buckets anew once, in the next forward, which not every rank may run: do it
                # now.
                wrapper.reducer._rebuild_buckets()
            return [list(part) for part in gradients]
        return [collective.summed(part, like, self._group) for part in gradients]

    def factor(self) -> float:
        """DDP divides by the number of ranks; a sum does not."""
        factor = float(self.ranks) if self._reduced else 1.0
        self._reduced = False
        return factor

    def norm(self, norms: Sequence[Tensor]) -> float:
        """Every rank has everything."""
        return float(torch.linalg.vector_norm(torch.stack(list(norms))))
