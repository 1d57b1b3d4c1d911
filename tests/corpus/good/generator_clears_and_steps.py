"""OK: the generator of batches clears before and steps after each."""
import torch
from torch import nn
net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)


def steps(n):
    for _ in range(n):
        opt.zero_grad()
        yield torch.randn(4, 3)
        opt.step()


for x in steps(6):
    net(x).square().mean().backward()
