"""BUG: gradients are synchronised only when a window is full, so the short tail of each epoch is stepped on local ones."""
import os
from contextlib import nullcontext

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


class DistributedTrainer:
    def __init__(self, rank, window=4):
        torch.manual_seed(244)
        self.rank, self.window = rank, window
        self.model = DDP(nn.Sequential(nn.Linear(6, 12), nn.Tanh(), nn.Linear(12, 1)))
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.05)

    def batches(self, count=10):
        g = torch.Generator().manual_seed(self.rank)
        for _ in range(count):
            x = torch.randn(8, 6, generator=g)
            yield x, x[:, :1] * x[:, 1:2]

    def epoch(self):
        batches = list(self.batches())
        for i, (x, y) in enumerate(batches):
            full = (i + 1) % self.window == 0
            last = i + 1 == len(batches)
            start = i - i % self.window
            size = min(self.window, len(batches) - start)
            with nullcontext() if full else self.model.no_sync():
                loss = nn.functional.mse_loss(self.model(x), y) / size
                loss.backward()
            if full or last:
                self.optimizer.step()  # expect: GL502
                self.optimizer.zero_grad()
        return loss.item() * size


def entry(rank, world):
    os.environ["MASTER_ADDR"], os.environ["MASTER_PORT"] = "127.0.0.1", "29604"
    dist.init_process_group("gloo", rank=rank, world_size=world)
    trainer = DistributedTrainer(rank)
    for number in range(2):
        value = trainer.epoch()
    print("rank", rank, "loss", value, "weights", sum(p.abs().sum() for p in trainer.model.parameters()).item())
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    mp.spawn(entry, args=(2,), nprocs=2)
