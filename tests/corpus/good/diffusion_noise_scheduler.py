"""OK: noise_scheduler.step() denoises a sample; it is no learning-rate scheduler and may be called as often as one likes."""
import torch
from torch import nn


class NoiseScheduler:
    def __init__(self, steps=20):
        self.beta = torch.linspace(1e-3, 0.2, steps)
        self.alpha = 1 - self.beta
        self.bar = self.alpha.cumprod(0)
        self.timesteps = torch.arange(steps).flip(0)

    def add_noise(self, x, noise, t):
        return self.bar[t].sqrt()[:, None] * x + (1 - self.bar[t]).sqrt()[:, None] * noise

    def step(self, predicted, t, sample):
        mean = (sample - self.beta[t] / (1 - self.bar[t]).sqrt() * predicted) / self.alpha[t].sqrt()
        return mean + (self.beta[t].sqrt() * torch.randn_like(sample) if t > 0 else 0)


class Denoiser(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(3, 32), nn.SiLU(), nn.Linear(32, 2))

    def forward(self, x, t):
        return self.net(torch.cat([x, t.float()[:, None] / 20], 1))


torch.manual_seed(0)
scheduler, model = NoiseScheduler(), Denoiser()
optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
for epoch in range(3):
    for step in range(15):
        clean = torch.randn(64, 2) * 0.1 + torch.tensor([1.0, -1.0])
        noise = torch.randn_like(clean)
        t = torch.randint(0, 20, (64,))
        loss = (model(scheduler.add_noise(clean, noise, t), t) - noise).pow(2).mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    with torch.no_grad():
        sample = torch.randn(16, 2)
        for t in scheduler.timesteps:
            sample = scheduler.step(model(sample, t.expand(16)), t, sample)
print("mean of samples", sample.mean(0).tolist())
