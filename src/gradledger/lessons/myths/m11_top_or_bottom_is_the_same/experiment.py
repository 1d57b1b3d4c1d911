"""Clears at the top and at the bottom of a loop and compares the weights."""

import torch
from torch import nn


def decide():
    """Fifty steps with momentum, cleared at the top and at the bottom."""
    ends = []
    for top in (True, False):
        torch.manual_seed(0)
        net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
        optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9)
        for x in torch.randn(50, 16, 4):
            if top:
                optimizer.zero_grad()
            (net(x) - x.sum(1, keepdim=True)).square().mean().backward()
            optimizer.step()
            if not top:
                optimizer.zero_grad()
        ends.append(nn.utils.parameters_to_vector(net.parameters()))
    apart = (ends[0] - ends[1]).abs().max().item()
    print(f"largest difference between the weights: {apart:g}")
    return {"holds": apart == 0.0, "apart": apart}
