"""BUG: no_sync() at the last micro-batch of a window and at no other."""
import contextlib
import os
import sys

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler

WORLD = 2
ACCUM = 4


def setup(rank, port):
    os.environ["MASTER_ADDR"] = "127.0.0.1"
    os.environ["MASTER_PORT"] = str(port)
    dist.init_process_group("gloo", rank=rank, world_size=WORLD)


def make_loader(rank):
    gen = torch.Generator().manual_seed(5)
    x = torch.randn(256, 6, generator=gen)
    y = (x ** 2).sum(1, keepdim=True)
    ds = TensorDataset(x, y)
    sampler = DistributedSampler(ds, num_replicas=WORLD, rank=rank, shuffle=True, seed=0)
    return DataLoader(ds, batch_size=8, sampler=sampler), sampler


def worker(rank, port):
    setup(rank, port)
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(6, 24), nn.Tanh(), nn.Linear(24, 1))
    ddp = DistributedDataParallel(net)
    optimizer = torch.optim.SGD(ddp.parameters(), lr=0.02, momentum=0.9)
    criterion = nn.MSELoss()
    loader, sampler = make_loader(rank)
    for epoch in range(2):
        sampler.set_epoch(epoch)
        optimizer.zero_grad()
        for i, (x, y) in enumerate(loader):
            last = (i + 1) % ACCUM == 0
            sync = ddp.no_sync() if last else contextlib.nullcontext()
            with sync:
                loss = criterion(ddp(x), y) / ACCUM
                loss.backward()
            if last:
                optimizer.step()  # expect: GL502
                optimizer.zero_grad()
        if rank == 0:
            print(f"epoch {epoch} loss {loss.item() * ACCUM:.3f}")
    dist.destroy_process_group()


if __name__ == "__main__":
    mp.spawn(worker, args=(29600 + os.getpid() % 300,), nprocs=WORLD)
    sys.exit(0)
