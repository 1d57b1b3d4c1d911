"""OK: short-lived models and optimizers come and go; addresses may be reused, but no gradient outlives its model."""
import gc

import torch
from torch import nn


def short_life(seed, leave_gradients):
    torch.manual_seed(seed)
    model = nn.Linear(4, 1)
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    for x in torch.randn(3, 8, 4):
        opt.zero_grad()
        loss = model(x).pow(2).mean()
        loss.backward()
        opt.step()
    if not leave_gradients:
        opt.zero_grad()
    return loss.item()


losses = []
for seed in range(25):
    losses.append(short_life(seed, leave_gradients=seed % 2 == 0))
    if seed % 5 == 0:
        gc.collect()
print("mean", sum(losses) / len(losses))
