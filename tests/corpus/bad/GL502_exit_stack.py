"""BUG: every micro-batch enters no_sync() through an exit stack."""
import torch
import torch.distributed as dist
from contextlib import ExitStack
from torch import nn
dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
ddp = nn.parallel.DistributedDataParallel(nn.Linear(4, 1))
opt = torch.optim.SGD(ddp.parameters(), lr=0.1)
for step in range(6):
    for m in range(2):
        with ExitStack() as stack:
            stack.enter_context(ddp.no_sync())
            loss = ddp(torch.randn(4, 4)).square().mean() / 2
            loss.backward()
    opt.step()  # expect: GL502
    opt.zero_grad()
dist.destroy_process_group()
