"""OK: the AMP arm and the fp32 arm repeat the same condition; in each run only one kind of step is taken."""
import contextlib

import torch
from torch import nn


def train(use_amp, epochs=2, clip=1.0):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(5, 20), nn.ReLU(), nn.Linear(20, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    scaler = torch.amp.GradScaler("cpu", init_scale=256.0) if use_amp else None
    for epoch in range(epochs):
        for x in torch.randn(10, 16, 5):
            optimizer.zero_grad()
            with torch.autocast("cpu", dtype=torch.bfloat16) if use_amp else contextlib.nullcontext():
                loss = nn.functional.mse_loss(model(x), x.abs().mean(1, keepdim=True))
            if use_amp:
                scaler.scale(loss).backward()
                scaler.unscale_(optimizer)
            else:
                loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), clip)
            if scaler is not None:
                scaler.step(optimizer)
                scaler.update()
            else:
                optimizer.step()
    return loss.item()


print("fp32", train(False), "amp", train(True))
