"""OK: SVRG: a frozen-in-time snapshot is differentiated too, only to correct the gradient that is assigned to the real model."""
import copy

import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(120, 5)
y = x @ torch.randn(5, 1) + 0.1 * torch.randn(120, 1)
model = nn.Linear(5, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.05)


def gradients(net, xs, ys):
    net.zero_grad()
    nn.functional.mse_loss(net(xs), ys).backward()
    return [p.grad.clone() for p in net.parameters()]


for epoch in range(4):
    snapshot = copy.deepcopy(model)
    full = gradients(snapshot, x, y)
    for rows in torch.randperm(120).split(12):
        here = gradients(model, x[rows], y[rows])
        there = gradients(snapshot, x[rows], y[rows])
        for p, a, b, c in zip(model.parameters(), here, there, full):
            p.grad = a - b + c
        opt.step()
print("loss", nn.functional.mse_loss(model(x), y).item())
