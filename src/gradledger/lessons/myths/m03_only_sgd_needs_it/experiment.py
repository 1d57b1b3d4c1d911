"""Trains with Adam, with and without clearing."""

import torch
from torch import nn


def decide():
    """The same training with Adam, with and without zero_grad()."""
    losses = {}
    for clearing in (True, False):
        torch.manual_seed(0)
        net = nn.Sequential(nn.Linear(10, 24), nn.Tanh(), nn.Linear(24, 1))
        optimizer = torch.optim.Adam(net.parameters(), lr=0.02)
        x = torch.randn(256, 10)
        y = x.sin().sum(1, keepdim=True)
        for _ in range(15):
            for xb, yb in zip(x.split(32), y.split(32), strict=True):
                if clearing:
                    optimizer.zero_grad()
                nn.functional.mse_loss(net(xb), yb).backward()
                optimizer.step()
        losses[clearing] = nn.functional.mse_loss(net(x), y).item()
        print(f"Adam, clearing {clearing!s:5}: loss {losses[clearing]:.3f}")
    as_good = losses[False] < 1.1 * losses[True]
    return {"holds": as_good, "with_it": losses[True], "without": losses[False]}
