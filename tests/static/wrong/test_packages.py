"""A finding names the file in which its line stands, wherever in a project that is."""

from __future__ import annotations

import pytest

from tests.static.project import Project, certain, programs

WRONG = {
    "cleared by a helper": """\
# file: train.py
import torch
from updates import apply

model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in loader:
    torch.nn.functional.mse_loss(model(x), y).backward()
    apply(optimizer)
# file: updates.py
import torch


def apply(optimizer):
    optimizer.zero_grad()  # <- GL102
    optimizer.step()
""",
    "stale in a base class": """\
# file: project/classifier.py
import torch
from project.base import BaseTrainer


class Trainer(BaseTrainer):
    def loss(self, x, y):  # the base class calls backward
        return torch.nn.functional.cross_entropy(self.model(x), y)


Trainer(torch.nn.Linear(4, 2)).fit(loader)
# file: project/__init__.py
# file: project/base.py
import torch


class BaseTrainer:
    def __init__(self, model):
        self.model = model
        self.optimizer = torch.optim.Adam(model.parameters())

    def fit(self, loader):
        for x, y in loader:
            loss = self.loss(x, y)
            loss.backward()  # <- GL101
            self.optimizer.step()
""",
    "clipped by a sibling": """\
# file: pkg/loop.py
import torch

from .clipping import clip

net = torch.nn.Linear(4, 1)
opt = torch.optim.Adam(net.parameters())
scaler = torch.amp.GradScaler("cuda")
for x, y in loader:
    opt.zero_grad()
    scaler.scale(torch.nn.functional.mse_loss(net(x), y)).backward()
    clip(net)
    scaler.step(opt)
    scaler.update()
# file: pkg/__init__.py
# file: pkg/clipping.py
from torch.nn.utils import clip_grad_norm_


def clip(net, bound=1.0):
    return clip_grad_norm_(net.parameters(), bound)  # <- GL301
""",
    "window of an imported number": """\
# file: train.py
import torch
from config import ACCUMULATE

net = torch.nn.Linear(4, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for i, (x, y) in enumerate(loader):
    opt.zero_grad()  # <- GL103
    (torch.nn.functional.mse_loss(net(x), y) / ACCUMULATE).backward()
    if (i + 1) % ACCUMULATE == 0:
        opt.step()
# file: config.py
ACCUMULATE = 4
""",
    "imports in a circle": """\
# file: a.py
import torch
import b

NET = torch.nn.Linear(4, 1)
OPT = torch.optim.SGD(NET.parameters(), lr=0.1)
for x, y in loader:
    torch.nn.functional.mse_loss(NET(x), y).backward()  # <- GL101
    b.apply(OPT)
# file: b.py
import a


def apply(optimizer):
    optimizer.step()
""",
    "star import": """\
# file: train.py
from parts import *

for x, y in loader:
    F.mse_loss(model(x), y).backward()  # <- GL101
    optimizer.step()
# file: parts.py
import torch
import torch.nn.functional as F

model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
""",
    "star import beside torch": """\
# file: train.py
import torch
from parts import *

for x, y in loader:
    torch.nn.functional.mse_loss(model(x), y).backward()  # <- GL101
    optimizer.step()
# file: parts.py
import torch

model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
""",
    "names handed on by a package": """\
# file: train.py
import torch
from lib import Stepper

model = torch.nn.Linear(4, 1)
stepper = Stepper(model)
for x, y in loader:
    stepper(torch.nn.functional.mse_loss(model(x), y))  # calls backward
# file: lib/__init__.py
from .stepper import Stepper
# file: lib/stepper.py
import torch


class Stepper:
    def __init__(self, model):
        self.optimizer = torch.optim.Adam(model.parameters())

    def __call__(self, loss):
        loss.backward()  # <- GL101
        self.optimizer.step()
""",
    "model of another module": """\
# file: train.py
import torch
from nets.gan import Critic, Generator

G, D = Generator(), Critic()
g_opt = torch.optim.Adam(G.parameters())
d_opt = torch.optim.Adam(D.parameters())
for real in loader:
    z = torch.randn(len(real), 8)
    g_opt.zero_grad()
    (-D(G(z)).mean()).backward()
    g_opt.step()
    (D(G(z).detach()).mean() - D(real).mean()).backward()
    d_opt.step()  # <- GL401
    d_opt.zero_grad()
# file: nets/__init__.py
# file: nets/gan.py
from torch import nn


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(8, 4)

    def forward(self, z):
        return self.layer(z)


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 1)

    def forward(self, x):
        return self.layer(x)
""",
}


@pytest.mark.parametrize("text", programs(WRONG))
def test_a_finding_names_the_file_of_its_line(text: str) -> None:
    assert certain(text) == Project.of(text).marked() != []


def test_related_lines_name_their_files() -> None:
    (finding,) = Project.of(WRONG["cleared by a helper"]).judged().findings
    related = {(place.site.path, place.site.line) for place in finding.related}
    assert related == {("train.py", 7), ("updates.py", 6)}
