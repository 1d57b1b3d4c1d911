"""OK: GradScaler(enabled=False) is the identity, so every scaler call in the loop reduces to the plain fp32 cycle."""
import argparse

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--amp", action="store_true")
parser.add_argument("--epochs", type=int, default=3)
args = parser.parse_args([])

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 12), nn.ReLU(), nn.Linear(12, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
scaler = torch.amp.GradScaler("cpu", enabled=args.amp)
loss_fn = nn.CrossEntropyLoss()
for epoch in range(args.epochs):
    for x in torch.randn(8, 20, 4):
        with torch.autocast("cpu", enabled=args.amp):
            loss = loss_fn(model(x), x[:, :3].argmax(1))
        scaler.scale(loss).backward()
        if not args.amp:
            nn.utils.clip_grad_value_(model.parameters(), 0.5)
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()
print("loss", loss.item(), "scale", scaler.get_scale())
