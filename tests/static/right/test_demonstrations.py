"""Passes that only show something: a tutorial differentiates, looks, clears, and trains afterwards."""

from __future__ import annotations

import pytest

from tests.static.project import programs, said

PLAIN = {
    "the neural networks tutorial": """\
import torch
import torch.nn as nn
import torch.optim as optim

net = nn.Linear(10, 10)
input = torch.randn(1, 10)
out = net(input)
net.zero_grad()
out.backward(torch.randn(1, 10))

criterion = nn.MSELoss()
loss = criterion(net(input), torch.randn(1, 10))
net.zero_grad()
print('before', net.bias.grad)
loss.backward()
print('after', net.bias.grad)

optimizer = optim.SGD(net.parameters(), lr=0.01)
optimizer.zero_grad()
loss = criterion(net(input), torch.randn(1, 10))
loss.backward()
optimizer.step()
""",
    "a check before the training": """\
import torch

model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model(torch.randn(2, 4)).sum().backward()
model.zero_grad()
for epoch in range(3):
    for x, y in loader:
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()
""",
    "warm-up of the allocator": """\
import torch


def train(model, loader, largest):
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    model(largest).mean().backward()
    optimizer.zero_grad()
    for x, y in loader:
        loss = torch.nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
""",
}


@pytest.mark.parametrize("text", programs(PLAIN))
def test_nothing_is_said(text: str) -> None:
    assert said(text) == []
