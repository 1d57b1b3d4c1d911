"""OK: stacked parameters from torch.func train all members in one vmap call with a summed loss: independent sums, not a window."""
import copy

import torch
from torch import nn
from torch.func import functional_call, stack_module_state

torch.manual_seed(0)
members = [nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 1)) for _ in range(4)]
params, buffers = stack_module_state(members)
skeleton = copy.deepcopy(members[0]).to("meta")
optimizer = torch.optim.SGD(params.values(), lr=0.05)


def member_loss(p, b, x, y):
    return nn.functional.mse_loss(functional_call(skeleton, (p, b), (x,)), y)


for step in range(30):
    x = torch.randn(32, 3)
    y = x.sum(1, keepdim=True)
    losses = torch.vmap(member_loss, in_dims=(0, 0, None, None))(params, buffers, x, y)
    optimizer.zero_grad()
    losses.sum().backward()
    optimizer.step()
print(losses.tolist())
