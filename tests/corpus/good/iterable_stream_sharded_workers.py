"""OK: an IterableDataset of unknown length in two workers; windows are taken by islice and each batch is weighted by its share of the window."""
import argparse
import itertools

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, IterableDataset, get_worker_info


class EventStream(IterableDataset):
    """Generates events lazily; each worker takes every n-th one and filters its own."""

    def __init__(self, n, seed):
        self.n, self.seed, self.epoch = n, seed, 0

    def set_epoch(self, epoch):
        self.epoch = epoch

    def events(self):
        g = torch.Generator().manual_seed(1000 * self.epoch + self.seed)
        for _ in range(self.n):
            x = torch.randn(5, generator=g)
            if x.norm() > 1.0:
                yield x, torch.tanh(x[:2].sum()) - 0.5 * x[4]

    def __iter__(self):
        info = get_worker_info()
        if info is None:
            return self.events()
        return itertools.islice(self.events(), info.id, None, info.num_workers)


def windows(loader, size):
    iterator = iter(loader)
    while window := list(itertools.islice(iterator, size)):
        yield window


def train_epoch(model, optimizer, scheduler, loader, accumulate):
    model.train()
    total = seen = updates = 0
    for window in windows(loader, accumulate):
        samples = sum(len(x) for x, _ in window)
        optimizer.zero_grad(set_to_none=True)
        for x, y in window:
            loss = F.mse_loss(model(x).squeeze(1), y)
            (loss * (len(x) / samples)).backward()
            total += loss.item() * len(x)
            seen += len(x)
        optimizer.step()
        scheduler.step()
        updates += 1
    return total / seen, updates


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--accumulate", type=int, default=3)
    parser.add_argument("--workers", type=int, default=2)
    args = parser.parse_args()
    torch.manual_seed(0)
    stream = EventStream(400, seed=5)
    loader = DataLoader(stream, batch_size=16, num_workers=args.workers)
    model = nn.Sequential(nn.Linear(5, 32), nn.ReLU(), nn.Linear(32, 1))
    optimizer = torch.optim.NAdam(model.parameters(), lr=1e-2)
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda i: 1.0 / (1 + 0.05 * i))
    for epoch in range(args.epochs):
        stream.set_epoch(epoch)
        loss, updates = train_epoch(model, optimizer, scheduler, loader, args.accumulate)
        print(f"epoch {epoch} loss {loss:.4f} updates {updates} lr {scheduler.get_last_lr()[0]:.5f}")


if __name__ == "__main__":
    main()
