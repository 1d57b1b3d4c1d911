"""OK: hand-written momentum with p.data.add_, cleared by model.zero_grad() at the top of each iteration."""
import torch
from torch import nn


@torch.no_grad()
def update(params, velocity, lr=0.02, mu=0.9):
    for name, p in params:
        v = velocity.setdefault(name, torch.zeros_like(p))
        v.mul_(mu).add_(p.grad)
        p.data.add_(v, alpha=-lr)


torch.manual_seed(0)
net = nn.Sequential(nn.Linear(3, 9), nn.Tanh(), nn.Linear(9, 2))
state = {}
data = torch.randn(120, 3)
want = torch.stack([data.sum(1), data.prod(1)], 1)
for epoch in range(8):
    for i in range(0, 120, 24):
        net.zero_grad()
        loss = (net(data[i:i + 24]) - want[i:i + 24]).pow(2).mean()
        loss.backward()
        update(net.named_parameters(), state)
print(len(state), "buffers, loss", loss.item())
