"""BUG: the last epoch runs in full precision without scaling its loss, and the scaler still divides those gradients."""
import torch
import torch.nn.functional as F
from torch import nn


class Siren(nn.Module):
    def __init__(self, width=32, w0=10.0):
        super().__init__()
        self.w0 = w0
        self.first = nn.Linear(2, width)
        self.second = nn.Linear(width, width)
        self.rgb = nn.Linear(width, 3)

    def forward(self, xy):
        h = torch.sin(self.w0 * self.first(xy))
        return self.rgb(torch.sin(self.second(h)))


def image(n):
    axis = torch.linspace(-1, 1, n)
    xy = torch.cartesian_prod(axis, axis)
    rgb = torch.stack([xy[:, 0].abs(), xy[:, 1].abs(), (3 * xy.prod(1)).sin()], 1)
    return xy, rgb


def fit(field, xy, rgb, epochs):
    opt = torch.optim.Adam(field.parameters(), lr=1e-3)
    scaler = torch.amp.GradScaler("cpu", init_scale=2048.0)
    for epoch in range(epochs):
        polish = epoch == epochs - 1
        for idx in torch.randperm(len(xy)).chunk(6):
            opt.zero_grad()
            if polish:
                loss = F.mse_loss(field(xy[idx]), rgb[idx])
                loss.backward()
            else:
                with torch.autocast("cpu", dtype=torch.bfloat16):
                    loss = F.mse_loss(field(xy[idx]), rgb[idx])
                scaler.scale(loss).backward()
            scaler.step(opt)  # expect: GL305
            scaler.update()
        print(f"epoch {epoch} psnr {-10 * torch.log10(loss.detach()).item():.2f}")


torch.manual_seed(505)
fit(Siren(), *image(18), epochs=3)
