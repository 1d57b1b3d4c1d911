"""BUG: the diffusion trainer clears before each of its accumulated draws, so only the last draw reaches the step."""
import copy

import torch
import torch.nn.functional as F
from torch import nn


def cycle(batches):
    while True:
        yield from batches


class Denoiser(nn.Module):
    def __init__(self, dim=2, width=32):
        super().__init__()
        self.time = nn.Sequential(nn.Linear(1, width), nn.SiLU())
        self.inp = nn.Linear(dim, width)
        self.out = nn.Sequential(nn.SiLU(), nn.Linear(width, dim))

    def forward(self, x, t):
        return self.out(self.inp(x) + self.time(t))


class GaussianDiffusion(nn.Module):
    def __init__(self, model, timesteps=50):
        super().__init__()
        self.model = model
        self.timesteps = timesteps
        betas = torch.linspace(1e-4, 0.1, timesteps)
        self.register_buffer("alphas_bar", torch.cumprod(1 - betas, 0))

    def forward(self, x0):
        t = torch.randint(0, self.timesteps, (x0.size(0),))
        a = self.alphas_bar[t].unsqueeze(1)
        noise = torch.randn_like(x0)
        xt = a.sqrt() * x0 + (1 - a).sqrt() * noise
        return F.mse_loss(self.model(xt, t.unsqueeze(1) / self.timesteps), noise)


class Trainer:
    def __init__(self, diffusion, batches, gradient_accumulate_every=3, ema_decay=0.99):
        self.diffusion = diffusion
        self.ema = copy.deepcopy(diffusion).requires_grad_(False)
        self.dl = cycle(batches)
        self.accum = gradient_accumulate_every
        self.ema_decay = ema_decay
        self.opt = torch.optim.Adam(diffusion.parameters(), lr=2e-3, betas=(0.9, 0.99))

    def update_ema(self):
        with torch.no_grad():
            for e, p in zip(self.ema.parameters(), self.diffusion.parameters()):
                e.lerp_(p, 1 - self.ema_decay)

    def train(self, num_steps):
        total = 0.0
        for step in range(num_steps):
            for _ in range(self.accum):
                self.opt.zero_grad()  # expect: GL103
                loss = self.diffusion(next(self.dl)) / self.accum
                loss.backward()
                total += loss.item()
            self.opt.step()
            self.update_ema()
        return total / num_steps


if __name__ == "__main__":
    torch.manual_seed(99)
    angle = torch.rand(96) * 6.283
    ring = torch.stack([angle.cos(), angle.sin()], 1) + 0.05 * torch.randn(96, 2)
    trainer = Trainer(GaussianDiffusion(Denoiser()), ring.split(16))
    for epoch in range(2):
        print("epoch", epoch, "loss", trainer.train(num_steps=8))
