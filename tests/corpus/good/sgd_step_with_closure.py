"""OK: plain SGD and Adam driven through step(closure); the gradients only exist once the closure has run."""
import functools

import torch
from torch import nn


def evaluate(model, optimizer, criterion, x, y):
    optimizer.zero_grad()
    loss = criterion(model(x), y)
    loss.backward()
    return loss


torch.manual_seed(0)
x = torch.randn(128, 6)
y = (x @ torch.randn(6, 3)).argmax(1)

for family in (torch.optim.SGD, torch.optim.Adam):
    model = nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 3))
    optimizer = family(model.parameters(), lr=0.05)
    criterion = nn.CrossEntropyLoss()
    for epoch in range(5):
        for rows in torch.randperm(128).split(32):
            loss = optimizer.step(functools.partial(evaluate, model, optimizer, criterion, x[rows], y[rows]))
    print(family.__name__, loss.item())
