"""OK: a loop over indices steps at its end."""
import torch
from torch import nn
data = [torch.randn(4, 3) for _ in range(10)]
net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for epoch in range(2):
    opt.zero_grad()
    for i in range(len(data)):
        (net(data[i]).square().mean() / 4).backward()
        if (i + 1) % 4 == 0 or i + 1 == len(data):
            opt.step()
            opt.zero_grad()
