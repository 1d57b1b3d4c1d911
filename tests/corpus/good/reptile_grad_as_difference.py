"""OK: Reptile through an optimizer: the difference of weights is assigned to .grad, which overwrites whatever was there."""
import copy

import torch
from torch import nn

torch.manual_seed(0)
slow = nn.Linear(4, 2)
outer_opt = torch.optim.Adam(slow.parameters(), lr=1e-2)
for episode in range(25):
    rule = torch.randn(4, 2)
    fast = copy.deepcopy(slow)
    inner_opt = torch.optim.SGD(fast.parameters(), lr=0.05)
    for k in range(4):
        x = torch.randn(12, 4)
        loss = (fast(x) - x @ rule).pow(2).mean()
        loss.backward()
        inner_opt.step()
        inner_opt.zero_grad()
    with torch.no_grad():
        for p, q in zip(slow.parameters(), fast.parameters()):
            p.grad = p - q
    outer_opt.step()
print("inner loss", loss.item())
