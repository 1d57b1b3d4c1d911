"""gradledger.Accumulator owns the cycle: there is no step and no clearing in sight, and none is missing."""

from __future__ import annotations

import pytest

from tests.static.project import programs, said

PLAIN = {
    "module level": """\
import gradledger
import torch

model = torch.nn.Linear(8, 1)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
acc = gradledger.Accumulator(model, optimizer, every=4, clip_norm=1.0)
total = 0.0
for epoch in range(3):
    for x, y in acc.batches(loader):
        loss = torch.nn.functional.mse_loss(model(x), y)
        update = acc.backward(loss, count=len(x))
        if update:
            total += update.loss
""",
    "a loop of its own": """\
import torch
from gradledger import Accumulator


def train(model, loader, epochs):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 10)
    with Accumulator(model, optimizer, every=8, scheduler=scheduler) as acc:
        for epoch in range(epochs):
            for i, (x, y) in enumerate(loader):
                loss = torch.nn.functional.cross_entropy(model(x), y)
                acc.backward(loss, count=len(x), last=i + 1 == len(loader))
""",
    "a trainer with two": """\
import gradledger as gl
import torch


class Trainer:
    def __init__(self, generator, critic):
        self.generator, self.critic = generator, critic
        self.of_generator = gl.Accumulator(generator, torch.optim.Adam(generator.parameters()), every=2)
        self.of_critic = gl.Accumulator(critic, torch.optim.Adam(critic.parameters()), every=2)

    def step(self, real, noise):
        fake = self.generator(noise)
        self.of_critic.backward(self.critic(fake.detach()).mean() - self.critic(real).mean(), count=len(real))
        self.of_generator.backward(-self.critic(fake).mean(), count=len(real))

    def fit(self, loader):
        for epoch in range(10):
            for real in loader:
                self.step(real, torch.randn(len(real), 16))
            self.of_critic.flush()
            self.of_generator.flush()
""",
}


@pytest.mark.parametrize("program", programs(PLAIN))
def test_nothing_is_said(program) -> None:
    assert said(program) == []
