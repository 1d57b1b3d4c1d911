"""OK: the learning rate follows the product of this and the previous gradient, which is kept as a copy; each gradient is applied once."""
import argparse
import csv
import sys

import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn
from torch.optim import Optimizer
from torch.utils.data import DataLoader, TensorDataset


class SGDHD(Optimizer):
    """SGD with Nesterov momentum whose learning rate is itself learned (hypergradient descent)."""

    def __init__(self, params, lr=1e-2, hypergrad_lr=1e-3, momentum=0.0, weight_decay=0.0):
        super().__init__(params, dict(lr=lr, hypergrad_lr=hypergrad_lr, momentum=momentum, weight_decay=weight_decay))

    @torch.no_grad()
    def step(self, closure=None):
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            h = 0.0
            for p in group["params"]:
                if p.grad is not None and "previous" in self.state[p]:
                    h += (p.grad * self.state[p]["previous"]).sum().item()
            group["lr"] = min(1.0, max(1e-4, group["lr"] + group["hypergrad_lr"] * h))
            for p in group["params"]:
                if p.grad is None:
                    continue
                state, d_p = self.state[p], p.grad.clone()
                if group["weight_decay"]:
                    d_p.add_(p, alpha=group["weight_decay"])
                if group["momentum"]:
                    buf = state.setdefault("momentum_buffer", torch.zeros_like(p))
                    buf.mul_(group["momentum"]).add_(d_p)
                    d_p.add_(buf, alpha=group["momentum"])
                state["previous"] = d_p
                p.add_(d_p, alpha=-group["lr"])
        return loss


def evaluate(model, x, y):
    model.eval()
    with torch.no_grad():
        out = model(x)
        result = F.cross_entropy(out, y).item(), (out.argmax(1) == y).float().mean().item()
    model.train()
    return result


def train(opt, model, loader, x_val, y_val):
    optimizer = SGDHD(model.parameters(), lr=opt.alpha_0, hypergrad_lr=opt.beta, momentum=opt.mu, weight_decay=1e-4)
    writer = csv.writer(sys.stdout)
    writer.writerow(["epoch", "loss", "alpha", "valid_loss", "valid_acc"])
    for epoch in range(1, opt.epochs + 1):
        loss_epoch = 0.0
        for x, y in loader:
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            loss_epoch += loss.item()
        valid_loss, valid_acc = evaluate(model, x_val, y_val)
        writer.writerow([epoch, round(loss_epoch / len(loader), 4), round(optimizer.param_groups[0]["lr"], 4), round(valid_loss, 4), round(valid_acc, 3)])


def main():
    parser = argparse.ArgumentParser(description="Hypergradient descent")
    parser.add_argument("--epochs", default=4, type=int)
    parser.add_argument("--alpha_0", default=0.005, type=float)
    parser.add_argument("--beta", default=0.02, type=float)
    parser.add_argument("--mu", default=0.5, type=float)
    opt = parser.parse_args()
    torch.manual_seed(1)
    digits = load_digits()
    x, y = torch.tensor(digits.data, dtype=torch.float32) / 16, torch.tensor(digits.target)
    loader = DataLoader(TensorDataset(x[:1400], y[:1400]), batch_size=70, shuffle=True)
    model = nn.Sequential(nn.Linear(64, 48), nn.ReLU(), nn.Linear(48, 10))
    train(opt, model, loader, x[1400:], y[1400:])


if __name__ == "__main__":
    main()
