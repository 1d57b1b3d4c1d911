"""Lists of optimizers that are not built in sight: each turn steps another one."""

from __future__ import annotations

import pytest

from tests.static.project import certain, programs

_TRAIN = """\
import torch


def train(losses, optimizers):
    for loss in losses:
        {zero}
        loss.backward()
        {step}
"""
_LISTS = {
    "loops": ("for x in optimizers: x.zero_grad()", "for x in optimizers: x.step()"),
    "comprehensions": ("[x.zero_grad() for x in optimizers]", "[x.step() for x in optimizers]"),
    "with their schedules": (
        "for x in optimizers: x.zero_grad()",
        "for x, schedule in zip(optimizers, plans): x.step(); schedule.step()",
    ),
    "numbered": (
        "for i, x in enumerate(optimizers): x.zero_grad()",
        "for i, x in enumerate(optimizers): x.step()",
    ),
}
PLAIN = {name: _TRAIN.format(zero=zero, step=step) for name, (zero, step) in _LISTS.items()}
PLAIN["made elsewhere"] = """\
import torch
from elsewhere import make

made = make()
for loss in losses:
    [x.zero_grad() for x in made]
    loss.backward()
    [x.step() for x in made]
"""
PLAIN["two things given by name alone"] = """\
import torch


def train(*, optimizer: torch.optim.Optimizer, preconditioner, losses):
    for loss in losses:
        optimizer.zero_grad()
        loss.backward()
        if preconditioner is not None:
            preconditioner.step()
        optimizer.step()
"""


@pytest.mark.parametrize("text", programs(PLAIN))
def test_nothing_certain_is_said(text: str) -> None:
    assert certain(text) == []


def test_the_same_optimizer_twice_is_still_found() -> None:
    text = PLAIN["two things given by name alone"].replace("preconditioner.step()", "optimizer.step()")
    assert [place[0] for place in certain(text)] == ["GL105"]
