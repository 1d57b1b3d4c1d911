"""OK: pruning rounds rewind the weights, build a new optimizer and mask gradients by tensor hooks; no round inherits a gradient."""
import argparse
import copy

import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Pruner:
    def __init__(self, model):
        self.masks = {n: torch.ones_like(p) for n, p in model.named_parameters() if p.dim() > 1}
        self.handles = [p.register_hook(self._hook(n)) for n, p in model.named_parameters() if n in self.masks]

    def _hook(self, name):
        return lambda grad: grad * self.masks[name]

    @torch.no_grad()
    def apply(self, model):
        for n, p in model.named_parameters():
            if n in self.masks:
                p.mul_(self.masks[n])

    @torch.no_grad()
    def prune(self, model, fraction):
        alive = torch.cat([p[self.masks[n] > 0].abs() for n, p in model.named_parameters() if n in self.masks])
        threshold = alive.quantile(fraction)
        for n, p in model.named_parameters():
            if n in self.masks:
                self.masks[n] *= (p.abs() > threshold).float()

    def sparsity(self):
        return 1 - sum(m.sum().item() for m in self.masks.values()) / sum(m.numel() for m in self.masks.values())


def train(model, pruner, loader, epochs, rewind_at=None):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, epochs)
    snapshot, step = None, 0
    for _ in range(epochs):
        for x, y in loader:
            loss = F.cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            pruner.apply(model)
            step += 1
            if step == rewind_at:
                snapshot = copy.deepcopy(model.state_dict())
        scheduler.step()
    return loss.item(), snapshot


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--fraction", type=float, default=0.4)
    parser.add_argument("--rewind-step", type=int, default=5)
    args = parser.parse_args()
    torch.manual_seed(0)
    digits = load_digits()
    x, y = torch.tensor(digits.data, dtype=torch.float32) / 16, torch.tensor(digits.target)
    loader = DataLoader(TensorDataset(x[:1400], y[:1400]), batch_size=70, shuffle=True)
    model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
    pruner = Pruner(model)
    ticket = None
    for rnd in range(args.rounds):
        loss, snapshot = train(model, pruner, loader, args.epochs, args.rewind_step if rnd == 0 else None)
        ticket = ticket or snapshot
        with torch.no_grad():
            accuracy = (model(x[1400:]).argmax(1) == y[1400:]).float().mean().item()
        print(f"round {rnd} sparsity {pruner.sparsity():.2f} loss {loss:.3f} accuracy {accuracy:.3f}")
        pruner.prune(model, args.fraction)
        model.load_state_dict(ticket)
        pruner.apply(model)
        model.zero_grad(set_to_none=True)
    for handle in pruner.handles:
        handle.remove()


if __name__ == "__main__":
    main()
