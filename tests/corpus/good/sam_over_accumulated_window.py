"""OK: sharpness-aware steps over a window: one pass to climb, cleared, a second pass at the perturbed weights, restored, one step."""
import argparse

import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class ASAM:
    """Adaptive SAM around any base optimizer; ascent and restore keep the perturbations here."""

    def __init__(self, base, model, rho=0.5, eta=0.01):
        self.base, self.model, self.rho, self.eta = base, model, rho, eta
        self.offsets = {}

    @torch.no_grad()
    def ascend(self):
        scaled, total = {}, 0.0
        for n, p in self.model.named_parameters():
            t = p.abs() + self.eta if n.endswith("weight") else torch.ones_like(p)
            scaled[n] = (t, t * p.grad)
            total += scaled[n][1].pow(2).sum()
        norm = total.sqrt() + 1e-12
        for n, p in self.model.named_parameters():
            t, g = scaled[n]
            self.offsets[n] = self.rho * t * g / norm
            p.add_(self.offsets[n])
        self.base.zero_grad()

    @torch.no_grad()
    def descend(self):
        for n, p in self.model.named_parameters():
            p.sub_(self.offsets.pop(n))
        self.base.step()
        self.base.zero_grad()


def accumulate(model, window):
    samples = sum(len(y) for _, y in window)
    total = 0.0
    for x, y in window:
        loss = F.cross_entropy(model(x), y, reduction="sum") / samples
        loss.backward()
        total += loss.item()
    return total


def windows(loader, size):
    window = []
    for batch in loader:
        window.append(batch)
        if len(window) == size:
            yield window
            window = []
    if window:
        yield window


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--window", type=int, default=3)
    parser.add_argument("--rho", type=float, default=0.3)
    args = parser.parse_args()
    torch.manual_seed(0)
    digits = load_digits()
    x, y = torch.tensor(digits.data, dtype=torch.float32) / 16, torch.tensor(digits.target)
    loader = DataLoader(TensorDataset(x[:1000], y[:1000]), batch_size=32, shuffle=True)
    model = nn.Sequential(nn.Linear(64, 48), nn.ReLU(), nn.Linear(48, 10))
    base = torch.optim.SGD(model.parameters(), lr=0.2, momentum=0.9)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(base, args.epochs)
    sam = ASAM(base, model, args.rho)
    for epoch in range(args.epochs):
        flat = sharp = n = 0
        for window in windows(loader, args.window):
            flat += accumulate(model, window)
            sam.ascend()
            sharp += accumulate(model, window)
            sam.descend()
            n += 1
        scheduler.step()
        with torch.no_grad():
            accuracy = (model(x[1000:]).argmax(1) == y[1000:]).float().mean().item()
        print(f"epoch {epoch} loss {flat / n:.3f} sharpness {(sharp - flat) / n:.3f} updates {n} accuracy {accuracy:.3f}")


main()
