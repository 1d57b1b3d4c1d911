"""Looks at the critic's gradient after the generator's pass."""

import torch
from torch import nn


def decide():
    """The generator's loss goes through the critic; look at the critic."""
    torch.manual_seed(0)
    generator, critic = nn.Linear(2, 2), nn.Linear(2, 1)
    (-critic(generator(torch.randn(16, 2))).mean()).backward()
    grad = critic.weight.grad
    left = 0.0 if grad is None else grad.norm().item()
    print(f"norm of the critic's gradient after the generator's pass: {left:.3f}")
    return {"holds": left == 0.0, "left": left}
