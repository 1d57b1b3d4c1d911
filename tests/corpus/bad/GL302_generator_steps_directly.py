"""BUG: the discriminator goes through the scaler, the generator's optimizer.step() does not."""
import torch
from torch import nn


class GAN:
    def __init__(self, latent=4, width=2):
        self.latent = latent
        self.g = nn.Sequential(nn.Linear(latent, 24), nn.ReLU(), nn.Linear(24, width))
        self.d = nn.Sequential(nn.Linear(width, 24), nn.LeakyReLU(0.2), nn.Linear(24, 1))
        self.opt_g = torch.optim.Adam(self.g.parameters(), lr=1e-3, betas=(0.5, 0.999))
        self.opt_d = torch.optim.Adam(self.d.parameters(), lr=1e-3, betas=(0.5, 0.999))
        self.scaler = torch.amp.GradScaler("cpu", init_scale=128.0)

    def fakes(self, n):
        return self.g(torch.randn(n, self.latent))

    def discriminator_step(self, real):
        self.opt_d.zero_grad()
        with torch.autocast("cpu", dtype=torch.bfloat16):
            gap = self.d(self.fakes(len(real)).detach()) - self.d(real)
            loss = nn.functional.softplus(gap).mean()
        self.scaler.scale(loss).backward()
        self.scaler.step(self.opt_d)
        return loss.item()

    def generator_step(self, n):
        self.opt_g.zero_grad()
        with torch.autocast("cpu", dtype=torch.bfloat16):
            loss = nn.functional.softplus(-self.d(self.fakes(n))).mean()
        self.scaler.scale(loss).backward()
        self.opt_g.step()  # expect: GL302
        return loss.item()

    def train(self, data, epochs):
        for epoch in range(epochs):
            for real in data.split(32):
                d_loss = self.discriminator_step(real)
                g_loss = self.generator_step(len(real))
                self.scaler.update()
            print(epoch, d_loss, g_loss)


torch.manual_seed(144)
ring = torch.rand(160) * 6.283
GAN().train(torch.stack([ring.cos(), ring.sin()], dim=1), epochs=3)
