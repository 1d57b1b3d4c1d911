"""Loops that compute a loss, clear and step, and never differentiate."""

from __future__ import annotations

import pytest

from tests.static.project import Project, certain, programs, said

WRONG = {
    "loop": """\
import torch

net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for x, y in loader:
    optimizer.zero_grad()
    loss = torch.nn.functional.mse_loss(net(x), y)
    print(loss.item())
    optimizer.step()  # <- GL106
""",
    "functions": """\
import torch
from torch import nn


def train(net, loader, optimizer, criterion):
    net.train()
    for x, y in loader:
        optimizer.zero_grad()
        loss = criterion(net(x), y)
        optimizer.step()  # <- GL106


def main(loader):
    net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
    optimizer = torch.optim.Adam(net.parameters())
    for epoch in range(10):
        train(net, loader, optimizer, nn.CrossEntropyLoss())


if __name__ == "__main__":
    main(load())
""",
}

RIGHT = {
    "a schedule is shown": """\
import torch

net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 3)
for epoch in range(10):
    optimizer.zero_grad()
    optimizer.step()
    scheduler.step()
""",
    "the pass is elsewhere": """\
import torch
from engine import differentiate

net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for x, y in loader:
    optimizer.zero_grad()
    loss = torch.nn.functional.mse_loss(net(x), y)
    differentiate(loss)
    optimizer.step()
""",
    "an unseen object holds the model": """\
import torch
from engine import Engine

net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
engine = Engine(net)
for x, y in loader:
    optimizer.zero_grad()
    net(x)
    engine.run(x, y)
    optimizer.step()
""",
    "gradients by hand": """\
import torch

net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for x, y in loader:
    optimizer.zero_grad()
    loss = torch.nn.functional.mse_loss(net(x), y)
    for p, g in zip(net.parameters(), torch.autograd.grad(loss, net.parameters())):
        p.grad = g
    optimizer.step()
""",
    "an optimizer that arrives": """\
import torch


def apply(net, optimizer, x):
    optimizer.zero_grad()
    net(x)
    optimizer.step()
""",
}


@pytest.mark.parametrize("text", programs(WRONG))
def test_step_without_gradient(text: str) -> None:
    assert certain(text) == Project.of(text).marked() != []


@pytest.mark.parametrize("text", programs(RIGHT))
def test_nothing_is_said(text: str) -> None:
    assert said(text) == []
