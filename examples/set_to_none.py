"""Clearing to None (the default) and to zeros: what is in .grad afterwards, and after the next pass."""

import torch
from torch import nn

for set_to_none in (True, False):
    print(f"zero_grad(set_to_none={set_to_none})")
    torch.manual_seed(0)
    model = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    x = torch.randn(16, 2)
    y = x @ torch.tensor([[2.0], [-1.0]])

    for iteration in range(3):
        optimizer.zero_grad(set_to_none=set_to_none)
        cleared = {name: parameter.grad for name, parameter in model.named_parameters()}
        print(f"  iteration {iteration}, cleared: {cleared}")
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        for name, parameter in model.named_parameters():
            print(f"    {name}.grad =", [round(g, 4) for g in parameter.grad.flatten().tolist()])
        optimizer.step()
