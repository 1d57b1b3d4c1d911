"""Between two steps something unseen had the model or all of the object: it may have run a pass."""

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
PLAIN = {
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
