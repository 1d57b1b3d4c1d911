"""Batches cut into pieces of different size whose means are averaged as equals."""

from __future__ import annotations

import pytest

from tests.static.project import Project, certain, programs, said

_HEAD = """\
import torch
import torch.nn.functional as F

net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
"""

WRONG = {
    "split into given sizes": _HEAD
    + """\
for x, y in loader:
    optimizer.zero_grad()
    for xs, ys in zip(x.split([4, 12]), y.split([4, 12])):
        loss = F.mse_loss(net(xs), ys) / 2
        loss.backward()  # <- GL203
    optimizer.step()
""",
    "a short last piece in every window": _HEAD
    + """\
x, y = torch.randn(10, 4), torch.randn(10, 1)
for epoch in range(100):
    optimizer.zero_grad()
    for xs, ys in zip(x.split(4), y.split(4)):
        ((net(xs) - ys).pow(2).mean() / 3).backward()  # <- GL203
    optimizer.step()
""",
}

RIGHT = {
    "weighted by size": _HEAD
    + """\
x, y = torch.randn(10, 4), torch.randn(10, 1)
for epoch in range(100):
    optimizer.zero_grad()
    for xs, ys in zip(x.split(4), y.split(4)):
        loss = F.mse_loss(net(xs), ys) * len(xs) / len(x)
        loss.backward()
    optimizer.step()
""",
    "summed": _HEAD
    + """\
for x, y in loader:
    optimizer.zero_grad()
    for xs, ys in zip(x.split([4, 12]), y.split([4, 12])):
        loss = F.mse_loss(net(xs), ys, reduction="sum") / 16
        loss.backward()
    optimizer.step()
""",
    "equal pieces": _HEAD
    + """\
for x, y in loader:
    optimizer.zero_grad()
    for i in range(0, 16, 4):
        (F.mse_loss(net(x[i : i + 4]), y[i : i + 4]) / 4).backward()
    optimizer.step()
""",
    "one update a piece": _HEAD
    + """\
x, y = torch.randn(10, 4), torch.randn(10, 1)
for epoch in range(100):
    for xs, ys in zip(x.split(4), y.split(4)):
        optimizer.zero_grad()
        F.mse_loss(net(xs), ys).backward()
        optimizer.step()
""",
}


@pytest.mark.parametrize("text", programs(WRONG))
def test_unequal_weights(text: str) -> None:
    assert certain(text) == Project.of(text).marked() != []


@pytest.mark.parametrize("text", programs(RIGHT))
def test_nothing_is_said(text: str) -> None:
    assert said(text) == []
