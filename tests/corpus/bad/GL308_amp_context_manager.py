"""BUG: the amp_update() context manager builds a GradScaler at each batch, so no scale is ever learned."""
from contextlib import contextmanager

import torch
import torch.nn.functional as F
from torch import nn


@contextmanager
def amp_update(optimizer, losses, init_scale=8192.0):
    scaler = torch.amp.GradScaler("cpu", init_scale=init_scale)  # expect: GL308
    optimizer.zero_grad()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        yield losses.append
    scaler.scale(losses[-1]).backward()
    scaler.step(optimizer)
    scaler.update()


class VAE(nn.Module):
    def __init__(self, d=12, z=3):
        super().__init__()
        self.enc = nn.Linear(d, 2 * z)
        self.dec = nn.Linear(z, d)

    def forward(self, x):
        mu, logvar = self.enc(x).chunk(2, 1)
        z = mu + torch.randn_like(mu) * (0.5 * logvar).exp()
        return self.dec(z), mu, logvar


def elbo(recon, x, mu, logvar, beta=0.1):
    kl = -0.5 * (1 + logvar - mu.pow(2) - logvar.exp()).sum(1).mean()
    return F.mse_loss(recon, x, reduction="sum") / len(x) + beta * kl


torch.manual_seed(808)
data = torch.randn(100, 3) @ torch.randn(3, 12)
vae = VAE()
adam = torch.optim.Adam(vae.parameters(), lr=5e-3)
for epoch in range(3):
    losses = []
    for x in data[torch.randperm(100)].split(20):
        with amp_update(adam, losses) as post:
            recon, mu, logvar = vae(x)
            post(elbo(recon, x, mu, logvar))
        losses[-1] = losses[-1].item()
    print("epoch", epoch, "elbo", sum(losses) / len(losses))
