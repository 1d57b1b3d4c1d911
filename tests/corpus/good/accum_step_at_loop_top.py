"""OK: the step for a full window is taken at the top of the next iteration (i > 0 and i % n == 0) and the last one after the loop."""
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 1))
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
n = 4
micro = torch.randn(16, 10, 3)
updates = 0
for epoch in range(3):
    for i, x in enumerate(micro):
        if i > 0 and i % n == 0:
            opt.step()
            opt.zero_grad()
            updates += 1
        loss = (net(x) - x.median(1, keepdim=True).values).pow(2).mean() / n
        loss.backward()
    opt.step()
    opt.zero_grad()
    updates += 1
print("updates", updates, "loss", loss.item() * n)
