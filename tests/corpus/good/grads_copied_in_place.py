"""OK: .grad is overwritten with copy_ from torch.autograd.grad each time, so nothing accumulates and nothing needs clearing."""
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(5, 5), nn.Tanh(), nn.Linear(5, 1))
leaves = tuple(net.parameters())
for p in leaves:
    p.grad = torch.zeros_like(p)
opt = torch.optim.SGD(leaves, lr=0.1)

x = torch.randn(100, 5)
y = x.sin().sum(1, keepdim=True)
for epoch in range(6):
    for xb, yb in zip(x.split(20), y.split(20)):
        loss = (net(xb) - yb).pow(2).mean()
        for p, g in zip(leaves, torch.autograd.grad(loss, leaves)):
            p.grad.copy_(g)
        opt.step()
print("loss", loss.item())
