"""Small models and data in double precision, and the full batch's update as the oracle."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional as F

Optimizers = Callable[[nn.Module], torch.optim.Optimizer]


def small_model(seed: int = 0) -> nn.Module:
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(3, 5), nn.Tanh(), nn.Linear(5, 1)).double()


def sgd(model: nn.Module) -> torch.optim.Optimizer:
    return torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)


def adamw(model: nn.Module) -> torch.optim.Optimizer:
    return torch.optim.AdamW(model.parameters(), lr=0.05)


def samples(number: int, seed: int = 1) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(number, 3, generator=generator, dtype=torch.float64)
    return x, torch.randn(number, 1, generator=generator, dtype=torch.float64)


def mean_loss(model: nn.Module, x: Tensor, y: Tensor) -> Tensor:
    return F.mse_loss(model(x), y)


def full_batch_step(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    x: Tensor,
    y: Tensor,
    clip: float | None = None,
) -> float:
    """What one update of everything at once does; gives the gradient's norm."""
    optimizer.zero_grad()
    mean_loss(model, x, y).backward()
    norm = torch.nn.utils.clip_grad_norm_(model.parameters(), float("inf") if clip is None else clip)
    optimizer.step()
    return float(norm)


def distance(one: nn.Module, other: nn.Module) -> float:
    """The largest difference between the weights of two models."""
    return max(
        float((p - q).detach().abs().max()) for p, q in zip(one.parameters(), other.parameters(), strict=True)
    )


def same_bits(one: nn.Module, other: nn.Module) -> bool:
    return all(torch.equal(p, q) for p, q in zip(one.parameters(), other.parameters(), strict=True))


def cut(x: Tensor, y: Tensor, sizes: Sequence[int]) -> list[tuple[Tensor, Tensor]]:
    return list(zip(x.split(list(sizes)), y.split(list(sizes)), strict=True))
