"""Looks at weights and momentum before and after clearing."""

import torch
from torch import nn


def decide():
    """Weights and momentum before and after zero_grad()."""
    torch.manual_seed(0)
    layer = nn.Linear(3, 1)
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.1, momentum=0.9)
    for x in torch.randn(5, 8, 3):
        optimizer.zero_grad()
        layer(x).square().mean().backward()
        optimizer.step()
    weight = layer.weight.detach().clone()
    momentum = optimizer.state[layer.weight]["momentum_buffer"].clone()
    optimizer.zero_grad()
    kept = torch.equal(layer.weight, weight)
    state = optimizer.state[layer.weight]["momentum_buffer"]
    print(f"weights as before:  {kept}")
    print(f"momentum as before: {torch.equal(state, momentum)}")
    print(f"gradient:           {layer.weight.grad}")
    return {"holds": not (kept and torch.equal(state, momentum))}
