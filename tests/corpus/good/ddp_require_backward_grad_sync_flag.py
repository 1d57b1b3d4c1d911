"""OK: the flag require_backward_grad_sync is set before forward, true only for the last micro-batch, so each window reduces once."""
import os

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel

ACCUMULATE = 3


def worker(rank, world):
    os.environ["MASTER_ADDR"], os.environ["MASTER_PORT"] = "127.0.0.1", "29723"
    dist.init_process_group("gloo", rank=rank, world_size=world)
    torch.manual_seed(1)
    net = DistributedDataParallel(nn.Linear(5, 2))
    sgd = torch.optim.SGD(net.parameters(), lr=0.1)
    generator = torch.Generator().manual_seed(rank)
    for update in range(8):
        for micro in range(ACCUMULATE):
            net.require_backward_grad_sync = micro == ACCUMULATE - 1
            x = torch.randn(10, 5, generator=generator)
            loss = nn.functional.cross_entropy(net(x), (x[:, 0] > 0).long()) / ACCUMULATE
            loss.backward()
        sgd.step()
        sgd.zero_grad(set_to_none=True)
    weights = torch.cat([p.detach().flatten() for p in net.parameters()])
    other = weights.clone()
    dist.broadcast(other, src=0)
    assert torch.equal(other, weights)
    print("rank", rank, "loss", loss.item() * ACCUMULATE)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    mp.spawn(worker, args=(2,), nprocs=2)
