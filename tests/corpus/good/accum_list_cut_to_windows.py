"""OK: the list of batches is cut to whole windows."""
import torch
from torch import nn
data = [torch.randn(4, 3) for _ in range(10)]
accum = 4
data = data[:len(data) // accum * accum]
net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for epoch in range(2):
    for i, x in enumerate(data):
        (net(x).square().mean() / accum).backward()
        if (i + 1) % accum == 0:
            opt.step()
            opt.zero_grad()
