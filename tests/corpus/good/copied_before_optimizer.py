"""OK: the copy is made first and the optimizer holds it."""
import copy
import torch
from torch import nn
base = nn.Linear(3, 1)
model = copy.deepcopy(base)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(6):
    opt.zero_grad()
    (model(torch.randn(4, 3)) - 1).square().mean().backward()
    opt.step()
print((base.weight - model.weight).abs().max())
