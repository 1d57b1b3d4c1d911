"""Compares the loss right before and right after clearing."""

import torch
from torch import nn


def decide():
    """Train, zero, and compare the loss before and after."""
    torch.manual_seed(0)
    layer = nn.Linear(3, 1)
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
    x = torch.randn(64, 3)
    y = x.sum(1, keepdim=True)
    for _ in range(30):
        optimizer.zero_grad()
        nn.functional.mse_loss(layer(x), y).backward()
        optimizer.step()
    before = nn.functional.mse_loss(layer(x), y).item()
    optimizer.zero_grad()
    after = nn.functional.mse_loss(layer(x), y).item()
    print(f"loss before zero_grad(): {before:.6f}")
    print(f"loss after zero_grad():  {after:.6f}")
    return {"holds": before != after, "before": before, "after": after}
