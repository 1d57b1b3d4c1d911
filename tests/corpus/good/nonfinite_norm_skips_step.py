"""OK: backward on a bad batch makes infinite gradients, but the norm is looked at first and the step is left out; then all is cleared."""
import math

import torch
from torch import nn


def guarded_update(model, optimizer, limit):
    norm = nn.utils.clip_grad_norm_(model.parameters(), limit).item()
    healthy = math.isfinite(norm)
    if healthy:
        optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    return healthy


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
good = bad = 0
for i, x in enumerate(torch.randn(50, 12, 4)):
    target = x.abs().sum(1, keepdim=True)
    if i % 10 == 3:
        target[0] = float("inf")  # a corrupt record
    (model(x) - target).pow(2).mean().backward()
    if guarded_update(model, optimizer, 1.0):
        good += 1
    else:
        bad += 1
print("good", good, "bad", bad, all(p.isfinite().all() for p in model.parameters()))
