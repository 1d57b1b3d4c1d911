"""Something unseen had the model or all of the object in the loop: it may run passes, clear or freeze."""

from __future__ import annotations

import pytest

from tests.static.project import Project, certain, programs

_HEAD = """\
import torch
from torch import nn
import torch.nn.functional as F
import library

model = nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
"""
_TWICE = """\
{made}
for x, y in loader:
    optimizer.zero_grad()
    loss = F.mse_loss({called}(x), y)
    loss.backward()
    optimizer.step()
    {between}
    optimizer.step()
"""
_TRAINER = """\
import torch
from torch import nn
import library


class Trainer(library.Trainer):
    def run(self, loader):
        scaler = torch.amp.GradScaler()
        for x, y in loader:
            self.optimizer.zero_grad()
            scaler.scale(self.loss(x, y)).backward()
            {between}
            nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
            scaler.step(self.optimizer)
            scaler.update()


Trainer().run(library.loader())
"""
_AGENT = """\
import torch
import library


class Agent({base}):
    def __init__(self, model):
        self.model = model
        self.optimizer = torch.optim.Adam(model.parameters())

    def update(self, batch):
        self.optimizer.zero_grad()
        self.model(batch).mean().backward()
        self.optimizer.step()
        {between}
        self.optimizer.step(){mark}


Agent(torch.nn.Linear(3, 1)).update(torch.ones(3))
"""
_KEPT = """\
{made}
for x, y in loader:
    loss = F.mse_loss(model(x), y)
    loss.backward()
    optimizer.step(){mark}
    {after}
"""
_GAN = """\
import torch
from torch import nn
import library

first, second = nn.Linear(3, 3), nn.Linear(3, 1)
first_optimizer = torch.optim.Adam(first.parameters())
second_optimizer = torch.optim.Adam(second.parameters())
{made}
for x in loader:
    {before}
    first_optimizer.zero_grad()
    {score}(first(x)).mean().backward()
    first_optimizer.step()
    {between}
    {judge}(x, first(x).detach()).mean().backward()
    second_optimizer.step()
    second_optimizer.zero_grad()
"""
_OWNER = """\
import torch
from torch import nn
import torch.nn.functional as F
import library


class Trainer({base}):
    def __init__(self):
        self.one, self.two = nn.Linear(3, 1), nn.Linear(3, 1)
        self.first = torch.optim.Adam(self.one.parameters())
        self.second = torch.optim.Adam(self.two.parameters()){mark}

    def update(self, x, y):
        self.first.zero_grad()
        self.second.zero_grad()
        F.mse_loss(self.one(x) + self.two(x), y).backward()
        self.first.step()


trainer = Trainer()
for x, y in loader:
    trainer.update(x, y)
"""
PLAIN = {
    "a call that is made for what it does to the model": _HEAD
    + _KEPT.format(made="", mark="", after="library.housekeeping(model)"),
    "a call that is given the model by name": _HEAD
    + _KEPT.format(made="", mark="", after="library.housekeeping(net=model)"),
    "a call that may freeze a model": _GAN.format(
        made="",
        before="library.freeze(second)",
        score="second",
        between="library.thaw(second)",
        judge="(lambda real, fake: second(real) - second(fake))",
    ),
    "a loss that holds a model": _GAN.format(
        made="loss = library.AdversarialLoss(second)",
        before="second_optimizer.zero_grad()",
        score="loss.generator",
        between="second_optimizer.zero_grad()",
        judge="loss.discriminator",
    ),
    "an optimizer that an unseen base class has": _OWNER.format(base="library.Trainer", mark=""),
    "a function that is given the model": _HEAD
    + _TWICE.format(made="", called="model", between="library.perturb(model)"),
    "a function that is given it in a list": _HEAD
    + _TWICE.format(made="", called="model", between="library.second_pass([model], x, y)"),
    "an engine that holds the model": _HEAD
    + _TWICE.format(made="engine = library.Engine(model)", called="engine", between="engine.explore(x, y)"),
    "an engine that holds it beside the passes": _HEAD
    + _TWICE.format(made="engine = library.Engine(model)", called="model", between="engine.explore(x, y)"),
    "a method of an unseen base class": _AGENT.format(
        base="library.Agent", between="self.explore()", mark=""
    ),
    "an unseen base class's method before the clip": _TRAINER.format(between="self.before_clip()"),
}
MEANT = {
    "a call that is made before the loop": _HEAD
    + _KEPT.format(made="library.housekeeping(model)", mark="", after="pass").replace(
        "    loss.backward()", "    loss.backward()  # <- GL101"
    ),
    "a call whose result is shown": _HEAD
    + _KEPT.format(made="", mark="", after="print(library.accuracy(model, x, y))").replace(
        "    loss.backward()", "    loss.backward()  # <- GL101"
    ),
    "a call that saves the model": _HEAD
    + _KEPT.format(made="", mark="", after="library.save_checkpoint(model)").replace(
        "    loss.backward()", "    loss.backward()  # <- GL101"
    ),
    "an optimizer of a class in sight": _OWNER.format(base="object", mark="  # <- GL404"),
    "nothing in between": _HEAD
    + _TWICE.format(made="", called="model", between="pass").replace(
        "    pass\n    optimizer.step()", "    pass\n    optimizer.step()  # <- GL105"
    ),
    "a function that is given the loss's number": _HEAD
    + _TWICE.format(made="", called="model", between="library.note(loss.item())").replace(
        "item())\n    optimizer.step()", "item())\n    optimizer.step()  # <- GL105"
    ),
    "a model that was given away before": _HEAD
    + _TWICE.format(made="library.initialise(model)", called="model", between="pass").replace(
        "    pass\n    optimizer.step()", "    pass\n    optimizer.step()  # <- GL105"
    ),
    "a method in sight": _AGENT.format(base="object", between="print(batch)", mark="  # <- GL105"),
}


@pytest.mark.parametrize("text", programs(PLAIN))
def test_nothing_certain_is_said(text: str) -> None:
    assert certain(text) == []


@pytest.mark.parametrize("text", programs(MEANT))
def test_what_is_in_sight_stays_certain(text: str) -> None:
    assert certain(text) == Project.of(text).marked()
