"""One backward pass, straight into autograd's engine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

import torch
from torch import Tensor
from torch.autograd import graph

_run: Any = getattr(graph, "_engine_run_backward", None)


class Pass(Protocol):
    """A way back from a loss to the parameters."""

    def __call__(
        self, loss: Tensor, root: Tensor, inputs: Sequence[Tensor], *, keep_graph: bool = False
    ) -> None:
        """Add the loss's gradient times `root` to `.grad`."""


def differentiate(loss: Tensor, root: Tensor, inputs: Sequence[Tensor], *, keep_graph: bool = False) -> None:
    """Add the loss's gradient times `root` to `.grad`: of the inputs, or of every leaf if there are none."""
    differentiate_all((loss,), (root,), inputs, keep_graph=keep_graph)


def differentiate_all(
    outputs: Sequence[Tensor], roots: Sequence[Tensor], inputs: Sequence[Tensor], *, keep_graph: bool = False
) -> None:
    """Add what several outputs, each with a gradient of its own, give to `.grad`."""
    if _run is not None and all(type(output) is Tensor for output in outputs):
        # What torch.autograd.backward() calls after preparing its arguments, which takes as long as a small
        # layer.
        given = (tuple(outputs), tuple(roots), keep_graph, False, tuple(inputs))
        _run(*given, allow_unreachable=True, accumulate_grad=True)
    else:
        openly(outputs, roots, inputs, keep_graph=keep_graph)


def openly(
    outputs: Sequence[Tensor], roots: Sequence[Tensor], inputs: Sequence[Tensor], *, keep_graph: bool = False
) -> None:
    """The same by torch's own function, for everybody who watches it."""
    torch.autograd.backward(list(outputs), list(roots), retain_graph=keep_graph, inputs=list(inputs) or None)


def nothing(parameters: Sequence[Tensor]) -> Tensor:
    """A loss that is zero whatever the parameters are, and reaches all of them."""
    total = torch.zeros((), dtype=parameters[0].dtype, device=parameters[0].device)
    for p in parameters:
        total = total + (p.reshape(-1)[:0]).sum()
    return total


def nodes(loss: Tensor) -> Iterator[Any]:
    """Every node of the loss's graph, once."""
    seen: set[Any] = set()
    waiting: list[Any] = [loss.grad_fn]
    while waiting:
        node = waiting.pop()
        if node is not None and node not in seen:
            seen.add(node)
            yield node
            waiting += [following for following, _ in node.next_functions]


def hides_parameters(loss: Tensor) -> bool:
    """Whether the graph has a node that differentiates a part of the model by itself."""
    return any(node.name() == "CheckpointFunctionBackward" for node in nodes(loss))
