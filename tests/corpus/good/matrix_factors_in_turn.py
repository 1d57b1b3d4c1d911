"""OK: two factors are updated in turn from one loss; both are cleared before each pass, so nothing leaks."""
import torch
from torch import nn

torch.manual_seed(0)
A = nn.Parameter(torch.randn(20, 3))
B = nn.Parameter(torch.randn(3, 15))
M = torch.randn(20, 15)
opt_a = torch.optim.SGD([A], lr=0.05)
opt_b = torch.optim.SGD([B], lr=0.05)
for it in range(30):
    for opt in (opt_a, opt_b):
        opt_a.zero_grad()
        opt_b.zero_grad()
        loss = (A @ B - M).pow(2).mean()
        loss.backward()
        opt.step()
    if it % 10 == 0:
        print(it, loss.item())
print("done", loss.item())
