"""OK: two critic updates per generator update with hinge losses; the generator's pass runs on a frozen critic, each side clears its own."""
import argparse
import itertools

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils import spectral_norm

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=60)
parser.add_argument("--n-critic", type=int, default=2)
parser.add_argument("--batch", type=int, default=32)
parser.add_argument("--classes", type=int, default=4)
parser.add_argument("--zdim", type=int, default=8)
opt = parser.parse_args()
torch.manual_seed(0)


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(opt.classes, opt.zdim)
        self.net = nn.Sequential(nn.Linear(2 * opt.zdim, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Linear(32, 2))

    def forward(self, z, y):
        return self.net(torch.cat([z, self.embed(y)], 1))


class ProjectionDiscriminator(nn.Module):
    def __init__(self):
        super().__init__()
        self.phi = nn.Sequential(spectral_norm(nn.Linear(2, 32)), nn.LeakyReLU(0.2), spectral_norm(nn.Linear(32, 32)), nn.LeakyReLU(0.2))
        self.psi = spectral_norm(nn.Linear(32, 1))
        self.embed = spectral_norm(nn.Embedding(opt.classes, 32))

    def forward(self, x, y):
        h = self.phi(x)
        return self.psi(h).squeeze(1) + (h * self.embed(y)).sum(1)


def infinite_data():
    centres = torch.tensor([[2.0, 0.0], [-2.0, 0.0], [0.0, 2.0], [0.0, -2.0]])
    while True:
        y = torch.randint(0, opt.classes, (opt.batch,))
        yield centres[y] + 0.1 * torch.randn(opt.batch, 2), y


def toggle_grad(model, requires_grad):
    for p in model.parameters():
        p.requires_grad_(requires_grad)


G, D = Generator(), ProjectionDiscriminator()
g_optim = torch.optim.Adam(G.parameters(), lr=2e-3, betas=(0.0, 0.9))
d_optim = torch.optim.Adam(D.parameters(), lr=4e-3, betas=(0.0, 0.9))
g_decay = torch.optim.lr_scheduler.LambdaLR(g_optim, lambda i: 1 - i / (2 * opt.steps))
d_decay = torch.optim.lr_scheduler.LambdaLR(d_optim, lambda i: 1 - i / (2 * opt.steps * opt.n_critic))
data = infinite_data()

for step in range(opt.steps):
    toggle_grad(G, False)
    toggle_grad(D, True)
    for _ in range(opt.n_critic):
        real, y = next(data)
        fake = G(torch.randn(opt.batch, opt.zdim), y)
        d_loss = F.relu(1 - D(real, y)).mean() + F.relu(1 + D(fake, y)).mean()
        d_optim.zero_grad()
        d_loss.backward()
        d_optim.step()
        d_decay.step()
    toggle_grad(G, True)
    toggle_grad(D, False)
    y = torch.randint(0, opt.classes, (opt.batch,))
    g_loss = -D(G(torch.randn(opt.batch, opt.zdim), y), y).mean()
    g_optim.zero_grad()
    g_loss.backward()
    g_optim.step()
    g_decay.step()
    if (step + 1) % 20 == 0:
        grads = [p.grad.norm() for p in itertools.chain(G.parameters()) if p.grad is not None]
        print(f"step {step + 1} d {d_loss.item():.3f} g {g_loss.item():.3f} gnorm {torch.stack(grads).norm():.3f}")
