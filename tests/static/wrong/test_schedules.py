"""A schedule is planned in updates or in micro-batches; numbers in the text tell which."""

from __future__ import annotations

import pytest

from tests.static.project import Project, certain, programs, said

_LOOP = """\
import torch
from torch.optim import lr_scheduler
from torch.utils.data import DataLoader, TensorDataset

loader = DataLoader(TensorDataset(torch.randn(96, 4), torch.randn(96, 1)), batch_size=8)
model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
schedule = {schedule}
for epoch in range(3):
    for i, (x, y) in enumerate(loader):
        (torch.nn.functional.mse_loss(model(x), y) / 4).backward()
        if (i + 1) % 4 == 0:
            optimizer.step()
            optimizer.zero_grad()
        schedule.step(){mark}
"""

UPDATES = {
    "cosine": "lr_scheduler.CosineAnnealingLR(optimizer, T_max=9)",
    "linear": "lr_scheduler.LinearLR(optimizer, 1.0, 0.1, total_iters=9)",
    "polynomial": "lr_scheduler.PolynomialLR(optimizer, total_iters=9)",
}

MICRO_BATCHES = {
    "cosine": "lr_scheduler.CosineAnnealingLR(optimizer, T_max=36)",
    "linear": "lr_scheduler.LinearLR(optimizer, 1.0, 0.1, total_iters=36)",
    "by the loader's length": "lr_scheduler.LinearLR(optimizer, 1.0, 0.1, total_iters=3 * len(loader))",
    "one cycle": "lr_scheduler.OneCycleLR(optimizer, 0.1, total_steps=36)",
}


@pytest.mark.parametrize("schedule", programs(UPDATES))
def test_planned_in_updates_and_advanced_by_micro_batches(schedule: str) -> None:
    text = _LOOP.format(schedule=schedule, mark="  # <- GL205")
    assert certain(text) == Project.of(text).marked() != []


@pytest.mark.parametrize("schedule", programs(MICRO_BATCHES))
def test_planned_in_micro_batches(schedule: str) -> None:
    assert said(_LOOP.format(schedule=schedule, mark="")) == []
