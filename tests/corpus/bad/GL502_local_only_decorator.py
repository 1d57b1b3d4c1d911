"""BUG: the decorator that keeps a micro-batch local wraps all of them, the last one too, so the ranks never reduce."""
import functools
import os

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel


def local_only(method):
    @functools.wraps(method)
    def wrapper(self, *args, **kwargs):
        with self.ddp.no_sync():
            return method(self, *args, **kwargs)

    return wrapper


class ContrastiveTrainer:
    def __init__(self, temperature=0.2, micro=3):
        self.ddp = DistributedDataParallel(nn.Sequential(nn.Linear(9, 20), nn.ReLU(), nn.Linear(20, 6)))
        self.optimizer = torch.optim.SGD(self.ddp.parameters(), lr=0.05, momentum=0.9)
        self.temperature, self.micro = temperature, micro

    @local_only
    def accumulate(self, view_a, view_b):
        z = nn.functional.normalize(self.ddp(torch.cat([view_a, view_b])), dim=1)
        za, zb = z.chunk(2)
        logits = za @ zb.t() / self.temperature
        loss = nn.functional.cross_entropy(logits, torch.arange(len(za))) / self.micro
        loss.backward()
        return loss.item()

    def update(self, x):
        self.optimizer.zero_grad()
        total = 0.0
        for part in x.chunk(self.micro):
            noisy = lambda: part + 0.1 * torch.randn_like(part)
            total += self.accumulate(noisy(), noisy())
        self.optimizer.step()  # expect: GL502
        return total


def main(rank, world):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT="29811")
    dist.init_process_group("gloo", rank=rank, world_size=world)
    torch.manual_seed(502)
    trainer = ContrastiveTrainer()
    torch.manual_seed(5020 + rank)
    for epoch in range(2):
        for _ in range(5):
            value = trainer.update(torch.randn(24, 9))
        print(f"rank {rank} epoch {epoch} nt-xent {value:.4f}", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    mp.spawn(main, args=(2,), nprocs=2)
