"""Right code in which attributes are handed on, gradients are summed up and weights moved by the program."""

from __future__ import annotations

import textwrap

import pytest

from gradledger.checking.program import check_program
from gradledger.rules.finding import Certainty

HEAD = """\
import torch
from torch import nn, optim
from data import loader
"""

NOAM = """\
class Noam:
    def __init__(self, inner):
        self.inner = inner
        self.count = 0

    def step(self):
        self.count += 1
        for group in self.inner.param_groups:
            group["lr"] = self.count ** -0.5
        self.inner.step()

    def __getattr__(self, name):
        return getattr(self.inner, name)


model = nn.Linear(4, 2)
optimizer = Noam(optim.Adam(model.parameters()))
for x, y in loader:
    {clear}
    nn.functional.mse_loss(model(x), y).backward()
    optimizer.step()
"""

FACTORY = """\
from torchvision import models

made = models.resnet18()


def create(name):
    if name == "resnet":
        return made


def main(name):
    model = create(name)
    optimizer = optim.SGD(model.parameters(), lr=0.1)
    for x, y in loader:
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
        model.zero_grad()


import sys
main(sys.argv[1])
"""

SUMMED = """\
class Summing(optim.Optimizer):
    def __init__(self, params):
        super().__init__(params, {})
        self.sums = [torch.zeros_like(p) for p in self.param_groups[0]["params"]]

    def collect(self):
        for total, p in zip(self.sums, self.param_groups[0]["params"]):
            total.add_(p.grad)

    def step(self):
        with torch.no_grad():
            for total, p in zip(self.sums, self.param_groups[0]["params"]):
                p.add_(total, alpha=-0.1)
                total.zero_()


def train(x, y, n=10):
    net = nn.Linear(4, 1)
    optimizer = Summing(net.parameters())
    for epoch in range(5):
        for _ in range(n):
            optimizer.zero_grad()
            nn.functional.mse_loss(net(x), y).backward()
            optimizer.collect()
        optimizer.step()
"""

LEARNED = """\
model = nn.Linear(2, 1)
rule = nn.GRU(2, 1)
optimizer = optim.SGD(model.parameters(), lr=0.01)
for x, y in loader:
    optimizer.zero_grad()
    nn.functional.mse_loss(model(x), y).backward()
    changes, _ = rule(torch.cat([p.grad.view(-1, 1) for p in model.parameters()]))
    with torch.no_grad():
        for p, change in zip(model.parameters(), changes):
            p -= 0.01 * change
"""

NAMED = """\
def moved(batch):
    return {key: value.to("cpu") for key, value in batch.items()}


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 2)

    def forward(self, x, labels=None):
        logits, loss = self.fc(x), None
        if labels is not None:
            loss = nn.functional.cross_entropy(logits, labels)
        return loss, logits


def flow(named):
    return [p.grad.abs().mean() for name, p in named if p.requires_grad]


class Trainer:
    def __init__(self, model):
        self.model = model
        self.optimizer = optim.Adam(self.model.parameters())

    def train(self):
        for batch in loader:
            loss, _ = self.model(**moved(batch))
            loss.backward()
            flow(self.model.named_parameters())
            self.optimizer.step()
            self.optimizer.zero_grad()


Trainer(Net()).train()
"""

JUDGED = """\
class Pair(nn.Module):
    def __init__(self):
        super().__init__()
        self.gen, self.disc = nn.Linear(4, 4), nn.Linear(4, 1)

    def fool(self, fake):
        return self.disc(fake).mean()

    def judge(self, real, fake):
        return self.disc(fake.detach()).mean() - self.disc(real).mean(), 0


pair = Pair()
opt_g = optim.Adam(pair.gen.parameters())
opt_d = optim.Adam(pair.disc.parameters())
for z, real in loader:
    fake = pair.gen(z)
    pair.fool(fake).backward()
    opt_g.step()
    opt_g.zero_grad()
    opt_d.zero_grad()
    loss, _ = pair.judge(real, fake)
    loss.backward()
    opt_d.step()
"""

DETACHED = """\
encoder, judge = nn.Linear(8, 4), nn.Linear(4, 1)
opt_judge = optim.Adam(judge.parameters())
opt_encoder = optim.Adam(encoder.parameters())
for x, y in loader:
    opt_judge.zero_grad()
    nn.functional.mse_loss(judge(encoder(x).detach()), y).backward()
    opt_judge.step()
    opt_encoder.zero_grad()
    nn.functional.mse_loss(judge(encoder(x).detach()), 1 - y).backward()
    opt_encoder.step()
"""


def certain(text: str) -> list[str]:
    """The codes that are certain in this program."""
    found = check_program(HEAD + textwrap.dedent(text), "program.py").findings
    return [finding.code for finding in found if finding.certainty is Certainty.CERTAIN]


PLAIN = {
    "attributes are handed on": NOAM.replace("{clear}", "optimizer.zero_grad()"),
    "a factory that may give nothing": FACTORY,
    "an optimizer that sums up itself": SUMMED,
    "weights moved by a learned rule": LEARNED,
    "arguments under unknown names": NAMED,
    "a method that cuts an argument off": JUDGED,
}


@pytest.mark.parametrize("name", PLAIN)
def test_silent(name: str) -> None:
    assert certain(PLAIN[name]) == []


def test_a_wrapper_that_hands_on_and_is_never_cleared() -> None:
    assert certain(NOAM.replace("{clear}", "pass")) == ["GL101"]


def test_a_step_that_finds_nothing_is_the_one_mistake() -> None:
    assert certain(DETACHED) == ["GL106"]
