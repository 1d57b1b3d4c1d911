"""Mistakes with gradient scalers and clipping are found in every structure."""

from __future__ import annotations

import pytest

from tests.static.project import Project, certain, programs

GL301 = {
    "function": """\
import torch


def train(net, loader, opt, criterion):
    scaler = torch.cuda.amp.GradScaler()
    for x, y in loader:
        opt.zero_grad()
        with torch.cuda.amp.autocast():
            loss = criterion(net(x), y)
        scaler.scale(loss).backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)  # <- GL301
        scaler.step(opt)
        scaler.update()
""",
    "amp arm": """\
import torch


def train(net, loader, args):
    optimizer = torch.optim.AdamW(net.parameters())
    scaler = torch.cuda.amp.GradScaler()
    for x, y in loader:
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(net(x), y)
        if args.amp:
            scaler.scale(loss).backward()
            torch.nn.utils.clip_grad_norm_(net.parameters(), args.clip)  # <- GL301
            scaler.step(optimizer)
            scaler.update()
        else:
            loss.backward()
            torch.nn.utils.clip_grad_norm_(net.parameters(), args.clip)
            optimizer.step()
""",
    "class with helpers": """\
import torch


class Trainer:
    def __init__(self, net):
        self.net = net
        self.optimizer = torch.optim.Adam(net.parameters())
        self.scaler = torch.amp.GradScaler("cuda")

    def clip(self):
        torch.nn.utils.clip_grad_value_(self.net.parameters(), 0.5)  # <- GL301

    def step(self, loss):
        self.optimizer.zero_grad()
        self.scaler.scale(loss).backward()
        self.clip()
        self.scaler.step(self.optimizer)
        self.scaler.update()

    def fit(self, loader):
        for x, y in loader:
            self.step(torch.nn.functional.mse_loss(self.net(x), y))


Trainer(torch.nn.Linear(4, 1)).fit(loader)
""",
}

GL302 = {
    "function": """\
import torch


def train(net, loader):
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    scaler = torch.cuda.amp.GradScaler()
    for x, y in loader:
        opt.zero_grad()
        scaler.scale(torch.nn.functional.mse_loss(net(x), y)).backward()
        opt.step()  # <- GL302
        scaler.update()
""",
    "class": """\
import torch


class Trainer:
    def __init__(self, net):
        self.net = net
        self.opt = torch.optim.Adam(net.parameters())
        self.scaler = torch.amp.GradScaler()

    def fit(self, loader):
        for x, y in loader:
            self.opt.zero_grad()
            loss = self.scaler.scale(torch.nn.functional.mse_loss(self.net(x), y))
            loss.backward()
            self.opt.step()  # <- GL302


Trainer(torch.nn.Linear(4, 1)).fit(loader)
""",
    "dict of optimizers": """\
import torch

nets = {"g": torch.nn.Linear(4, 4), "d": torch.nn.Linear(4, 1)}
opts = {name: torch.optim.Adam(net.parameters()) for name, net in nets.items()}
scaler = torch.cuda.amp.GradScaler()
for x, y in loader:
    for opt in opts.values():
        opt.zero_grad()
    loss = torch.nn.functional.mse_loss(nets["d"](nets["g"](x)), y)
    scaler.scale(loss).backward()
    scaler.step(opts["g"])
    opts["d"].step()  # <- GL302
    scaler.update()
""",
}

GL303 = {
    "function": """\
import torch


def train(net, loader):
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    scaler = torch.cuda.amp.GradScaler()
    for x, y in loader:
        opt.zero_grad()
        scaler.scale(torch.nn.functional.mse_loss(net(x), y)).backward()
        scaler.step(opt)  # <- GL303
""",
    "class": """\
import torch


class Trainer:
    def __init__(self, net):
        self.net = net
        self.opt = torch.optim.Adam(net.parameters())
        self.scaler = torch.amp.GradScaler("cuda")

    def update(self, loss):
        self.opt.zero_grad()
        self.scaler.scale(loss).backward()
        self.scaler.unscale_(self.opt)
        torch.nn.utils.clip_grad_norm_(self.net.parameters(), 1.0)
        self.scaler.step(self.opt)  # <- GL303

    def fit(self, loader):
        for x, y in loader:
            self.update(torch.nn.functional.mse_loss(self.net(x), y))


Trainer(torch.nn.Linear(4, 1)).fit(loader)
""",
    "window": """\
import torch

net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
scaler = torch.cuda.amp.GradScaler()
for i, (x, y) in enumerate(loader):
    scaler.scale(torch.nn.functional.mse_loss(net(x), y) / 4).backward()
    if (i + 1) % 4 == 0 or i + 1 == len(loader):
        scaler.step(optimizer)  # <- GL303
        optimizer.zero_grad()
""",
    "switched off": """\
import torch

net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cpu", enabled=False)
for x, y in loader:
    optimizer.zero_grad()
    scaler.scale(torch.nn.functional.mse_loss(net(x), y)).backward()
    scaler.step(optimizer)  # <- GL303
""",
}

GL304 = {
    "after the step in a function": """\
import torch


def train(net, loader, opt):
    for x, y in loader:
        opt.zero_grad()
        torch.nn.functional.mse_loss(net(x), y).backward()
        opt.step()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)  # <- GL304
""",
    "before the backward in a class": """\
import torch


class Trainer:
    def __init__(self, net):
        self.net = net
        self.opt = torch.optim.SGD(net.parameters(), lr=0.1)

    def step(self, x, y):
        self.opt.zero_grad()
        loss = torch.nn.functional.mse_loss(self.net(x), y)
        torch.nn.utils.clip_grad_norm_(self.net.parameters(), 1.0)  # <- GL304
        loss.backward()
        self.opt.step()

    def fit(self, loader):
        for x, y in loader:
            self.step(x, y)


Trainer(torch.nn.Linear(4, 1)).fit(loader)
""",
    "two files": """\
# file: train.py
import torch
from clip import clip

net = torch.nn.Linear(4, 1)
opt = torch.optim.Adam(net.parameters())
for x, y in loader:
    clip(net)
    loss = torch.nn.functional.mse_loss(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
# file: clip.py
import torch


def clip(net):
    torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)  # <- GL304
""",
    "while loop": """\
import torch

net = torch.nn.Linear(4, 1)
opt = torch.optim.Adam(net.parameters())
step = 0
while step < 100:
    x, y = sample()
    opt.zero_grad()
    torch.nn.functional.mse_loss(net(x), y).backward()
    opt.step()
    torch.nn.utils.clip_grad_value_(net.parameters(), 1.0)  # <- GL304
    step += 1
""",
}

GL307 = {
    "function": """\
import torch


def train(net, loader, n):
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for i, (x, y) in enumerate(loader):
        (torch.nn.functional.mse_loss(net(x), y) / n).backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)  # <- GL307
        if (i + 1) % n == 0 or i + 1 == len(loader):
            opt.step()
            opt.zero_grad()
""",
    "helper": """\
import torch


class Trainer:
    def __init__(self, net):
        self.net, self.n = net, 4
        self.opt = torch.optim.Adam(net.parameters())

    def backward(self, loss):
        (loss / self.n).backward()
        torch.nn.utils.clip_grad_norm_(self.net.parameters(), 1.0)  # <- GL307

    def fit(self, loader):
        for i, (x, y) in enumerate(loader):
            self.backward(torch.nn.functional.mse_loss(self.net(x), y))
            if (i + 1) % self.n == 0 or i + 1 == len(loader):
                self.opt.step()
                self.opt.zero_grad()


Trainer(torch.nn.Linear(4, 1)).fit(loader)
""",
    "micro loop": """\
import torch

net = torch.nn.Linear(4, 1)
opt = torch.optim.AdamW(net.parameters())
for step in range(100):
    opt.zero_grad()
    for micro in range(4):
        x, y = get_batch()
        (torch.nn.functional.mse_loss(net(x), y) / 4).backward()
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)  # <- GL307
    opt.step()
""",
}

GL308 = {
    "function": """\
import torch


def train(net, loader):
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for x, y in loader:
        scaler = torch.cuda.amp.GradScaler()  # <- GL308
        opt.zero_grad()
        scaler.scale(torch.nn.functional.mse_loss(net(x), y)).backward()
        scaler.step(opt)
        scaler.update()
""",
    "step function": """\
import torch


def step(net, opt, x, y):
    scaler = torch.amp.GradScaler("cuda")  # <- GL308
    with torch.autocast("cuda"):
        loss = torch.nn.functional.mse_loss(net(x), y)
    opt.zero_grad()
    scaler.scale(loss).backward()
    scaler.step(opt)
    scaler.update()


def main(net, loader):
    opt = torch.optim.Adam(net.parameters())
    for x, y in loader:
        step(net, opt, x, y)
""",
    "method": """\
import torch


class Trainer:
    def __init__(self, net):
        self.net = net
        self.opt = torch.optim.Adam(net.parameters())

    def train_batch(self, x, y):
        self.scaler = torch.cuda.amp.GradScaler()  # <- GL308
        self.opt.zero_grad()
        self.scaler.scale(torch.nn.functional.mse_loss(self.net(x), y)).backward()
        self.scaler.step(self.opt)
        self.scaler.update()

    def fit(self, loader):
        for x, y in loader:
            self.train_batch(x, y)


Trainer(torch.nn.Linear(4, 1)).fit(loader)
""",
}


@pytest.mark.parametrize("text", programs(GL301))
def test_clip_before_unscale(text: str) -> None:
    assert certain(text) == Project.of(text).marked() != []


@pytest.mark.parametrize("text", programs(GL302))
def test_step_bypasses_scaler(text: str) -> None:
    assert certain(text) == Project.of(text).marked() != []


@pytest.mark.parametrize("text", programs(GL303))
def test_scaler_never_updated(text: str) -> None:
    assert certain(text) == Project.of(text).marked() != []


@pytest.mark.parametrize("text", programs(GL304))
def test_clip_without_effect(text: str) -> None:
    assert certain(text) == Project.of(text).marked() != []


@pytest.mark.parametrize("text", programs(GL307))
def test_clip_inside_window(text: str) -> None:
    assert certain(text) == Project.of(text).marked() != []


@pytest.mark.parametrize("text", programs(GL308))
def test_scaler_recreated(text: str) -> None:
    assert certain(text) == Project.of(text).marked() != []
