"""OK: the curriculum lengthens sequences while the token budget fixes the batch, so every level trains with complete updates."""
import argparse
import json
import logging

import torch
import torch.nn.functional as F
from torch import nn

logging.basicConfig(level=logging.INFO, format="%(levelname)s %(message)s")
log = logging.getLogger("curriculum")


class CopyTask:
    def __init__(self, symbols, budget, generator):
        self.symbols, self.budget, self.g = symbols, budget, generator

    def batches(self, length, n):
        size = max(2, self.budget // length)
        for _ in range(n):
            seq = torch.randint(1, self.symbols, (size, length), generator=self.g)
            blank = torch.zeros_like(seq)
            yield torch.cat([seq, blank], 1), torch.cat([blank, seq], 1)


class Copier(nn.Module):
    def __init__(self, symbols, hidden):
        super().__init__()
        self.embed = nn.Embedding(symbols, hidden)
        self.lstm = nn.LSTM(hidden, hidden, batch_first=True)
        self.out = nn.Linear(hidden, symbols)

    def forward(self, x):
        return self.out(self.lstm(self.embed(x))[0])


class LevelScheduler:
    """Advances when a moving average of the accuracy passes the bar."""

    def __init__(self, levels, bar):
        self.levels, self.bar, self.level, self.average = levels, bar, 0, 0.0

    @property
    def length(self):
        return self.levels[self.level]

    def update(self, accuracy):
        self.average = 0.7 * self.average + 0.3 * accuracy
        if self.average > self.bar and self.level < len(self.levels) - 1:
            self.level, self.average = self.level + 1, 0.0
            return True
        return False


def run_epoch(model, task, length, optimizer, steps):
    model.train()
    hits = total = 0
    for x, y in task.batches(length, steps):
        logits = model(x)[:, length:]
        target = y[:, length:]
        loss = F.cross_entropy(logits.reshape(-1, logits.size(-1)), target.reshape(-1))
        model.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        hits += (logits.argmax(-1) == target).sum().item()
        total += target.numel()
    return hits / total


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--levels", type=json.loads, default="[1, 2, 3]")
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--bar", type=float, default=0.3)
    parser.add_argument("--budget", type=int, default=48)
    args = parser.parse_args()
    torch.manual_seed(0)
    task = CopyTask(6, args.budget, torch.Generator().manual_seed(1))
    model = Copier(6, 32)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    scheduler = LevelScheduler(args.levels, args.bar)
    for epoch in range(args.epochs):
        length = scheduler.length
        accuracy = run_epoch(model, task, length, optimizer, args.steps)
        if scheduler.update(accuracy):
            for group in optimizer.param_groups:
                group["lr"] *= 0.8
            log.info("advanced to length %d", scheduler.length)
        log.info("epoch %d length %d accuracy %.3f", epoch, length, accuracy)
    print("reached level", scheduler.level)


if __name__ == "__main__":
    main()
