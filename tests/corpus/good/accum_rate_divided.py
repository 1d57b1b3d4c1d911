"""OK: the sum of a window with a learning rate divided by its length."""
import torch
from torch import nn
net = nn.Linear(3, 1)
accum = 4
opt = torch.optim.SGD(net.parameters(), lr=0.1 / accum)
for i in range(16):
    net(torch.randn(4, 3)).square().mean().backward()
    if (i + 1) % accum == 0:
        opt.step()
        opt.zero_grad()
