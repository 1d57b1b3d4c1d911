"""A window: four micro-batches make one update, gradients are cleared once per window, the tail is stepped.

The last window of each epoch is short, and its last micro-batch is small. Each loss is weighted by its share
of the window's samples, so that every update is that of one large batch.
"""

import torch
from torch import nn

ACCUMULATE, MICRO_BATCH = 4, 8

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(10, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x = torch.randn(83, 10)
y = x.sin().sum(1, keepdim=True)

for epoch in range(3):
    for inputs, targets in zip(
        x.split(ACCUMULATE * MICRO_BATCH), y.split(ACCUMULATE * MICRO_BATCH), strict=True
    ):
        for part, wanted in zip(inputs.split(MICRO_BATCH), targets.split(MICRO_BATCH), strict=True):
            loss = nn.functional.mse_loss(model(part), wanted)
            (loss * len(part) / len(inputs)).backward()
        optimizer.step()
        optimizer.zero_grad()
    with torch.no_grad():
        print(f"epoch {epoch}: loss {nn.functional.mse_loss(model(x), y).item():.4f}")
