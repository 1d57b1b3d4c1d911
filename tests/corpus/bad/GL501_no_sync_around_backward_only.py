"""BUG: no_sync() wraps only the backward, but DDP decides in the forward, so each micro-batch is reduced after all."""
import contextlib
import os

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 4, 3)
        self.fc = nn.Linear(4 * 36, 10)

    def forward(self, x):
        return self.fc(torch.relu(self.conv(x)).flatten(1))


def micro_backward(ddp, x, y, scale, last):
    loss = F.cross_entropy(ddp(x), y) * scale
    context = contextlib.nullcontext() if last else ddp.no_sync()
    with context:
        loss.backward()  # expect: GL501
    return loss.item()


def run(rank, world):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="29602")
    dist.init_process_group("gloo", rank=rank, world_size=world)
    torch.manual_seed(242)
    ddp = DDP(Net())
    optimizer = torch.optim.Adam(ddp.parameters(), lr=1e-3)
    local = torch.Generator().manual_seed(100 + rank)
    splits = 3
    for update in range(8):
        images = torch.rand(24, 1, 8, 8, generator=local)
        labels = images.flatten(1)[:, :10].argmax(1)
        optimizer.zero_grad()
        parts = list(zip(images.chunk(splits), labels.chunk(splits)))
        for k, (x, y) in enumerate(parts):
            value = micro_backward(ddp, x, y, 1 / splits, last=k == splits - 1)
        optimizer.step()
    print("rank", rank, "loss", value * splits)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    mp.spawn(run, args=(2,), nprocs=2)
