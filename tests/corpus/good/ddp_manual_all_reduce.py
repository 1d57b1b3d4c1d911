"""OK: the whole window runs under no_sync and the gradients are averaged by hand with all_reduce right before the step."""
import os

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


def average_gradients(model, world):
    for p in model.parameters():
        dist.all_reduce(p.grad, op=dist.ReduceOp.SUM)
        p.grad /= world


def run(rank, world):
    os.environ["MASTER_ADDR"], os.environ["MASTER_PORT"] = "127.0.0.1", "29749"
    dist.init_process_group("gloo", rank=rank, world_size=world)
    torch.manual_seed(0)
    model = DDP(nn.Linear(6, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    generator = torch.Generator().manual_seed(10 + rank)
    for update in range(10):
        optimizer.zero_grad()
        with model.no_sync():
            for micro in range(3):
                x = torch.randn(8, 6, generator=generator)
                loss = (model(x) - x.mean(1, keepdim=True)).pow(2).mean() / 3
                loss.backward()
        average_gradients(model, world)
        optimizer.step()
    weights = [torch.zeros(7) for _ in range(world)]
    dist.all_gather(weights, torch.cat([p.detach().flatten() for p in model.parameters()]))
    assert torch.equal(*weights)
    print("rank", rank, "loss", loss.item() * 3)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    mp.spawn(run, args=(2,), nprocs=2)
