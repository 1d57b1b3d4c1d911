"""What a corrected script must arrive at: gradient descent in float64, written out, without `.grad`."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import torch
from torch import Tensor, nn


def descend(
    model: nn.Module,
    losses: Iterable[Callable[[nn.Module], Tensor]],
    lr: float,
    max_norm: float = float("inf"),
) -> dict[str, Tensor]:
    """The weights after one plain step for each loss, as a state_dict in float64."""
    model = model.double()
    parameters = list(model.parameters())
    for loss in losses:
        gradients = torch.autograd.grad(loss(model), parameters)
        norm = torch.cat([g.flatten() for g in gradients]).norm().item()
        shrink = min(1.0, max_norm / norm)
        with torch.no_grad():
            for parameter, gradient in zip(parameters, gradients, strict=True):
                parameter.sub_(lr * shrink * gradient)
    return model.state_dict()
