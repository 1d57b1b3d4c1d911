"""OK: early stopping is only asked right after a step, so no half-filled window is ever lost."""
import torch
from torch import nn

torch.manual_seed(0)
truth = torch.randn(4, 1)
net = nn.Linear(4, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
valid_x = torch.randn(64, 4)
best, bad, updates, stop = float("inf"), 0, 0, False
for epoch in range(20):
    for i, x in enumerate(torch.randn(8, 8, 4)):
        loss = (net(x) - x @ truth - 0.1 * torch.randn(8, 1)).pow(2).mean()
        (loss / 2).backward()
        if i % 2 == 1:
            opt.step()
            opt.zero_grad()
            updates += 1
            with torch.no_grad():
                score = (net(valid_x) - valid_x @ truth).pow(2).mean().item()
            if score < best - 1e-4:
                best, bad = score, 0
            else:
                bad += 1
            if bad >= 4:
                stop = True
                break
    if stop:
        break
print("stopped after", updates, "updates, best", best)
