"""OK: a head per task joins the same optimizer by add_param_group; old heads train on replayed samples, absent ones have no gradient."""
import argparse
import random

import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn


class MultiHead(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 32), nn.ReLU())
        self.heads = nn.ModuleList()

    def grow(self, classes):
        head = nn.Linear(32, classes)
        self.heads.append(head)
        return head

    def forward(self, x, task):
        return self.heads[task](self.backbone(x))


class ReservoirBuffer:
    def __init__(self, capacity, seed):
        self.capacity, self.items, self.seen, self.rng = capacity, [], 0, random.Random(seed)

    def add(self, x, y, logits, task):
        for sample in zip(x, y, logits):
            self.seen += 1
            if len(self.items) < self.capacity:
                self.items.append((*sample, task))
            elif (slot := self.rng.randrange(self.seen)) < self.capacity:
                self.items[slot] = (*sample, task)

    def draw(self, n):
        by_task = {}
        for x, y, logits, task in self.rng.sample(self.items, min(n, len(self.items))):
            by_task.setdefault(task, []).append((x, y, logits))
        return {t: [torch.stack(c) for c in zip(*rows)] for t, rows in by_task.items()}


def replay_loss(model, buffer, n, alpha):
    total, count = 0.0, 0
    for task, (x, y, logits) in buffer.draw(n).items():
        out = model(x, task)
        total = total + F.cross_entropy(out, y, reduction="sum") + alpha * (out - logits).pow(2).mean(1).sum()
        count += len(x)
    return total / count


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tasks", type=int, default=3)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--alpha", type=float, default=0.3)
    args = parser.parse_args()
    torch.manual_seed(0)
    digits = load_digits()
    x, y = torch.tensor(digits.data, dtype=torch.float32) / 16, torch.tensor(digits.target)
    model, buffer = MultiHead(), ReservoirBuffer(120, 0)
    optimizer = torch.optim.SGD(model.backbone.parameters(), lr=0.05, momentum=0.9)
    seen = []
    for task in range(args.tasks):
        head = model.grow(3)
        optimizer.add_param_group({"params": head.parameters(), "lr": 0.1})
        member = (y // 3) == task
        xt, yt = x[member], y[member] % 3
        split = int(0.8 * len(xt))
        seen.append((xt[split:], yt[split:]))
        for epoch in range(args.epochs):
            order = torch.randperm(split)
            for index in order.split(32):
                optimizer.zero_grad()
                out = model(xt[index], task)
                loss = F.cross_entropy(out, yt[index])
                if buffer.items:
                    loss = loss + replay_loss(model, buffer, 32, args.alpha)
                loss.backward()
                optimizer.step()
                if epoch == args.epochs - 1:
                    buffer.add(xt[index], yt[index], out.detach(), task)
        with torch.no_grad():
            accuracies = [(model(a, t).argmax(1) == b).float().mean().item() for t, (a, b) in enumerate(seen)]
        print("after task", task, [round(a, 3) for a in accuracies], "groups", len(optimizer.param_groups))


if __name__ == "__main__":
    main()
