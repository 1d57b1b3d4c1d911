"""OK: the relativistic generator loss needs the critic on real and fake; what it leaves in the critic is cleared before the critic's backward."""
import copy
from types import SimpleNamespace

import torch
import torch.nn.functional as F
from torch import nn

cfg = SimpleNamespace(epochs=3, iters=15, batch=32, nz=6, lr=1e-3, ema=0.9, seed=11)


def weights_init(m):
    if isinstance(m, nn.Linear):
        nn.init.orthogonal_(m.weight)
        nn.init.zeros_(m.bias)


def make_generator():
    return nn.Sequential(nn.Linear(cfg.nz, 32), nn.GELU(), nn.Linear(32, 32), nn.GELU(), nn.Linear(32, 2)).apply(weights_init)


def make_critic():
    return nn.Sequential(nn.Linear(2, 32), nn.LeakyReLU(0.2), nn.Linear(32, 32), nn.LeakyReLU(0.2), nn.Linear(32, 1)).apply(weights_init)


def real_samples(n):
    angle = 6.2832 * torch.rand(n)
    return torch.stack([angle.cos(), angle.sin()], 1) + 0.05 * torch.randn(n, 2)


def relativistic_average(c_real, c_fake, flip):
    sign = -1.0 if flip else 1.0
    return 0.5 * (F.softplus(-sign * (c_real - c_fake.mean())).mean() + F.softplus(sign * (c_fake - c_real.mean())).mean())


class RaGAN:
    def __init__(self):
        self.G, self.D = make_generator(), make_critic()
        self.G_ema = copy.deepcopy(self.G).requires_grad_(False)
        self.opt = {"G": torch.optim.Adam(self.G.parameters(), cfg.lr, (0.5, 0.99)), "D": torch.optim.Adam(self.D.parameters(), cfg.lr, (0.5, 0.99))}

    def train_D(self, real):
        self.opt["D"].zero_grad()
        with torch.no_grad():
            fake = self.G(torch.randn(len(real), cfg.nz))
        loss = relativistic_average(self.D(real), self.D(fake), flip=False)
        loss.backward()
        self.opt["D"].step()
        return loss.item()

    def train_G(self, real):
        self.opt["G"].zero_grad()
        fake = self.G(torch.randn(len(real), cfg.nz))
        loss = relativistic_average(self.D(real), self.D(fake), flip=True)
        loss.backward()
        self.opt["G"].step()
        with torch.no_grad():
            for target, source in zip(self.G_ema.parameters(), self.G.parameters()):
                target.lerp_(source, 1 - cfg.ema)
        return loss.item()

    @torch.no_grad()
    def radius_error(self, n=256):
        return (self.G_ema(torch.randn(n, cfg.nz)).norm(dim=1) - 1).abs().mean().item()


torch.manual_seed(cfg.seed)
gan = RaGAN()
for epoch in range(cfg.epochs):
    d_sum = g_sum = 0.0
    for i in range(cfg.iters):
        real = real_samples(cfg.batch)
        d_sum += gan.train_D(real)
        g_sum += gan.train_G(real)
    print(f"[{epoch + 1}/{cfg.epochs}] D {d_sum / cfg.iters:.3f} G {g_sum / cfg.iters:.3f} radius error {gan.radius_error():.3f}")
