"""OK: the learning-rate finder trains the model itself, then weights are restored and gradients dropped before the real run."""
import argparse
import copy

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class LRFinder:
    def __init__(self, model, criterion, start_lr=1e-5, end_lr=1.0, num_iter=40):
        self.model, self.criterion = model, criterion
        self.start_lr, self.end_lr, self.num_iter = start_lr, end_lr, num_iter
        self.history = {"lr": [], "loss": []}

    def range_test(self, loader, beta=0.9):
        backup = copy.deepcopy(self.model.state_dict())
        optimizer = torch.optim.SGD(self.model.parameters(), lr=self.start_lr, momentum=0.9)
        gamma = (self.end_lr / self.start_lr) ** (1 / self.num_iter)
        scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma)
        smooth, best, iterator = 0.0, float("inf"), iter(loader)
        for it in range(self.num_iter):
            try:
                x, y = next(iterator)
            except StopIteration:
                iterator = iter(loader)
                x, y = next(iterator)
            optimizer.zero_grad()
            loss = self.criterion(self.model(x), y)
            smooth = beta * smooth + (1 - beta) * loss.item()
            corrected = smooth / (1 - beta ** (it + 1))
            self.history["lr"].append(optimizer.param_groups[0]["lr"])
            self.history["loss"].append(corrected)
            if it > 5 and corrected > 4 * best:
                print("diverged at iteration", it)
                break
            best = min(best, corrected)
            loss.backward()
            optimizer.step()
            scheduler.step()
        self.model.load_state_dict(backup)
        self.model.zero_grad(set_to_none=True)

    def suggestion(self):
        losses, lrs = self.history["loss"], self.history["lr"]
        slopes = [(losses[i + 1] - losses[i], lrs[i]) for i in range(len(losses) - 1)]
        return min(slopes)[1]


def train(model, criterion, loader, max_lr, epochs):
    optimizer = torch.optim.SGD(model.parameters(), lr=max_lr / 25, momentum=0.9, nesterov=True)
    scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=max_lr, epochs=epochs, steps_per_epoch=len(loader))
    for epoch in range(epochs):
        running = 0.0
        for x, y in loader:
            loss = criterion(model(x), y)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            scheduler.step()
            running += loss.item()
        print(f"epoch {epoch}: {running / len(loader):.4f} lr {scheduler.get_last_lr()[0]:.5f}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--max-lr", type=float, default=None)
    args = parser.parse_args()
    torch.manual_seed(1)
    x = torch.randn(480, 12)
    y = (x[:, :4].sum(1) > x[:, 4:8].sum(1)).long()
    loader = DataLoader(TensorDataset(x, y), batch_size=16, shuffle=True)
    model = nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 2))
    criterion = nn.CrossEntropyLoss()
    if args.max_lr is None:
        finder = LRFinder(model, criterion)
        finder.range_test(loader)
        args.max_lr = min(0.1, max(1e-3, finder.suggestion()))
        print("suggested", args.max_lr)
    train(model, criterion, loader, args.max_lr, args.epochs)


if __name__ == "__main__":
    main()
