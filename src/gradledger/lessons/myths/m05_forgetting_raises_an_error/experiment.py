"""Listens for errors and warnings in a loop that never clears."""

import warnings

import torch
from torch import nn


def decide():
    """A hundred steps without clearing, listening for errors and warnings."""
    torch.manual_seed(0)
    layer = nn.Linear(3, 1)
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.001)
    complaints = steps = 0
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        try:
            for x in torch.randn(100, 8, 3):
                layer(x).square().mean().backward()
                optimizer.step()
                steps += 1
        except RuntimeError:
            complaints += 1
    complaints += len(heard)
    print(f"{steps} steps without zero_grad(): {complaints} errors or warnings")
    return {"holds": complaints > 0, "complaints": complaints, "steps": steps}
