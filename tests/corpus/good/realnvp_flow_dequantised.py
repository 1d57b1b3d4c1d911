"""OK: a normalising flow with data-dependent initialisation, per-update warm-up and gradient norms logged after the clip."""
import math
from collections import defaultdict

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class ActNorm(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.loc, self.log_scale = nn.Parameter(torch.zeros(dim)), nn.Parameter(torch.zeros(dim))
        self.register_buffer("initialised", torch.tensor(False))

    def forward(self, x):
        if not self.initialised:
            with torch.no_grad():
                self.loc.copy_(-x.mean(0))
                self.log_scale.copy_(-(x.std(0) + 1e-6).log())
                self.initialised.fill_(True)
        return (x + self.loc) * self.log_scale.exp(), self.log_scale.sum().expand(len(x))


class Coupling(nn.Module):
    def __init__(self, dim, flip):
        super().__init__()
        self.flip, self.half = flip, dim // 2
        self.net = nn.Sequential(nn.Linear(self.half, 32), nn.ReLU(), nn.Linear(32, 2 * (dim - self.half)))
        nn.init.zeros_(self.net[-1].weight)
        nn.init.zeros_(self.net[-1].bias)

    def forward(self, x):
        if self.flip:
            x = x.flip(1)
        a, b = x[:, :self.half], x[:, self.half:]
        s, t = self.net(a).chunk(2, 1)
        s = torch.tanh(s)
        return torch.cat([a, b * s.exp() + t], 1), s.sum(1)


class Flow(nn.Module):
    def __init__(self, dim, layers):
        super().__init__()
        steps = []
        for k in range(layers):
            steps += [ActNorm(dim), Coupling(dim, k % 2 == 1)]
        self.steps = nn.ModuleList(steps)

    def log_prob(self, x):
        total = 0
        for step in self.steps:
            x, log_det = step(x)
            total = total + log_det
        return total - 0.5 * (x.pow(2) + math.log(2 * math.pi)).sum(1)


def two_moons(n):
    angle = math.pi * torch.rand(n)
    upper = torch.rand(n) < 0.5
    x = torch.where(upper, angle.cos(), 1 - angle.cos())
    y = torch.where(upper, angle.sin(), 0.5 - angle.sin())
    return torch.stack([x, y], 1) + 0.05 * torch.randn(n, 2)


def train(flow, train_loader, val, epochs=5, warmup=10):
    optimizer = torch.optim.Adamax(flow.parameters(), lr=1e-2)
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda i: min(1.0, (i + 1) / warmup))
    log = defaultdict(list)
    for epoch in range(epochs):
        for (x,) in train_loader:
            nll = -flow.log_prob(x + torch.rand_like(x) / 64).mean()
            optimizer.zero_grad()
            nll.backward()
            log["norm"].append(float(nn.utils.clip_grad_norm_(flow.parameters(), 5.0)))
            log["clipped"].append(float(torch.stack([p.grad.norm() for p in flow.parameters()]).norm()))
            optimizer.step()
            scheduler.step()
            log["nll"].append(nll.item())
        with torch.no_grad():
            val_nll = -flow.log_prob(val).mean().item()
        print(f"epoch {epoch} nll {sum(log['nll'][-len(train_loader):]) / len(train_loader):.3f} val {val_nll:.3f} norm {max(log['norm']):.2f}")


torch.manual_seed(0)
flow = Flow(2, 4)
with torch.no_grad():
    flow.log_prob(two_moons(256))
train(flow, DataLoader(TensorDataset(two_moons(768)), batch_size=64, shuffle=True), two_moons(256))
