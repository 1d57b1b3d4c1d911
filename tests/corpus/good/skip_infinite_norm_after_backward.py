"""OK: steps on non-finite norms are left out, and cleared."""
import torch
from torch import nn

model = nn.Linear(3, 1)
optimizer = torch.optim.Adam(model.parameters())
for i in range(12):
    x = torch.randn(4, 3)
    if i == 5:
        x[0, 0] = float("nan")
    loss = model(x).square().mean()
    loss.backward()
    norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    if not torch.isfinite(norm):
        optimizer.zero_grad()
        continue
    optimizer.step()
    optimizer.zero_grad()
