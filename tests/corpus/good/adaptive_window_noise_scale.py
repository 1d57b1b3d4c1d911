"""OK: micro-batches accumulate until the estimated gradient noise is small enough; summed losses are divided by the samples actually inside."""
import argparse

import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class AdaptiveAccumulator:
    """Steps when the standard error of the mean gradient falls below a fraction of its norm, or at the ceiling."""

    def __init__(self, model, optimizer, ratio, ceiling):
        self.params = list(model.parameters())
        self.optimizer, self.ratio, self.ceiling = optimizer, ratio, ceiling
        self.sizes = []
        self.optimizer.zero_grad()
        self._reset()

    def _reset(self):
        self.samples, self.micro, self.square = 0, 0, 0.0
        self.previous = torch.zeros(sum(p.numel() for p in self.params))

    def _flat(self):
        return torch.cat([p.grad.flatten() for p in self.params])

    def backward(self, loss_sum, n):
        loss_sum.backward()
        total = self._flat()
        self.square += ((total - self.previous) / n).pow(2).sum().item()
        self.previous = total
        self.samples += n
        self.micro += 1
        if self.micro >= self.ceiling or (self.micro >= 2 and self._quiet()):
            self.flush()
            return True
        return False

    def _quiet(self):
        mean = (self.previous / self.samples).pow(2).sum().item()
        variance = max(0.0, self.square / self.micro - mean) / self.micro
        return variance < self.ratio * mean

    def flush(self):
        if self.micro == 0:
            return
        for p in self.params:
            p.grad.div_(self.samples)
        self.optimizer.step()
        self.optimizer.zero_grad()
        self.sizes.append(self.micro)
        self._reset()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--micro-batch", type=int, default=16)
    parser.add_argument("--ratio", type=float, default=0.5)
    parser.add_argument("--ceiling", type=int, default=8)
    args = parser.parse_args()
    torch.manual_seed(0)
    digits = load_digits()
    x, y = torch.tensor(digits.data, dtype=torch.float32) / 16, torch.tensor(digits.target)
    loader = DataLoader(TensorDataset(x[:1000], y[:1000]), batch_size=args.micro_batch, shuffle=True)
    model = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.3, momentum=0.5)
    accumulator = AdaptiveAccumulator(model, optimizer, args.ratio, args.ceiling)
    for epoch in range(args.epochs):
        total, first = 0.0, len(accumulator.sizes)
        for xb, yb in loader:
            loss = F.cross_entropy(model(xb), yb, reduction="sum")
            total += loss.item()
            accumulator.backward(loss, len(xb))
        accumulator.flush()
        sizes = accumulator.sizes[first:]
        with torch.no_grad():
            accuracy = (model(x[1000:]).argmax(1) == y[1000:]).float().mean().item()
        print(f"epoch {epoch} loss {total / 1000:.3f} updates {len(sizes)} mean window {sum(sizes) / len(sizes):.2f} accuracy {accuracy:.3f}")


if __name__ == "__main__":
    main()
