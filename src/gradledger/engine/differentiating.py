"""One backward pass, straight into autograd's engine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.autograd import graph

_run: Any = getattr(graph, "_engine_run_backward", None)


def differentiate(loss: Tensor, root: Tensor, inputs: Sequence[Tensor], *, keep_graph: bool = False) -> None:
    """Add the loss's gradient times `root` to `.grad`: of the inputs, or of every leaf if there are none."""
    if _run is not None and type(loss) is Tensor:
        # What torch.autograd.backward() calls after preparing its arguments, which takes as long as a small
        # layer.
        _run((loss,), (root,), keep_graph, False, tuple(inputs), allow_unreachable=True, accumulate_grad=True)
    else:
        torch.autograd.backward(loss, root, retain_graph=keep_graph, inputs=list(inputs) or None)


def nothing(parameters: Sequence[Tensor]) -> Tensor:
    """A loss that is zero whatever the parameters are, and reaches all of them."""
    total = torch.zeros((), dtype=parameters[0].dtype, device=parameters[0].device)
    for p in parameters:
        total = total + (p.reshape(-1)[:0]).sum()
    return total


def hides_parameters(loss: Tensor) -> bool:
    """Whether the graph has a node that differentiates a part of the model by itself."""
    seen: set[Any] = set()
    waiting = [loss.grad_fn]
    while waiting:
        node = waiting.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        if node.name() == "CheckpointFunctionBackward":
            return True
        waiting += [following for following, _ in node.next_functions]
    return False
