"""Divides an uneven window in two ways and compares with the large batch."""

import torch
from torch import nn


def decide():
    """27 samples in parts of 8, 8, 8 and 3, against one batch."""
    torch.manual_seed(0)
    layer = nn.Linear(5, 1).double()
    x = torch.randn(27, 5).double()
    parts = x.split([8, 8, 8, 3])
    layer(x).square().mean().backward()
    whole = layer.weight.grad.clone()

    off = {}
    for rule in ("/ 4", "* len(part) / 27"):
        layer.zero_grad()
        for part in parts:
            weight = 1 / 4 if rule == "/ 4" else len(part) / 27
            (layer(part).square().mean() * weight).backward()
        off[rule] = ((layer.weight.grad - whole).norm() / whole.norm()).item()
        print(f"loss {rule:17} off by {off[rule]:.1e}")
    return {"holds": off["/ 4"] < 1e-9, "off": off["/ 4"]}
