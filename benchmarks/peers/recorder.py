"""Which gradient an optimizer is given, against that of the full batch in double precision."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from peers.task import Task

Gradients = list[Tensor]


class Recorder(torch.optim.SGD):
    """Keeps the gradients of each step and leaves the parameters as they are."""

    def __init__(self, parameters: Iterable[Tensor], seen: list[Gradients]) -> None:
        super().__init__(parameters, lr=0.0)
        self.seen = seen

    def step(self, closure: Callable[[], Any] | None = None) -> Any:  # type: ignore[override]
        """Lightning computes the gradients within the step, by the closure."""
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        held = [p for group in self.param_groups for p in group["params"]]
        self.seen.append([torch.zeros_like(p) if p.grad is None else p.grad.clone() for p in held])
        return loss


def full_batch(task: Task, start: int, stop: int) -> Gradients:
    """What torch computes from these samples at once, in float64."""
    model = task.model().double()
    x, y = (part[start:stop] for part in task.data)
    x, y = (part.double() if part.is_floating_point() else part for part in (x, y))
    task.loss(model(x), y).backward()
    return [p.grad if p.grad is not None else torch.zeros_like(p) for p in model.parameters()]


def flat(gradients: Sequence[Tensor]) -> Tensor:
    """All values in a row."""
    return torch.cat([g.detach().double().flatten() for g in gradients])


def deviation(given: Sequence[Tensor], right: Sequence[Tensor]) -> tuple[float, float | None]:
    """The largest error relative to the largest value; and the factor, if it is wrong by nothing else."""
    mine, true = flat(given), flat(right)
    error = float((mine - true).abs().max() / true.abs().max())
    factor = float(mine @ true / (true @ true))
    only = float((mine - factor * true).abs().max() / true.abs().max()) < 1e-5 * max(1.0, abs(factor))
    return error, factor if only and error > 1e-3 else None


def told(found: tuple[float, float | None] | None) -> str:
    """As a cell of a table."""
    if found is None:
        return "never stepped"
    error, factor = found
    number = f"{error:.0e}".replace("e-0", "e-") if error < 1e-3 else f"{error:.2f}"
    return number if factor is None else f"{number} ({factor:.2f}x)"


class Words(nn.Module):
    """A model of sequences: what comes next depends on the word and the mean of those before."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(17, 16)
        self.mix = nn.Linear(16, 16)
        self.out = nn.Linear(16, 17)

    def forward(self, ids: Tensor) -> Tensor:
        here = self.embed(ids)
        before = here.cumsum(1) / torch.arange(1, ids.shape[1] + 1, dtype=here.dtype)[:, None]
        return self.out(torch.tanh(here + self.mix(before)))
