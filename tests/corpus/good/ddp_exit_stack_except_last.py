"""OK: no_sync() through an exit stack, for all but the last micro-batch."""
import torch
import torch.distributed as dist
from contextlib import ExitStack
from torch import nn
dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
ddp = nn.parallel.DistributedDataParallel(nn.Linear(4, 1))
opt = torch.optim.SGD(ddp.parameters(), lr=0.1)
for step in range(5):
    for m in range(3):
        with ExitStack() as stack:
            if m < 2:
                stack.enter_context(ddp.no_sync())
            (ddp(torch.randn(4, 4)).square().mean() / 3).backward()
    opt.step()
    opt.zero_grad()
dist.destroy_process_group()
