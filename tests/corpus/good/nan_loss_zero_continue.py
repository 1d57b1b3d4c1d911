"""OK: a batch whose loss is not finite is skipped before backward; the gradients are cleared and the loop goes on."""
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(3, 12), nn.ReLU(), nn.Linear(12, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
data = torch.randn(40, 10, 3)
data[7, 0, 0] = float("nan")
data[23] = float("inf")
skipped = 0
for epoch in range(2):
    for x in data:
        loss = nn.functional.mse_loss(net(x), x.sum(1, keepdim=True))
        if not torch.isfinite(loss):
            skipped += 1
            optimizer.zero_grad()
            continue
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
print("skipped", skipped, "loss", loss.item())
