"""Lets the critic's optimizer step after the generator's pass."""

import torch
from torch import nn


def decide():
    """Only the generator's loss is differentiated; then the critic steps."""
    torch.manual_seed(0)
    generator, critic = nn.Linear(2, 2), nn.Linear(2, 1)
    optimizer = torch.optim.SGD(critic.parameters(), lr=0.1)  # the critic's
    before = critic.weight.detach().clone()
    (-critic(generator(torch.randn(16, 2))).mean()).backward()
    grad = critic.weight.grad
    left = 0.0 if grad is None else grad.norm().item()
    print(f"norm of the critic's gradient after the generator's pass: {left:.3f}")
    optimizer.step()
    moved = (critic.weight - before).norm().item()
    print(f"the critic's step, without a loss of its own: {moved:.4f}")
    return {"holds": moved == 0.0, "left": left, "moved": moved}
