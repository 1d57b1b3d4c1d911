"""Puts zero_grad() in three places and compares where the weights end."""

import torch
from torch import nn


def decide():
    """zero_grad() in three places; how far the weights travel in ten steps."""
    travelled = {}
    for place in ("before forward", "between", "after step"):
        torch.manual_seed(0)
        layer = nn.Linear(3, 1)
        start = layer.weight.detach().clone()
        optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
        for x in torch.randn(10, 8, 3):
            if place == "before forward":
                optimizer.zero_grad()
            (layer(x) - x.sum(1, keepdim=True)).square().mean().backward()
            if place == "between":
                optimizer.zero_grad()
            optimizer.step()
            if place == "after step":
                optimizer.zero_grad()
        travelled[place] = (layer.weight - start).norm().item()
        print(f"{place:15} the weights moved by {travelled[place]:.4f}")
    same = len(set(travelled.values())) == 1
    return {"holds": same, "between": travelled["between"]}
