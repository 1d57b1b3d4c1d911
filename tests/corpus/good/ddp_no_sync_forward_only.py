"""OK: no_sync wraps only the forward; DDP decides there, so the backward outside stays local, and the last micro-batch reduces."""
import os

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


def forward_loss(model, x):
    return nn.functional.mse_loss(model(x), x.sum(1, keepdim=True))


def run(rank, world):
    os.environ["MASTER_ADDR"], os.environ["MASTER_PORT"] = "127.0.0.1", "29787"
    dist.init_process_group("gloo", rank=rank, world_size=world)
    torch.manual_seed(0)
    model = DDP(nn.Linear(4, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    generator = torch.Generator().manual_seed(rank)
    for update in range(6):
        micro = torch.randn(3, 8, 4, generator=generator)
        for x in micro[:-1]:
            with model.no_sync():
                loss = forward_loss(model, x)
            (loss / 3).backward()
        loss = forward_loss(model, micro[-1])
        (loss / 3).backward()
        optimizer.step()
        optimizer.zero_grad()
    flat = torch.cat([p.detach().flatten() for p in model.parameters()])
    copies = [torch.empty_like(flat) for _ in range(world)]
    dist.all_gather(copies, flat)
    assert torch.equal(*copies)
    print("rank", rank, "loss", loss.item())
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    mp.spawn(run, args=(2,), nprocs=2)
