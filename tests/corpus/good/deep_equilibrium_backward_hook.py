"""OK: the equilibrium is found without a graph and its gradient solved in a tensor hook by autograd.grad with retain_graph; one backward per batch."""
import argparse

import torch
import torch.nn.functional as F
from sklearn.datasets import load_digits
from torch import nn, optim
from torch.utils.data import DataLoader, TensorDataset


def fixed_point(f, start, max_iter=12, tol=1e-3):
    z = start
    for k in range(max_iter):
        following = f(z)
        if (following - z).norm() / (1e-5 + following.norm()) < tol:
            return following, k
        z = following
    return z, max_iter


class Cell(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.recurrent, self.inject = nn.Linear(width, width, bias=False), nn.Linear(64, width)
        nn.init.orthogonal_(self.recurrent.weight, gain=0.5)

    def forward(self, z, x):
        return torch.tanh(self.recurrent(z) + self.inject(x))


class DEQFixedPoint(nn.Module):
    def __init__(self, f, width, solver):
        super().__init__()
        self.f, self.width, self.solver = f, width, solver
        self.forward_iterations, self.backward_iterations = [], []

    def forward(self, x):
        with torch.no_grad():
            z, n = self.solver(lambda z: self.f(z, x), torch.zeros(len(x), self.width))
            self.forward_iterations.append(n)
        z = self.f(z, x)
        if z.requires_grad:
            z0 = z.clone().detach().requires_grad_()
            f0 = self.f(z0, x)

            def backward_hook(grad):
                g, n = self.solver(lambda y: torch.autograd.grad(f0, z0, y, retain_graph=True)[0] + grad, grad)
                self.backward_iterations.append(n)
                return g

            z.register_hook(backward_hook)
        return z


def epoch(loader, model, opt=None, lr_scheduler=None):
    total_loss, total_err = 0.0, 0.0
    model.eval() if opt is None else model.train()
    for x, y in loader:
        out = model(x)
        loss = F.cross_entropy(out, y)
        if opt:
            opt.zero_grad()
            loss.backward()
            opt.step()
            lr_scheduler.step()
        total_err += (out.argmax(1) != y).sum().item()
        total_loss += loss.item() * len(x)
    return total_err / len(loader.dataset), total_loss / len(loader.dataset)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--width", type=int, default=32)
    args = parser.parse_args()
    torch.manual_seed(0)
    digits = load_digits()
    x, y = torch.tensor(digits.data, dtype=torch.float32) / 16, torch.tensor(digits.target)
    train_loader = DataLoader(TensorDataset(x[:1200], y[:1200]), batch_size=60, shuffle=True)
    test_loader = DataLoader(TensorDataset(x[1200:], y[1200:]), batch_size=100)
    deq = DEQFixedPoint(Cell(args.width), args.width, fixed_point)
    model = nn.Sequential(deq, nn.Linear(args.width, 10))
    opt = optim.Adam(model.parameters(), lr=1e-2)
    scheduler = optim.lr_scheduler.CosineAnnealingLR(opt, args.epochs * len(train_loader), eta_min=1e-5)
    for _ in range(args.epochs):
        print("train", epoch(train_loader, model, opt, scheduler))
        with torch.no_grad():
            print("test", epoch(test_loader, model))
        print("iterations", sum(deq.forward_iterations) / len(deq.forward_iterations), sum(deq.backward_iterations) / len(deq.backward_iterations))


main()
