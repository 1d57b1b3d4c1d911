"""A training that saves now and then and goes on from what it finds: alone, or as one of several ranks."""

from __future__ import annotations

import os
import random
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import torch
import torch.distributed as dist
from torch import nn
from torch.nn import functional as F
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset

import gradledger

EPOCHS = 3
BATCHES = 7
"""Of each epoch and rank; with windows of three, an epoch ends in a short one."""
LENGTH = EPOCHS * BATCHES


def train(folder: Path, after: Callable[[int, str], None] = lambda done, when: None) -> list[torch.Tensor]:
    """Train to the end; `after` hears of each micro-batch, before and after it may be saved."""
    several = dist.is_initialized()
    rank = dist.get_rank() if several else 0
    torch.manual_seed(3)
    inner = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Dropout(0.2), nn.Linear(8, 1))
    model = DistributedDataParallel(inner) if several else inner
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.02)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 9)
    torch.manual_seed(10 + rank)
    x = torch.randn(4 * BATCHES, 3)
    loader = DataLoader(TensorDataset(x, x.sum(1, keepdim=True)), batch_size=4, shuffle=True)
    acc = gradledger.Accumulator(model, optimizer, every=3, clip_norm=0.5, scheduler=schedule)
    place = acc.resume(folder / "run.ckpt") or {"epoch": 0, "done": 0}
    done = place["done"]
    for epoch in range(place["epoch"], EPOCHS):
        for a, b in acc.batches(loader):
            acc.backward(F.mse_loss(model(a), b), count=len(a))
            done += 1
            after(done, "computed")
            if done % 2 == 0:
                acc.save(folder / "run.ckpt", epoch=epoch, done=done)
            after(done, "saved")
    acc.close()
    return [p.detach().clone() for p in inner.parameters()]


def main() -> None:
    """Under torchrun: one rank kills itself in each of the first lives, at a place that the life decides."""
    folder, lives = Path(sys.argv[1]), int(sys.argv[2])
    life = int(os.environ["TORCHELASTIC_RESTART_COUNT"])
    plan = random.Random(life)
    victim, when = plan.randrange(2), plan.choice(["computed", "saved"])
    ahead = plan.randrange(1, 6)
    first: list[int] = []
    dist.init_process_group("gloo")

    def after(done: int, now: str) -> None:
        first.append(done)
        if life < lives and dist.get_rank() == victim and done >= first[0] + ahead and now == when:
            os.kill(os.getpid(), signal.SIGKILL)

    weights = train(folder, after)
    if dist.get_rank() == 0:
        torch.save(weights, folder / "weights.pt")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
