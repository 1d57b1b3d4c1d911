"""Calls backward() twice and looks whether the first result is gone."""

import torch
from torch import nn


def decide():
    """Two passes over the same loss, with nothing in between."""
    torch.manual_seed(0)
    layer = nn.Linear(3, 1)
    x = torch.randn(8, 3)
    layer(x).square().mean().backward()
    once = layer.weight.grad.clone()
    layer(x).square().mean().backward()
    times = (layer.weight.grad / once).mean().item()
    print("after one pass:  ", *(f"{g:+.4f}" for g in once[0]))
    print("after two passes:", *(f"{g:+.4f}" for g in layer.weight.grad[0]))
    return {"holds": bool(torch.equal(layer.weight.grad, once)), "times": times}
