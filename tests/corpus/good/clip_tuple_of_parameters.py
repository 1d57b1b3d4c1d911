"""OK: the parameters are a tuple: optimizer and clip read the same."""
import torch
from torch import nn
net = nn.Linear(5, 1)
params = tuple(net.parameters())
opt = torch.optim.SGD(params, lr=0.1)
for i in range(6):
    opt.zero_grad()
    net(torch.randn(4, 5)).square().mean().backward()
    nn.utils.clip_grad_value_(params, 0.5)
    opt.step()
