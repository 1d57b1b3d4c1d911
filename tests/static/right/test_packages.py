"""Imports are followed by path through a project, and what lies out of sight is not judged."""

from __future__ import annotations

import pytest

from gradledger.rules.finding import Certainty
from tests.static.project import Project, places, programs, said

PLAIN = {
    "helper module that clears": """\
# file: train.py
import torch
from updates import begin

model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in loader:
    begin(optimizer)
    torch.nn.functional.mse_loss(model(x), y).backward()
    optimizer.step()
# file: updates.py
def begin(optimizer):
    optimizer.zero_grad(set_to_none=True)
""",
    "module imported whole": """\
# file: train.py
import torch
import updates as u

model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in loader:
    torch.nn.functional.mse_loss(model(x), y).backward()
    optimizer.step()
    u.finish(model)
# file: updates.py
def finish(module):
    module.zero_grad()
""",
    "dotted import": """\
# file: train.py
import torch
import tools.updates

model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in loader:
    torch.nn.functional.mse_loss(model(x), y).backward()
    tools.updates.finish(optimizer)
# file: tools/__init__.py
# file: tools/updates.py
def finish(optimizer):
    optimizer.step()
    optimizer.zero_grad()
""",
    "base class in another module": """\
# file: project/classifier.py
import torch
from project.base import BaseTrainer


class Trainer(BaseTrainer):
    def compute_loss(self, batch):
        x, y = batch
        return torch.nn.functional.cross_entropy(self.model(x), y)

    def backward(self, loss):
        loss.backward()


Trainer(torch.nn.Linear(4, 2)).fit(loader)
# file: project/__init__.py
# file: project/base.py
import torch


class BaseTrainer:
    def __init__(self, model):
        self.model = model
        self.optimizer = torch.optim.Adam(model.parameters())

    def fit(self, loader):
        for batch in loader:
            self.optimizer.zero_grad()
            self.backward(self.compute_loss(batch))
            self.optimizer.step()
""",
    "relative imports": """\
# file: pkg/training/loop.py
import torch

from . import schedule
from .steps import apply as apply_update
from ..models.net import build


def main(loader):
    model = build()
    optimizer = schedule.make_optimizer(model)
    for x, y in loader:
        torch.nn.functional.mse_loss(model(x), y).backward()
        apply_update(optimizer)
# file: pkg/__init__.py
# file: pkg/training/__init__.py
# file: pkg/training/steps.py
def apply(optimizer):
    optimizer.step()
    optimizer.zero_grad()
# file: pkg/training/schedule.py
import torch


def make_optimizer(model):
    return torch.optim.SGD(model.parameters(), lr=0.1)
# file: pkg/models/__init__.py
# file: pkg/models/net.py
from torch import nn


def build():
    return nn.Linear(4, 1)
""",
    "star import": """\
# file: train.py
from setup_everything import *

for x, y in loader:
    reset()
    F.mse_loss(model(x), y).backward()
    optimizer.step()
# file: setup_everything.py
import torch
import torch.nn.functional as F

model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


def reset():
    optimizer.zero_grad()
""",
    "names handed on by a package": """\
# file: train.py
import torch
from lib import Updater

model = torch.nn.Linear(4, 1)
updater = Updater(model)
for x, y in loader:
    updater(torch.nn.functional.mse_loss(model(x), y))  # calls backward
# file: lib/__init__.py
from .updater import Updater

__all__ = ["Updater"]
# file: lib/updater.py
import torch


class Updater:
    def __init__(self, model):
        self.optimizer = torch.optim.Adam(model.parameters())

    def __call__(self, loss):
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
""",
    "imports in a circle": """\
# file: a.py
import torch
import b


def clear(optimizer):
    optimizer.zero_grad()


def main(model, loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in loader:
        loss = torch.nn.functional.mse_loss(model(x), y)
        b.update(optimizer, loss)  # backward and step
# file: b.py
import a
from a import clear as begin


def update(optimizer, loss):
    a.clear(optimizer)
    loss.backward()
    optimizer.step()
""",
    "import inside a function": """\
# file: train.py
import torch


def main(model, loader):
    from updates import finish

    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in loader:
        torch.nn.functional.mse_loss(model(x), y).backward()
        finish(optimizer)
# file: updates.py
def finish(optimizer):
    optimizer.step()
    optimizer.zero_grad()
""",
    "tried import": """\
# file: train.py
import torch

try:
    from .updates import finish
except ImportError:
    from updates import finish

model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in loader:
    torch.nn.functional.mse_loss(model(x), y).backward()
    finish(optimizer)
# file: updates.py
def finish(optimizer):
    optimizer.step()
    optimizer.zero_grad()
""",
    "module that cannot be read": """\
# file: train.py
import torch
from broken import finish

model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in loader:
    torch.nn.functional.mse_loss(model(x), y).backward()
    finish(optimizer)
# file: broken.py
def finish(optimizer:
    print "python 2"
""",
    "module that is not there": """\
# file: train.py
import torch
from nowhere import finish

model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in loader:
    torch.nn.functional.mse_loss(model(x), y).backward()
    finish(optimizer)
""",
}


@pytest.mark.parametrize("text", programs(PLAIN))
def test_a_right_project_is_left_in_peace(text: str) -> None:
    assert said(text) == []


@pytest.mark.parametrize("text", programs(PLAIN))
def test_every_file_of_a_right_project_is_clean_by_itself(text: str) -> None:
    project = Project.of(text)
    for path, content in project.files.items():
        if "python 2" not in content:
            assert places(project.judged(path), Certainty.CERTAIN) == []


@pytest.mark.parametrize("text", programs(PLAIN))
def test_without_the_other_files_nothing_is_certain(text: str) -> None:
    main, content = next(iter(Project.of(text).files.items()))
    assert places(Project({main: content}).judged(), Certainty.CERTAIN) == []


def test_a_module_is_asked_for_with_its_importer_and_level() -> None:
    project = Project.of(PLAIN["relative imports"])
    project.judged()
    asked = set(project.asked)
    assert ("steps", "pkg/training/loop.py", 1) in asked
    assert ("models.net", "pkg/training/loop.py", 2) in asked
    assert {importer for _, importer, _ in asked} <= set(project.files)


def test_torch_itself_is_never_asked_for() -> None:
    for text in PLAIN.values():
        project = Project.of(text)
        project.judged()
        assert not [name for name, _, _ in project.asked if name.split(".")[0] == "torch"]
