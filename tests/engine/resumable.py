"""A training that can be killed and resumed at any micro-batch: shuffled data, dropout, fp16, a schedule.

Arguments: the checkpoint, where the weights go at the end, the micro-batch after which to die (or -1),
"sized" or "stream", "fp32" or "fp16".
"""

from __future__ import annotations

import os
import random
import signal
import sys

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, IterableDataset, TensorDataset

import gradledger


class Stream(IterableDataset):
    """Noisy samples, drawn while the training runs."""

    def __iter__(self):
        for _ in range(26):
            x = torch.randn(3)
            yield x, x.sum(0, keepdim=True) + random.random()


def main() -> None:
    checkpoint, result, deadly, kind, precision = sys.argv[1:]
    torch.manual_seed(7)
    random.seed(7)
    model = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Dropout(0.3), nn.Linear(8, 1))
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.02)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 12)
    x = torch.randn(26, 3)
    sized = DataLoader(TensorDataset(x, x.sum(1, keepdim=True)), batch_size=4, shuffle=True)
    loader = sized if kind == "sized" else DataLoader(Stream(), batch_size=4)
    acc = gradledger.Accumulator(
        model, optimizer, every=3, clip_norm=0.5, scheduler=schedule, precision=precision
    )
    epoch, done = 0, 0
    if os.path.exists(checkpoint):
        extra = acc.load(checkpoint)
        epoch, done = extra["epoch"], extra["done"]
    while epoch < 3:
        for a, b in acc.batches(loader):
            with acc.precision():
                loss = F.mse_loss(model(a), b)
            acc.backward(loss, count=len(a))
            done += 1
            if done <= int(deadly):
                acc.save(checkpoint, epoch=epoch, done=done)
            if done == int(deadly):
                os.kill(os.getpid(), signal.SIGKILL)
        epoch += 1
    torch.save([*model.state_dict().values(), torch.rand(3), torch.tensor(schedule.get_last_lr())], result)


if __name__ == "__main__":
    main()
