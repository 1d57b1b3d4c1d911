"""Clearing at the loop's start, just before backward, after the step or on both sides is right."""

from __future__ import annotations

import pytest

from tests.static.project import programs, said

PLAIN = {
    "start of the loop": """\
import torch

net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for x, y in loader:
    optimizer.zero_grad()
    loss = torch.nn.functional.mse_loss(net(x), y)
    loss.backward()
    optimizer.step()
""",
    "just before backward in a while loop": """\
import torch


def train(net, data, steps):
    adam = torch.optim.Adam(net.parameters())
    batches = iter(data)
    done = 0
    while done < steps:
        try:
            x, y = next(batches)
        except StopIteration:
            batches = iter(data)
            x, y = next(batches)
        loss = torch.nn.functional.mse_loss(net(x), y)
        adam.zero_grad()
        loss.backward()
        adam.step()
        done += 1
""",
    "after the step in a method": """\
import torch


class Model:
    def __init__(self, net):
        self.net = net
        self.optim = torch.optim.AdamW(self.net.parameters())

    def fit_batch(self, x, y):
        loss = torch.nn.functional.mse_loss(self.net(x), y)
        loss.backward()
        self.optim.step()
        self.optim.zero_grad()
        return float(loss)

    def fit(self, loader, epochs):
        return [self.fit_batch(x, y) for _ in range(epochs) for x, y in loader]
""",
    "both sides": """\
import torch

net = torch.nn.Linear(4, 1)
o = torch.optim.RMSprop(net.parameters())
for epoch in range(2):
    o.zero_grad()
    for x, y in loader:
        o.zero_grad()
        torch.nn.functional.mse_loss(net(x), y).backward()
        o.step()
        o.zero_grad()
""",
    "none loop": """\
import torch

w = torch.randn(4, 1, requires_grad=True)
b = torch.zeros(1, requires_grad=True)
for epoch in range(100):
    loss = ((X @ w + b - Y) ** 2).mean()
    loss.backward()
    with torch.no_grad():
        w -= 0.1 * w.grad
        b -= 0.1 * b.grad
    w.grad = None
    b.grad = None
""",
    "tensors from scratch": """\
import torch
from torch.autograd import Variable

x = torch.linspace(-3, 3, 2000)
a = torch.randn((), requires_grad=True)
c = torch.randn((), requires_grad=True)
for t in range(2000):
    y_pred = a + c * x**2
    loss = (y_pred - x.sin()).pow(2).sum()
    if t % 100 == 99:
        print(t, loss.item())
    loss.backward()
    with torch.no_grad():
        a -= 1e-6 * a.grad
        c -= 1e-6 * c.grad
        a.grad.zero_()
        c.grad.zero_()
""",
    "karpathy": """\
import torch
import torch.nn.functional as F

g = torch.Generator().manual_seed(2147483647)
C = torch.randn((27, 10), generator=g)
W1 = torch.randn((30, 200), generator=g)
W2 = torch.randn((200, 27), generator=g)
parameters = [C, W1, W2]
for p in parameters:
    p.requires_grad = True
for i in range(200000):
    ix = torch.randint(0, Xtr.shape[0], (32,))
    emb = C[Xtr[ix]]
    h = torch.tanh(emb.view(-1, 30) @ W1)
    loss = F.cross_entropy(h @ W2, Ytr[ix])
    for p in parameters:
        p.grad = None
    loss.backward()
    lr = 0.1 if i < 100000 else 0.01
    for p in parameters:
        p.data += -lr * p.grad
""",
    "list of optimizers": """\
import torch


def make_optimizers(nets, lr):
    return [torch.optim.Adam(net.parameters(), lr=lr) for net in nets]


def main(nets, loader):
    optimizers = make_optimizers(nets, 1e-3)
    for x, y in loader:
        for o in optimizers:
            o.zero_grad()
        loss = sum(torch.nn.functional.mse_loss(net(x), y) for net in nets)
        loss.backward()
        for o in optimizers:
            o.step()
""",
    "comprehensions for their effect": """\
import torch

nets = [torch.nn.Linear(4, 1) for _ in range(3)]
opts = [torch.optim.SGD(net.parameters(), lr=0.1) for net in nets]
for x, y in loader:
    [opt.zero_grad() for opt in opts]
    losses = [torch.nn.functional.mse_loss(net(x), y) for net in nets]
    [loss.backward() for loss in losses]
    [opt.step() for opt in opts]
""",
    "factory by name and trained in a thread pool of names": """\
import torch


def get_optimizer(name, params, lr):
    return getattr(torch.optim, name)(params, lr=lr)


class Experiment:
    def __init__(self, cfg):
        self.net = torch.nn.Linear(4, 1)
        self.opt = get_optimizer(cfg["optimizer"], self.net.parameters(), cfg["lr"])

    def run(self, loader):
        for x, y in loader:
            self.opt.zero_grad()
            torch.nn.functional.mse_loss(self.net(x), y).backward()
            self.opt.step()


for cfg in ({"optimizer": "SGD", "lr": 0.1}, {"optimizer": "Adam", "lr": 0.001}):
    Experiment(cfg).run(loader)
""",
    "context manager": """\
import contextlib

import torch


@contextlib.contextmanager
def update(optimizer):
    optimizer.zero_grad()
    yield
    optimizer.step()


net = torch.nn.Linear(4, 1)
sgd = torch.optim.SGD(net.parameters(), lr=0.1)
for x, y in loader:
    with update(sgd):
        torch.nn.functional.mse_loss(net(x), y).backward()
""",
    "foreach": """\
import torch

net = torch.nn.Linear(4, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for x, y in loader:
    torch.nn.functional.mse_loss(net(x), y).backward()
    opt.step()
    torch._foreach_zero_([p.grad for p in net.parameters() if p.grad is not None])
""",
    "callback list": """\
import torch


class Callback:
    def on_batch_begin(self, trainer):
        pass

    def on_batch_end(self, trainer):
        pass


class ZeroGrad(Callback):
    def on_batch_begin(self, trainer):
        trainer.optimizer.zero_grad()


class Logger(Callback):
    def on_batch_end(self, trainer):
        print(trainer.loss.item())


class Trainer:
    def __init__(self, net, callbacks):
        self.net, self.callbacks = net, callbacks
        self.optimizer = torch.optim.SGD(net.parameters(), lr=0.1)

    def call(self, name):
        for callback in self.callbacks:
            getattr(callback, name)(self)

    def fit(self, loader):
        for x, y in loader:
            self.call("on_batch_begin")
            self.loss = torch.nn.functional.mse_loss(self.net(x), y)
            self.loss.backward()
            self.optimizer.step()
            self.call("on_batch_end")


Trainer(torch.nn.Linear(4, 1), [ZeroGrad(), Logger()]).fit(loader)
""",
}


@pytest.mark.parametrize("text", programs(PLAIN))
def test_nothing_is_said(text: str) -> None:
    assert said(text) == []
