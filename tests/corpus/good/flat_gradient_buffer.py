"""OK: every .grad is a view into one flat buffer, and zeroing the buffer clears them all."""
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(6, 10), nn.Tanh(), nn.Linear(10, 3))
params = list(model.parameters())
flat = torch.zeros(sum(p.numel() for p in params))
offset = 0
for p in params:
    p.grad = flat[offset:offset + p.numel()].view_as(p)
    offset += p.numel()

optimizer = torch.optim.SGD(params, lr=0.1)
x = torch.randn(90, 6)
y = torch.randint(0, 3, (90,))
norms = []
for epoch in range(4):
    for idx in torch.arange(90).split(30):
        flat.zero_()
        nn.functional.cross_entropy(model(x[idx]), y[idx]).backward()
        norms.append(flat.norm().item())
        optimizer.step()
print("norms", norms[0], norms[-1])
