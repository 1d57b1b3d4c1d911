"""OK: each task's backward is cleared after its gradient was copied; the min-norm combination is then written to p.grad and stepped once."""
import argparse

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.shared = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 16), nn.ReLU())
        self.tasks = nn.ModuleDict({"left": nn.Linear(16, 2), "right": nn.Linear(16, 3)})

    def forward(self, x, task):
        return self.tasks[task](self.shared(x))


def flat_grad(parameters):
    return torch.cat([p.grad.flatten() if p.grad is not None else torch.zeros(p.numel()) for p in parameters])


def write_grad(parameters, flat):
    offset = 0
    for p in parameters:
        p.grad = flat[offset:offset + p.numel()].view_as(p).clone()
        offset += p.numel()


def min_norm_weight(g1, g2):
    """The point of the segment between two gradients nearest the origin."""
    d = g1 - g2
    return float(((g2 @ (g2 - g1)) / d.pow(2).sum().clamp_min(1e-12)).clamp(0, 1))


def train_epoch(model, loader, shared_opt, head_opts, log):
    shared = list(model.shared.parameters())
    for x, labels in loader:
        collected = {}
        for opt in head_opts.values():
            opt.zero_grad()
        for task, y in zip(model.tasks, labels.unbind(1)):
            shared_opt.zero_grad()
            loss = F.cross_entropy(model(x, task), y)
            loss.backward()
            collected[task] = flat_grad(shared)
            log[task].append(loss.item())
        names = list(collected)
        w = min_norm_weight(collected[names[0]], collected[names[1]])
        write_grad(shared, w * collected[names[0]] + (1 - w) * collected[names[1]])
        log["weight"].append(w)
        shared_opt.step()
        for opt in head_opts.values():
            opt.step()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--lr", type=float, default=0.1)
    args = parser.parse_args()
    torch.manual_seed(0)
    x = torch.randn(320, 10)
    y = torch.stack([(x[:, 0] > 0).long(), (x[:, 1] > 0.4).long() + (x[:, 1] > -0.4).long()], 1)
    loader = DataLoader(TensorDataset(x, y), batch_size=32, shuffle=True)
    model = Model()
    shared_opt = torch.optim.SGD(model.shared.parameters(), lr=args.lr, momentum=0.9)
    head_opts = {name: torch.optim.SGD(head.parameters(), lr=args.lr) for name, head in model.tasks.items()}
    for epoch in range(args.epochs):
        log = {"left": [], "right": [], "weight": []}
        train_epoch(model, loader, shared_opt, head_opts, log)
        print("epoch", epoch, {k: round(sum(v) / len(v), 3) for k, v in log.items()})


if __name__ == "__main__":
    main()
