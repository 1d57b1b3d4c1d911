"""BUG: the loop calls the wrapped model past its wrapper, so DDP never reduces a gradient."""
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
torch.manual_seed(5021)
model = DistributedDataParallel(nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 1)))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
x, y = torch.randn(60, 6), torch.randn(60, 1)
for epoch in range(2):
    for inputs, targets in zip(x.split(12), y.split(12)):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model.module(inputs), targets)
        loss.backward()
        optimizer.step()  # expect: GL502
    print("epoch", epoch, loss.item())
dist.destroy_process_group()
