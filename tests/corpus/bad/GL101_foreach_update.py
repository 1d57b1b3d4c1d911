"""BUG: an update by torch._foreach_add_ and no clearing."""
import torch
from torch import nn
net = nn.Linear(4, 2)
params = list(net.parameters())
for t in range(10):
    loss = net(torch.randn(6, 4)).square().mean()
    loss.backward()  # expect: GL101
    with torch.no_grad():
        torch._foreach_add_(params, [p.grad for p in params], alpha=-0.05)
