"""OK: update() only differentiates and steps an optimizer it is handed; its only caller clears first, through another function."""
import torch
from torch import nn


def update(loss, optimizer, clip=None):
    loss.backward()
    if clip is not None:
        for group in optimizer.param_groups:
            nn.utils.clip_grad_norm_(group["params"], clip)
    optimizer.step()


def begin(*optimizers):
    for optimizer in optimizers:
        optimizer.zero_grad()


def experiment():
    torch.manual_seed(0)
    nets = {name: nn.Linear(4, 1) for name in ("mean", "spread")}
    opts = {name: torch.optim.Adam(net.parameters(), lr=2e-2) for name, net in nets.items()}
    for x in torch.randn(40, 16, 4):
        begin(*opts.values())
        mean, log_spread = nets["mean"](x), nets["spread"](x)
        residual = x.sum(1, keepdim=True) - mean
        update(residual.pow(2).mean(), opts["mean"], clip=1.0)
        update((residual.detach().abs().add(1e-3).log() - log_spread).pow(2).mean(), opts["spread"])
    return residual.abs().mean().item()


print("residual", experiment())
