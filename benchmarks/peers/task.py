"""What is trained: a model, its data, its loss, and how many micro-batches make one update."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset

Epoch = Callable[[], float]
"""Trains one epoch; gives the CPU seconds it took, without what a library sets up before and after it."""


@dataclass(frozen=True)
class Task:
    """A training run that every library is given in the same form."""

    name: str
    model: Callable[[], nn.Module]
    """A model with the same weights each time."""
    data: tuple[Tensor, Tensor]
    batch_size: int
    every: int
    loss: Callable[[Tensor, Tensor], Tensor]
    """The mean loss of a micro-batch."""
    count: Callable[[Tensor], int] = len
    """How many things the loss is the mean of, from the targets."""
    optimizer: Callable[[Iterable[Tensor]], torch.optim.Optimizer] = torch.optim.AdamW
    clip: float | None = None
    fp16: bool = False
    at_hand: bool = False
    """The batches lie in a list, so that no loader hides what a loop costs."""

    def loader(self) -> Any:
        """The micro-batches, in order."""
        loader = DataLoader(TensorDataset(*self.data), batch_size=self.batch_size)
        return list(loader) if self.at_hand else loader

    @property
    def micro_batches(self) -> int:
        """How many an epoch has."""
        return -(-len(self.data[0]) // self.batch_size)


def timed(epoch: Callable[[], None]) -> Epoch:
    """An epoch that has nothing to set up."""

    def run() -> float:
        start = time.process_time()
        epoch()
        return time.process_time() - start

    return run
