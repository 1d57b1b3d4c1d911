"""Steps and passes that are repeated, and graphs that are kept, are found in every structure."""

from __future__ import annotations

import pytest

from tests.static.project import Project, certain, programs

GL105 = {
    "function": """\
import torch


def train(net, loader, opt):
    for x, y in loader:
        opt.zero_grad()
        torch.nn.functional.mse_loss(net(x), y).backward()
        opt.step()
        print("step done")
        opt.step()  # <- GL105
""",
    "scaler and optimizer": """\
import torch

net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
scaler = torch.cuda.amp.GradScaler()
for x, y in loader:
    optimizer.zero_grad()
    scaler.scale(torch.nn.functional.mse_loss(net(x), y)).backward()
    scaler.step(optimizer)
    scaler.update()
    optimizer.step()  # <- GL105
""",
    "base class and subclass": """\
import torch


class Base:
    def __init__(self, net):
        self.net = net
        self.opt = torch.optim.Adam(net.parameters())

    def update(self, loss):
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()


class Child(Base):
    def fit(self, loader):
        for x, y in loader:
            self.update(torch.nn.functional.mse_loss(self.net(x), y))
            self.opt.step()  # <- GL105


Child(torch.nn.Linear(4, 1)).fit(loader)
""",
    "two files": """\
# file: train.py
import torch
from engine import update

net = torch.nn.Linear(4, 1)
opt = torch.optim.Adam(net.parameters())
for x, y in loader:
    opt.zero_grad()
    torch.nn.functional.mse_loss(net(x), y).backward()
    update(opt)
    opt.step()  # <- GL105
# file: engine.py
def update(opt):
    opt.step()
""",
}

GL107 = {
    "function": """\
import torch


def train(net, loader, epochs):
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    running_loss = 0.0
    for epoch in range(epochs):
        for x, y in loader:
            opt.zero_grad()
            loss = torch.nn.functional.mse_loss(net(x), y)
            loss.backward()
            opt.step()
            running_loss += loss  # <- GL107
    return running_loss
""",
    "list in a class": """\
import torch


class Trainer:
    def __init__(self, net):
        self.net, self.history = net, []
        self.opt = torch.optim.SGD(net.parameters(), lr=0.1)

    def fit(self, loader):
        for epoch in range(10):
            for x, y in loader:
                self.opt.zero_grad()
                loss = torch.nn.functional.mse_loss(self.net(x), y)
                loss.backward()
                self.opt.step()
                self.history.append(loss)  # <- GL107


Trainer(torch.nn.Linear(4, 1)).fit(loader)
""",
    "running mean": """\
import torch

net = torch.nn.Linear(4, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
smooth = 0.0
for epoch in range(5):
    for x, y in loader:
        opt.zero_grad()
        loss = torch.nn.functional.mse_loss(net(x), y)
        loss.backward()
        opt.step()
        smooth = 0.9 * smooth + 0.1 * loss  # <- GL107
print(smooth)
""",
    "helper returns the tensor": """\
import torch


def step(net, opt, x, y):
    opt.zero_grad()
    loss = torch.nn.functional.mse_loss(net(x), y)
    loss.backward()
    opt.step()
    return loss


def main(net, loader):
    opt = torch.optim.Adam(net.parameters())
    for epoch in range(4):
        total = 0
        for x, y in loader:
            total += step(net, opt, x, y)  # <- GL107
        print(total / len(loader))
""",
    "dict of lists": """\
import torch

net = torch.nn.Linear(4, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
log = {"loss": []}
for x, y in loader:
    opt.zero_grad()
    loss = torch.nn.functional.mse_loss(net(x), y)
    loss.backward()
    opt.step()
    log["loss"].append(loss)  # <- GL107
""",
    "an attribute, written out": """\
import torch


class Trainer:
    def __init__(self):
        self.net = torch.nn.Linear(4, 1)
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.1)

    def epoch(self, loader):
        self.total = 0
        for x, y in loader:
            self.optimizer.zero_grad()
            loss = torch.nn.functional.mse_loss(self.net(x), y)
            loss.backward()
            self.optimizer.step()
            self.total = self.total + loss  # <- GL107
        print(self.total / len(loader))


trainer = Trainer()
for epoch in range(10):
    trainer.epoch(loader)
""",
    "an entry of a table, written out": """\
import torch

net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
totals = {"train": 0.0}
for epoch in range(10):
    for x, y in loader:
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(net(x), y)
        loss.backward()
        optimizer.step()
        totals["train"] = totals["train"] + loss  # <- GL107
""",
}

GL108 = {
    "function": """\
import torch


def train(net, opt, loader, decay):
    for x, y in loader:
        opt.zero_grad()
        loss = torch.nn.functional.mse_loss(net(x), y)
        loss.backward(retain_graph=True)
        full = loss + decay * sum(p.abs().sum() for p in net.parameters())
        full.backward()  # <- GL108
        opt.step()
""",
    "class": """\
import torch


class MultiTask:
    def __init__(self, net):
        self.net = net
        self.opt = torch.optim.Adam(net.parameters())

    def step(self, x, y):
        self.opt.zero_grad()
        out = self.net(x)
        main_loss = torch.nn.functional.cross_entropy(out, y)
        main_loss.backward(retain_graph=True)
        total = main_loss + 0.1 * out.pow(2).mean()
        total.backward()  # <- GL108
        self.opt.step()

    def fit(self, loader):
        for x, y in loader:
            self.step(x, y)


MultiTask(torch.nn.Linear(4, 2)).fit(loader)
""",
    "running loss in a loop": """\
import torch

cell = torch.nn.GRUCell(4, 8)
opt = torch.optim.SGD(cell.parameters(), lr=0.1)
for sequence in loader:
    opt.zero_grad()
    h = torch.zeros(1, 8)
    loss = 0
    for x in sequence:
        h = cell(x, h)
        loss = loss + h.pow(2).mean()
        loss.backward(retain_graph=True)  # <- GL108
    opt.step()
""",
    "same loss twice": """\
import torch

net = torch.nn.Linear(4, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
scaler = torch.cuda.amp.GradScaler()
for x, y in loader:
    opt.zero_grad()
    loss = scaler.scale(torch.nn.functional.mse_loss(net(x), y))
    loss.backward(retain_graph=True)
    loss.backward()  # <- GL108
    scaler.step(opt)
    scaler.update()
""",
}


@pytest.mark.parametrize("text", programs(GL105))
def test_repeated_step(text: str) -> None:
    assert certain(text) == Project.of(text).marked() != []


@pytest.mark.parametrize("text", programs(GL107))
def test_graph_kept_alive(text: str) -> None:
    assert certain(text) == Project.of(text).marked() != []


@pytest.mark.parametrize("text", programs(GL108))
def test_repeated_backward(text: str) -> None:
    assert certain(text) == Project.of(text).marked() != []
