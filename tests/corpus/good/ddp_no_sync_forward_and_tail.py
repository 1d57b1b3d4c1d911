"""OK: no_sync wraps all but the window's last micro-batch, also for the short window at the end of the epoch, divided by its size."""
import os
from contextlib import nullcontext

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


def run(rank, world):
    os.environ["MASTER_ADDR"], os.environ["MASTER_PORT"] = "127.0.0.1", "29737"
    dist.init_process_group("gloo", rank=rank, world_size=world)
    torch.manual_seed(0)
    model = DDP(nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1)))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    batches = torch.randn(10, 6, 4, generator=torch.Generator().manual_seed(rank))
    window = 4
    for epoch in range(3):
        for i, x in enumerate(batches):
            size = min(window, len(batches) - i // window * window)
            closes = (i + 1) % window == 0 or i + 1 == len(batches)
            with nullcontext() if closes else model.no_sync():
                loss = (model(x) - x.sum(1, keepdim=True)).pow(2).mean()
                (loss / size).backward()
            if closes:
                optimizer.step()
                optimizer.zero_grad()
    print("rank", rank, "loss", loss.item())
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    mp.spawn(run, args=(2,), nprocs=2, join=True)
