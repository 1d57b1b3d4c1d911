"""OK: hard samples are picked by a pass without a graph and queued, over epoch ends too; a full queue is one batch with one update."""
import argparse
from collections import deque

import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class LossHistory:
    def __init__(self, size):
        self.values = deque(maxlen=size)

    def probability(self, losses, beta):
        self.values.extend(losses.tolist())
        reference = torch.tensor(list(self.values))
        return torch.stack([(reference <= value).float().mean() for value in losses]).pow(beta)


class SelectiveBackprop:
    def __init__(self, model, optimizer, batch, beta):
        self.model, self.optimizer, self.batch, self.beta = model, optimizer, batch, beta
        self.history, self.queue = LossHistory(512), []
        self.updates = self.forwarded = self.trained = 0

    def select(self, x, y):
        self.model.eval()
        with torch.no_grad():
            losses = F.cross_entropy(self.model(x), y, reduction="none")
        self.model.train()
        self.forwarded += len(x)
        return torch.rand(len(x)) < self.history.probability(losses, self.beta)

    def feed(self, x, y):
        chosen = self.select(x, y)
        self.queue.extend(zip(x[chosen], y[chosen]))
        losses = []
        while len(self.queue) >= self.batch:
            rows, self.queue = self.queue[:self.batch], self.queue[self.batch:]
            losses.append(self.update(torch.stack([r[0] for r in rows]), torch.stack([r[1] for r in rows])))
        return losses

    def update(self, x, y):
        loss = F.cross_entropy(self.model(x), y)
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        self.optimizer.step()
        self.updates += 1
        self.trained += len(x)
        return loss.item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--beta", type=float, default=1.5)
    args = parser.parse_args()
    torch.manual_seed(0)
    digits = load_digits()
    x, y = torch.tensor(digits.data, dtype=torch.float32) / 16, torch.tensor(digits.target)
    loader = DataLoader(TensorDataset(x[:1400], y[:1400]), batch_size=50, shuffle=True)
    model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Dropout(0.1), nn.Linear(64, 10))
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    trainer = SelectiveBackprop(model, optimizer, batch=32, beta=args.beta)
    for epoch in range(args.epochs):
        losses = []
        for xb, yb in loader:
            losses.extend(trainer.feed(xb, yb))
        model.eval()
        with torch.no_grad():
            accuracy = (model(x[1400:]).argmax(1) == y[1400:]).float().mean().item()
        model.train()
        print(f"epoch {epoch} updates {trainer.updates} trained {trainer.trained}/{trainer.forwarded} hard loss {sum(losses) / len(losses):.3f} "
              f"queued {len(trainer.queue)} accuracy {accuracy:.3f}")


if __name__ == "__main__":
    main()
