"""BUG: p.grad is set to None before each micro-batch of the mixed-precision window."""
import torch
from torch import nn


def train(model, batches, window=3, epochs=2):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    scaler = torch.amp.GradScaler("cpu", init_scale=512.0)
    for epoch in range(epochs):
        for number, (x, y) in enumerate(batches, start=1):
            for p in model.parameters():  # expect: GL103
                p.grad = None  # expect: GL103
            with torch.autocast("cpu", dtype=torch.bfloat16):
                loss = nn.functional.cross_entropy(model(x), y) / window
            scaler.scale(loss).backward()
            boundary = number % window == 0
            if boundary:
                scaler.unscale_(optimizer)
                nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                scaler.step(optimizer)
                scaler.update()
        print("epoch", epoch, "loss", loss.item() * window)


torch.manual_seed(14)
x = torch.randn(240, 3, 12)
y = x.std(dim=(1, 2)).gt(1).long()
model = nn.Sequential(nn.Conv1d(3, 8, 3), nn.ReLU(), nn.Flatten(), nn.Linear(80, 2))
train(model, list(zip(x.split(20), y.split(20))))
