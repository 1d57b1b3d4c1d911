"""Compares a window with the large batch in double precision."""

import torch
from torch import nn


def decide():
    """The gradient of a window against that of the large batch, in float64."""
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(10, 32), nn.Tanh(), nn.Linear(32, 1)).double()
    x = torch.randn(64, 10).double()
    net(x).square().mean().backward()
    whole = torch.cat([p.grad.flatten() for p in net.parameters()])
    net.zero_grad()
    for part in x.split(8):
        (net(part).square().mean() / 8).backward()
    window = torch.cat([p.grad.flatten() for p in net.parameters()])
    off = ((window - whole).norm() / whole.norm()).item()
    print(f"off by {off:.1e} of the gradient's length")
    return {"holds": off < 1e-9, "off": off}
