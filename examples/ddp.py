"""A window over DDP replicas: all passes but the last stay local, the last exchanges the gradients.

torchrun --nproc-per-node 2 examples/ddp.py
"""

import os
from contextlib import nullcontext

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

ACCUMULATE = 4

if "RANK" in os.environ:
    dist.init_process_group("gloo")
else:  # started without torchrun: one process
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
rank, ranks = dist.get_rank(), dist.get_world_size()

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(10, 16), nn.Tanh(), nn.Linear(16, 1))
replica = DistributedDataParallel(model)
optimizer = torch.optim.SGD(replica.parameters(), lr=0.1)
x = torch.randn(128, 10)
y = x.sin().sum(1, keepdim=True)
mine = list(zip(x.split(8 // ranks), y.split(8 // ranks), strict=True))[rank::ranks]

for epoch in range(3):
    for i, (inputs, targets) in enumerate(mine):
        last = (i + 1) % ACCUMULATE == 0 or i + 1 == len(mine)
        with nullcontext() if last else replica.no_sync():
            loss = nn.functional.mse_loss(replica(inputs), targets) / ACCUMULATE
            loss.backward()
        if last:
            optimizer.step()
            optimizer.zero_grad()
    if rank == 0:
        with torch.no_grad():
            print(f"epoch {epoch}: loss {nn.functional.mse_loss(model(x), y).item():.4f}")
dist.destroy_process_group()
