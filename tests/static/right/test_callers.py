"""Pieces that somebody else puts together are not judged as if they were the whole."""

from __future__ import annotations

import pytest

from tests.static.project import certain, programs, said

PLAIN = {
    "three methods for a driver elsewhere": """\
import torch


class Learner:
    def __init__(self, net):
        self.net = net
        self.optimizer = torch.optim.Adam(net.parameters())

    def zero(self):
        self.optimizer.zero_grad()

    def accumulate(self, x, y):
        torch.nn.functional.mse_loss(self.net(x), y).backward()

    def apply(self):
        self.optimizer.step()
""",
    "zero in one method and step in another": """\
import torch


class Agent:
    def __init__(self, net):
        self.net = net
        self.optimizer = torch.optim.Adam(net.parameters())

    def begin_episode(self):
        self.optimizer.zero_grad()
        self.log_probs = []

    def end_episode(self, returns):
        loss = -(torch.stack(self.log_probs) * returns).sum()
        loss.backward()
        self.optimizer.step()
""",
    "zero_grad handed on": """\
import torch


class Learner:
    def __init__(self, net):
        self.net = net
        self.opt = torch.optim.Adam(net.parameters())

    def zero_grad(self):
        self.opt.zero_grad()

    def step(self, loss):
        loss.backward()
        self.opt.step()
""",
    "functions over a module's optimizer": """\
import torch

net = torch.nn.Linear(4, 1)
opt = torch.optim.Adam(net.parameters())


def start():
    opt.zero_grad()


def finish(loss):
    loss.backward()
    opt.step()
""",
    "functions over any optimizer": """\
import torch


def start(opt):
    opt.zero_grad()


def finish(opt, loss):
    loss.backward()
    torch.nn.utils.clip_grad_norm_(opt.param_groups[0]["params"], 1.0)
    opt.step()
""",
    "unit tests with a set-up": """\
import unittest

import torch


class TrainingTest(unittest.TestCase):
    def setUp(self):
        self.net = torch.nn.Linear(4, 1)
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.1)

    def test_one_step_changes_the_weights(self):
        before = self.net.weight.clone()
        self.net(torch.randn(2, 4)).sum().backward()
        self.optimizer.step()
        self.assertFalse(torch.equal(before, self.net.weight))

    def test_loss_falls(self):
        loss = self.net(torch.ones(2, 4)).pow(2).mean()
        loss.backward()
        self.optimizer.step()
        self.assertLess(self.net(torch.ones(2, 4)).pow(2).mean(), loss)
""",
    "pytest functions": """\
import pytest
import torch


@pytest.fixture
def model():
    return torch.nn.Linear(4, 1)


def test_gradients_flow(model):
    model(torch.randn(2, 4)).sum().backward()
    assert all(p.grad is not None for p in model.parameters())


def test_overfit_one_batch(model):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    x, y = torch.randn(2, 4), torch.randn(2, 1)
    for _ in range(50):
        loss = torch.nn.functional.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert loss < 0.1
""",
    "a loss class with its own backward": """\
import torch


class Loss:
    def __init__(self, parts):
        self.parts = parts

    def backward(self, retain_graph=False):
        for part in self.parts:
            part.backward(retain_graph=retain_graph)

    def item(self):
        return sum(part.item() for part in self.parts)


class Function(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.clamp(min=0)

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * (x > 0)
""",
    "optimizer that only defines a step": """\
import torch


class Lion(torch.optim.Optimizer):
    def __init__(self, params, lr=1e-4):
        super().__init__(params, {"lr": lr})

    @torch.no_grad()
    def step(self, closure=None):
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is not None:
                    p.add_(p.grad.sign(), alpha=-group["lr"])
        return loss


# loss.backward() is the caller's business
""",
    "accumulating step for a driver that decides": """\
import torch


def train_step(model, optimizer, batch, scaler=None, update=True, clip=None):
    loss = model(batch).mean()
    if scaler is None:
        loss.backward()
    else:
        scaler.scale(loss).backward()
    if update:
        if scaler is not None:
            scaler.unscale_(optimizer)
        if clip is not None:
            torch.nn.utils.clip_grad_norm_(model.parameters(), clip)
        if scaler is None:
            optimizer.step()
        else:
            scaler.step(optimizer)
            scaler.update()
        optimizer.zero_grad()
    return loss.item()
""",
    "abstract base with hooks": """\
from abc import ABC, abstractmethod

import torch


class Trainer(ABC):
    def __init__(self, cfg):
        self.cfg = cfg
        self.model = self.build_model()
        self.optimizer = self.build_optimizer()

    @abstractmethod
    def build_model(self): ...

    @abstractmethod
    def compute_loss(self, batch): ...

    def build_optimizer(self):
        return torch.optim.AdamW(self.model.parameters(), lr=self.cfg.lr)

    def before_step(self):
        self.optimizer.zero_grad()

    def run_step(self, batch):
        self.before_step()
        loss = self.compute_loss(batch)
        loss.backward()
        self.after_backward()
        self.optimizer.step()

    def after_backward(self):
        pass

    def train(self, loader):
        for batch in loader:
            self.run_step(batch)
""",
}

TO_BE_OVERRIDDEN = {
    "empty hook before the batch": '''\
import torch


class Base:
    def __init__(self, net):
        self.net = net
        self.optimizer = torch.optim.Adam(net.parameters())

    def on_batch_start(self):
        """For subclasses."""

    def train_batch(self, x, y):
        self.on_batch_start()
        loss = torch.nn.functional.mse_loss(self.net(x), y)
        loss.backward()
        self.optimizer.step()
''',
    "empty hook after the step": """\
import torch


class Engine:
    def __init__(self, net, loader):
        self.net, self.loader = net, loader
        self.optimizer = torch.optim.SGD(net.parameters(), lr=0.1)

    def after_step(self):
        pass

    def run(self):
        for x, y in self.loader:
            torch.nn.functional.mse_loss(self.net(x), y).backward()
            self.optimizer.step()
            self.after_step()
""",
    "hook that raises": """\
import torch


class Engine:
    def __init__(self, net):
        self.net = net
        self.optimizer = torch.optim.SGD(net.parameters(), lr=0.1)

    def prepare(self):
        raise NotImplementedError

    def step(self, x, y):
        self.prepare()
        torch.nn.functional.mse_loss(self.net(x), y).backward()
        self.optimizer.step()
""",
}


@pytest.mark.parametrize("text", programs(PLAIN))
def test_nothing_is_said(text: str) -> None:
    assert said(text) == []


@pytest.mark.parametrize("text", programs(TO_BE_OVERRIDDEN))
def test_nothing_is_certain_where_a_subclass_may_clear(text: str) -> None:
    assert certain(text) == []
