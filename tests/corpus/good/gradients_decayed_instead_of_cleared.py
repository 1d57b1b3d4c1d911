"""OK: momentum by hand: each update keeps nine tenths of the gradients on purpose."""
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
sgd = torch.optim.SGD(net.parameters(), lr=0.002)
for step in range(80):
    x = torch.randn(8, 4)
    loss = nn.functional.mse_loss(net(x), x.sum(1, keepdim=True))
    loss.backward()
    sgd.step()
    for p in net.parameters():
        p.grad.mul_(0.9)
