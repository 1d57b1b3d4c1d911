"""OK: inside a window a bad micro-batch is left out before backward, and the gradients are divided by the number that went in."""
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 10), nn.ReLU(), nn.Linear(10, 1))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
stream = torch.randn(24, 8, 4)
stream[5, 0] = torch.nan
stream[6, 0] = torch.nan
for epoch in range(2):
    for window in stream.split(4):
        optimizer.zero_grad()
        used = 0
        for x in window:
            loss = (model(x) - x.max(1, keepdim=True).values).pow(2).mean()
            if loss.isnan():
                continue
            loss.backward()
            used += 1
        if used == 0:
            continue
        for p in model.parameters():
            p.grad.div_(used)
        optimizer.step()
print("loss", loss.item())
