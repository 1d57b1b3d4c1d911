"""Forward and backward passes that leave no trace."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence

from torch import Tensor, nn

from gradledger.engine.differentiating import nodes
from gradledger.engine.randomness import Randomness
from gradledger.engine.rehearsal import rehearsal

_SYNC = ("require_backward_grad_sync", "require_forward_param_sync")
"""With these DistributedDataParallel decides whether a pass talks to other ranks."""


class Leaves:
    """Gradients that are put aside, and come back as the very tensors they were."""

    def __init__(self) -> None:
        self._held: dict[int, tuple[Tensor, Tensor | None]] = {}

    def put_aside(self, tensors: Sequence[Tensor]) -> None:
        """From here on these have no gradient."""
        for each in tensors:
            if id(each) not in self._held:
                self._held[id(each)] = (each, each.grad)
                each.grad = None

    def give_back(self) -> None:
        """As it was."""
        for each, gradient in self._held.values():
            each.grad = None
            each.grad = gradient


@contextlib.contextmanager
def untouched(modules: Sequence[nn.Module], parameters: Sequence[Tensor]) -> Iterator[Leaves]:
    """Put everything back at the end: gradients, buffers, modes, random numbers, what DDP was told."""
    modes = [(module, module.training) for module in modules]
    told = [(m, name, getattr(m, name)) for m in modules for name in _SYNC if hasattr(m, name)]
    randomness = Randomness.take()
    leaves = Leaves()
    try:
        leaves.put_aside([*parameters, *(p for module in modules for p in module.parameters(recurse=False))])
        for module, name, _ in told:
            setattr(module, name, False)
        with rehearsal(modules):
            yield leaves
    finally:
        for module, name, value in told:
            setattr(module, name, value)
        for module, mode in modes:
            module.training = mode
        leaves.give_back()
        randomness.restore()


def leaves_of(loss: Tensor) -> list[Tensor]:
    """All tensors whose `.grad` a backward of this loss would touch."""
    return [node.variable for node in nodes(loss) if hasattr(node, "variable")]
