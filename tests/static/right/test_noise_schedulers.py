"""A scheduler that schedules no learning rate may step where it likes."""

from __future__ import annotations

import pytest

from tests.static.project import programs, said

PLAIN = {
    "sampling before training steps": """\
import torch
import torch.nn.functional as F
from diffusers import DDPMScheduler, UNet2DModel

model = UNet2DModel(sample_size=32)
scheduler = DDPMScheduler(num_train_timesteps=1000)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
for epoch in range(10):
    sample = torch.randn(4, 3, 32, 32)
    for t in scheduler.timesteps:
        with torch.no_grad():
            residual = model(sample, t).sample
        sample = scheduler.step(residual, t, sample).prev_sample
    for batch in dataloader:
        noise = torch.randn_like(batch)
        steps = torch.randint(0, 1000, (batch.shape[0],))
        loss = F.mse_loss(model(scheduler.add_noise(batch, noise, steps), steps).sample, noise)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
""",
    "guidance by gradients in a function": """\
import torch
from diffusers import DDIMScheduler


def guided(unet, classifier, latents, labels, optimizer):
    scheduler = DDIMScheduler.from_pretrained("model", subfolder="scheduler")
    scheduler.set_timesteps(50)
    for t in scheduler.timesteps:
        noise_pred = unet(latents, t).sample
        latents = scheduler.step(noise_pred.detach(), t, latents).prev_sample
        loss = torch.nn.functional.cross_entropy(classifier(latents), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return latents
""",
    "method of a class with a noise scheduler": """\
import torch


class DreamTrainer:
    def __init__(self, unet, noise_scheduler, params):
        self.unet = unet
        self.scheduler = noise_scheduler
        self.optimizer = torch.optim.Adam(params, lr=1e-2)

    def train_step(self, latents, t, noise):
        with torch.no_grad():
            noise_pred = self.unet(latents, t)
            pred = self.scheduler.step(noise_pred, t, latents)["pred_original_sample"]
        loss = ((latents - pred.detach()) ** 2).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
""",
    "noise scheduler in an accumulation window": """\
import torch
from diffusers import DDPMScheduler

noise_scheduler = DDPMScheduler(1000)
optimizer = torch.optim.AdamW(unet.parameters(), lr=1e-5)
n = 4
for i, batch in enumerate(dataloader):
    step = noise_scheduler.step(unet(batch).detach(), 10, batch)
    loss = torch.nn.functional.mse_loss(unet(step.prev_sample), batch) / n
    loss.backward()
    if (i + 1) % n == 0 or i + 1 == len(dataloader):
        optimizer.step()
        optimizer.zero_grad()
""",
    "a temperature schedule of one's own": """\
import torch


class TemperatureScheduler:
    def __init__(self, start, end, steps):
        self.value, self.end, self.rate = start, end, (end / start) ** (1 / steps)

    def step(self):
        self.value = max(self.end, self.value * self.rate)
        return self.value


model = torch.nn.Linear(4, 4)
optimizer = torch.optim.Adam(model.parameters())
scheduler = TemperatureScheduler(5.0, 0.5, 1000)
for x, y in loader:
    temperature = scheduler.step()
    loss = torch.nn.functional.cross_entropy(model(x) / temperature, y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
""",
    "kl annealing per micro-batch": """\
import torch


def train(vae, loader, beta_scheduler, accumulation=4):
    opt = torch.optim.Adam(vae.parameters())
    opt.zero_grad()
    for i, x in enumerate(loader):
        beta = beta_scheduler.step()
        recon, kl = vae(x)
        loss = (recon.mean() + beta * kl.mean()) / accumulation
        loss.backward()
        if (i + 1) % accumulation == 0 or (i + 1) == len(loader):
            opt.step()
            opt.zero_grad()
""",
    "profiler step": """\
import torch
from torch.profiler import profile, schedule

model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
with profile(schedule=schedule(wait=1, warmup=1, active=3)) as prof:
    for x, y in loader:
        prof.step()
        loss = torch.nn.functional.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
""",
}


@pytest.mark.parametrize("text", programs(PLAIN))
def test_nothing_is_said(text: str) -> None:
    assert said(text) == []
