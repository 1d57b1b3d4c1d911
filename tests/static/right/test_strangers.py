"""What cannot be seen may clear: callbacks, decorators, contexts, hooks, base classes, made-up names."""

from __future__ import annotations

import pytest

from tests.static.project import certain, programs

PLAIN = {
    "callbacks that are given all names": """\
import torch
from torch import nn
import torch.nn.functional as F

model = nn.Linear(3,1)
optimizer = torch.optim.SGD(model.parameters(), lr=.1)
from cb import callbacks
for x, y in loader:
    for c in callbacks: c.on_batch_begin(locals())
    loss = F.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
""",
    "a list of method names, backwards": """\
import torch
from torch import nn
import torch.nn.functional as F

model = nn.Linear(3,1)
optimizer = torch.optim.SGD(model.parameters(), lr=.1)
ops = ['zero_grad', 'step']
for x, y in loader:
    loss = F.mse_loss(model(x), y)
    loss.backward()
    for op in reversed(ops):
        getattr(optimizer, op)()
""",
    "text that is executed": """\
import torch
from torch import nn
import torch.nn.functional as F

model = nn.Linear(3,1)
optimizer = torch.optim.SGD(model.parameters(), lr=.1)
for x, y in loader:
    exec('optimizer.zero_grad()')
    loss = F.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
""",
    "a decorator that is given the optimizer": """\
import torch
from torch import nn
import torch.nn.functional as F

from deco import with_optimizer
model = nn.Linear(3,1)
optimizer = torch.optim.SGD(model.parameters(), lr=.1)
@with_optimizer(optimizer)
def step(x, y):
    loss = F.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
for x, y in loader:
    step(x, y)
""",
    "a decorator around a method": """\
import torch
from torch import nn
import torch.nn.functional as F

from deco import clears
class T:
    def __init__(self):
        self.model = nn.Linear(3,1)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=.1)
    @clears
    def step(self, x, y):
        loss = F.mse_loss(self.model(x), y)
        loss.backward()
        self.optimizer.step()
t = T()
for x, y in loader:
    t.step(x, y)
""",
    "a context that is given the optimizer": """\
import torch
from torch import nn
import torch.nn.functional as F

from ctx import fresh_grads
model = nn.Linear(3,1)
optimizer = torch.optim.SGD(model.parameters(), lr=.1)
for x, y in loader:
    with fresh_grads(optimizer):
        loss = F.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
""",
    "a context that is given the model": """\
import torch
from torch import nn
import torch.nn.functional as F

from ctx import session
model = nn.Linear(3,1)
optimizer = torch.optim.SGD(model.parameters(), lr=.1)
for x, y in loader:
    with session(model):
        loss = F.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
""",
    "an iterator that clears": """\
import torch
from torch import nn
import torch.nn.functional as F

model = nn.Linear(3,1)
optimizer = torch.optim.SGD(model.parameters(), lr=.1)
class Stream:
    def __iter__(self): return self
    def __next__(self):
        optimizer.zero_grad()
        return 1, 2
for x, y in Stream():
    loss = F.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
""",
    "a hook of the model": """\
import torch
from torch import nn
import torch.nn.functional as F

model = nn.Linear(3,1)
optimizer = torch.optim.SGD(model.parameters(), lr=.1)
model.register_forward_pre_hook(lambda m, i: m.zero_grad())
for x, y in loader:
    loss = F.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
""",
    "parameters by their attribute names": """\
import torch
from torch import nn
import torch.nn.functional as F

model = nn.Linear(3,1)
optimizer = torch.optim.SGD(model.parameters(), lr=.1)
for x, y in loader:
    for n in dir(model):
        v = getattr(model, n)
        if isinstance(v, nn.Parameter): v.grad = None
    loss = F.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
""",
    "parameters from the dictionary of the module": """\
import torch
from torch import nn
import torch.nn.functional as F

model = nn.Linear(3,1)
optimizer = torch.optim.SGD(model.parameters(), lr=.1)
for x, y in loader:
    for v in model._parameters.values():
        v.grad = None
    loss = F.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
""",
    "a method of a base class that is not in sight": """\
import torch
from torch import nn
import torch.nn.functional as F

from base import BaseTrainer
class T(BaseTrainer):
    def __init__(self, model):
        super().__init__(model)
        self.model = nn.Linear(3,1)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=.1)
    def train(self):
        for x, y in self.loader:
            self.on_batch_start()
            loss = F.mse_loss(self.model(x), y)
            loss.backward()
            self.optimizer.step()
t = T(1); t.train()
""",
    "a method taken from its class": """\
import torch
from torch import nn
import torch.nn.functional as F

nets = {'a': nn.Linear(3,1), 'b': nn.Linear(3,1)}
opts = {k: torch.optim.SGD(v.parameters(), lr=.1) for k, v in nets.items()}
def each(f):
    for o in opts.values(): f(o)
for x, y in loader:
    each(torch.optim.Optimizer.zero_grad)
    sum(F.mse_loss(n(x), y) for n in nets.values()).backward()
    each(lambda o: o.step())
""",
    "hooks from a registry that know the trainer": """\
import torch
from torch import nn
import torch.nn.functional as F

from reg import REG
class T:
    def __init__(self, cfg):
        self.model = nn.Linear(3,1)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=.1)
        self.hooks = [REG[h](self) for h in cfg.hooks]
    def train(self):
        for x, y in loader:
            for h in self.hooks: h.before()
            F.mse_loss(self.model(x), y).backward()
            self.optimizer.step()
T(cfg).train()
""",
    "a function that is given the trainer": """\
import torch
from torch import nn
import torch.nn.functional as F

from hooks import before_iter
class T:
    def __init__(self, cfg):
        self.model = nn.Linear(3,1)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=.1)
    def train(self):
        for x, y in loader:
            before_iter(self)
            F.mse_loss(self.model(x), y).backward()
            self.optimizer.step()
T(cfg).train()
""",
    "a function that is given a table with the optimizer": """\
import torch
from torch import nn
import torch.nn.functional as F

from hooks import before_iter
model = nn.Linear(3,1)
state = {'model': model, 'optimizer': torch.optim.SGD(model.parameters(), lr=.1)}
for x, y in loader:
    before_iter(state)
    F.mse_loss(model(x), y).backward()
    state['optimizer'].step()
""",
    "a new model for each fold": """\
import torch
from torch import nn
import torch.nn.functional as F

from models import build_model
def run():
    for fold in range(5):
        model = build_model()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        loss = F.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
run()
""",
    "a part of a new model for each fold": """\
import torch
from torch import nn
import torch.nn.functional as F

from models import build_model
for fold in range(5):
    model = build_model()
    optimizer = torch.optim.SGD(model.backbone.head.parameters(), lr=0.1)
    loss = F.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
""",
    "a generator that clears": """\
import torch
from torch import nn
import torch.nn.functional as F

model = nn.Linear(3,1)
optimizer = torch.optim.SGD(model.parameters(), lr=.1)
def batches():
    for b in loader:
        optimizer.zero_grad()
        yield b
for x, y in batches():
    loss = F.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
""",
    "a property that clears": """\
import torch
from torch import nn
import torch.nn.functional as F

class T:
    def __init__(self):
        self.model = nn.Linear(3,1)
        self.opt = torch.optim.SGD(self.model.parameters(), lr=.1)
    @property
    def fresh(self):
        self.opt.zero_grad()
        return self.model
t=T()
for x, y in loader:
    loss = F.mse_loss(t.fresh(x), y)
    loss.backward()
    t.opt.step()
""",
    "a step that was replaced": """\
import torch
from torch import nn
import torch.nn.functional as F

model = nn.Linear(3,1)
optimizer = torch.optim.SGD(model.parameters(), lr=.1)
old = optimizer.step
def step():
    old()
    optimizer.zero_grad()
optimizer.step = step
for x, y in loader:
    loss = F.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
""",
    "an engine that was given both": """\
import torch
from torch import nn
import torch.nn.functional as F

from engine import Engine
model = nn.Linear(3,1)
opt = torch.optim.SGD(model.parameters(), lr=.1)
engine = Engine(model, opt)
for x, y in loader:
    engine.begin()
    F.mse_loss(model(x), y).backward()
    opt.step()
""",
    "a clearing inside a condition": """\
import torch
from torch import nn
import torch.nn.functional as F

model = nn.Linear(3,1)
opt = torch.optim.SGD(model.parameters(), lr=.1)
for x, y in loader:
    if (z := opt.zero_grad()) is None:
        F.mse_loss(model(x), y).backward()
    opt.step()
""",
    "clearings in conditional expressions": """\
import torch
from torch import nn
import torch.nn.functional as F

model = nn.Linear(3,1)
opt = torch.optim.SGD(model.parameters(), lr=.1)
for i, (x, y) in enumerate(loader):
    opt.zero_grad() if i % 4 == 0 else None
    (F.mse_loss(model(x), y) / 4).backward()
    opt.step() if (i + 1) % 4 == 0 else None
""",
}


@pytest.mark.parametrize("text", programs(PLAIN))
def test_nothing_certain_is_said(text: str) -> None:
    assert certain(text) == []
