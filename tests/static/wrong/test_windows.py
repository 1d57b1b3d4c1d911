"""Mistakes in accumulation windows and their schedules are found in every structure."""

from __future__ import annotations

import pytest

from tests.static.project import Project, certain, programs

GL201 = {
    "a scaler that is switched off unscales nothing": """\
import torch

net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cpu", enabled=False)
for i, (x, y) in enumerate(loader):
    scaler.scale(torch.nn.functional.mse_loss(net(x), y)).backward()  # <- GL201
    if (i + 1) % 4 == 0 or i + 1 == len(loader):
        scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()
""",
    "function": """\
import torch


def train(net, loader, criterion, accumulation_steps):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for i, (x, y) in enumerate(loader):
        loss = torch.nn.functional.cross_entropy(net(x), y)
        loss.backward()  # <- GL201
        if (i + 1) % accumulation_steps == 0 or i + 1 == len(loader):
            optimizer.step()
            optimizer.zero_grad()
""",
    "class with amp": """\
import torch


class Trainer:
    def __init__(self, net, n=4):
        self.net, self.n = net, n
        self.optimizer = torch.optim.AdamW(net.parameters())
        self.scaler = torch.cuda.amp.GradScaler()

    def epoch(self, loader):
        for i, (x, y) in enumerate(loader):
            with torch.cuda.amp.autocast():
                loss = torch.nn.functional.mse_loss(self.net(x), y)
            self.scaler.scale(loss).backward()  # <- GL201
            if (i + 1) % self.n == 0 or i + 1 == len(loader):
                self.scaler.step(self.optimizer)
                self.scaler.update()
                self.optimizer.zero_grad()


Trainer(torch.nn.Linear(4, 1)).epoch(loader)
""",
    "inner micro loop": """\
import torch

net = torch.nn.Linear(4, 2)
optimizer = torch.optim.Adam(net.parameters())
grad_accum = 8
for step in range(1000):
    optimizer.zero_grad()
    for micro_step in range(grad_accum):
        x, y = get_batch("train")
        loss = torch.nn.functional.cross_entropy(net(x), y)
        loss.backward()  # <- GL201
    optimizer.step()
""",
    "counter": """\
import torch


def fit(net, loader):
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    opt.zero_grad()
    waiting = 0
    for x, y in loader:
        torch.nn.functional.mse_loss(net(x), y).backward()  # <- GL201
        waiting += 1
        if waiting == 4:
            opt.step()
            opt.zero_grad()
            waiting = 0
    if waiting:
        opt.step()
        opt.zero_grad()
""",
    "as many windows as an iterator holds": """\
import torch
from torch.utils.data import DataLoader, TensorDataset

loader = DataLoader(TensorDataset(torch.randn(200, 4), torch.randn(200, 1)), batch_size=10)
net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
micro_batches = 5
for epoch in range(3):
    batches = iter(loader)
    for update in range(len(loader) // micro_batches):
        optimizer.zero_grad()
        for micro in range(micro_batches):
            x, y = next(batches)
            torch.nn.functional.mse_loss(net(x), y).backward()  # <- GL201
        optimizer.step()
""",
    "full windows only": """\
import torch

net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
full = len(loader) // 4 * 4
for i, (x, y) in enumerate(loader):
    if i >= full:
        break
    torch.nn.functional.mse_loss(net(x), y).backward()  # <- GL201
    if (i + 1) % 4 == 0:
        optimizer.step()
        optimizer.zero_grad()
""",
}

GL204 = {
    "function": """\
import torch


def train(net, loader, n):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for batch_idx, (x, y) in enumerate(loader):
        loss = torch.nn.functional.mse_loss(net(x), y) / n
        loss.backward()
        if batch_idx % n == 0:
            optimizer.step()  # <- GL204
            optimizer.zero_grad()
""",
    "class": """\
import torch


class Trainer:
    def __init__(self, net):
        self.net, self.every = net, 4
        self.opt = torch.optim.Adam(net.parameters())

    def fit(self, loader):
        for step, (x, y) in enumerate(loader):
            (torch.nn.functional.mse_loss(self.net(x), y) / self.every).backward()
            if step % self.every == 0:
                self.opt.step()  # <- GL204
                self.opt.zero_grad()


Trainer(torch.nn.Linear(4, 1)).fit(loader)
""",
    "amp": """\
import torch

net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
scaler = torch.cuda.amp.GradScaler()
for i, (x, y) in enumerate(loader):
    loss = torch.nn.functional.mse_loss(net(x), y) / 4
    scaler.scale(loss).backward()
    if not i % 4:
        scaler.step(optimizer)  # <- GL204
        scaler.update()
        optimizer.zero_grad()
""",
    "zip and range": """\
import torch


def main(net, data, n=4):
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    opt.zero_grad()
    for i, (x, y) in zip(range(1000), data):
        (torch.nn.functional.mse_loss(net(x), y) / n).backward()
        if i % n == 0:
            opt.step()  # <- GL204
            opt.zero_grad()
""",
}

GL205 = {
    "function": """\
import torch


def train(net, loader, epochs, n):
    opt = torch.optim.AdamW(net.parameters())
    updates = epochs * len(loader) // n
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=updates)
    for epoch in range(epochs):
        for i, (x, y) in enumerate(loader):
            (torch.nn.functional.mse_loss(net(x), y) / n).backward()
            if (i + 1) % n == 0 or i + 1 == len(loader):
                opt.step()
                opt.zero_grad()
            sched.step()  # <- GL205
""",
    "class": """\
import torch


class Trainer:
    def __init__(self, net, loader):
        self.net, self.loader, self.n = net, loader, 4
        self.optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        self.scheduler = torch.optim.lr_scheduler.LinearLR(
            self.optimizer, total_iters=len(loader) // self.n
        )

    def fit(self):
        for i, (x, y) in enumerate(self.loader):
            (torch.nn.functional.mse_loss(self.net(x), y) / self.n).backward()
            self.scheduler.step()  # <- GL205
            if (i + 1) % self.n == 0 or i + 1 == len(self.loader):
                self.optimizer.step()
                self.optimizer.zero_grad()


Trainer(torch.nn.Linear(4, 1), loader).fit()
""",
    "inner micro loop": """\
import torch

net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
steps = 1000
scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=0.1, total_steps=steps)
for step in range(steps):
    optimizer.zero_grad()
    for micro in range(4):
        x, y = get_batch()
        (torch.nn.functional.mse_loss(net(x), y) / 4).backward()
        scheduler.step()  # <- GL205
    optimizer.step()
""",
}

GL206 = {
    "function": """\
import torch


def train(net, loader, epochs):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=30)
    for epoch in range(epochs):
        scheduler.step()  # <- GL206
        for x, y in loader:
            optimizer.zero_grad()
            torch.nn.functional.mse_loss(net(x), y).backward()
            optimizer.step()
""",
    "class": """\
import torch


class Trainer:
    def __init__(self, net):
        self.net = net
        self.opt = torch.optim.Adam(net.parameters())
        self.sched = torch.optim.lr_scheduler.ExponentialLR(self.opt, 0.9)

    def step(self, x, y):
        self.opt.zero_grad()
        torch.nn.functional.mse_loss(self.net(x), y).backward()
        self.sched.step()  # <- GL206
        self.opt.step()

    def fit(self, loader):
        for x, y in loader:
            self.step(x, y)


Trainer(torch.nn.Linear(4, 1)).fit(loader)
""",
    "dict of optimizers": """\
import torch

nets = {"g": torch.nn.Linear(4, 4), "d": torch.nn.Linear(4, 1)}
optimizers = {k: torch.optim.Adam(v.parameters()) for k, v in nets.items()}
schedulers = {k: torch.optim.lr_scheduler.StepLR(o, 10) for k, o in optimizers.items()}
for x, y in loader:
    for optimizer in optimizers.values():
        optimizer.zero_grad()
    torch.nn.functional.mse_loss(nets["d"](nets["g"](x)), y).backward()
    for scheduler in schedulers.values():
        scheduler.step()  # <- GL206
    for optimizer in optimizers.values():
        optimizer.step()
""",
    "while loop": """\
import torch


def main(net, sample, steps):
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    sched = torch.optim.lr_scheduler.MultiStepLR(opt, milestones=[100, 200])
    i = 0
    while i < steps:
        x, y = sample()
        sched.step()  # <- GL206
        opt.zero_grad()
        torch.nn.functional.mse_loss(net(x), y).backward()
        opt.step()
        i += 1
""",
}


@pytest.mark.parametrize("text", programs(GL201))
def test_unscaled_window(text: str) -> None:
    assert certain(text) == Project.of(text).marked() != []


@pytest.mark.parametrize("text", programs(GL204))
def test_short_first_window(text: str) -> None:
    assert certain(text) == Project.of(text).marked() != []


@pytest.mark.parametrize("text", programs(GL205))
def test_scheduler_per_microbatch(text: str) -> None:
    assert certain(text) == Project.of(text).marked() != []


@pytest.mark.parametrize("text", programs(GL206))
def test_scheduler_before_step(text: str) -> None:
    assert certain(text) == Project.of(text).marked() != []


TAIL = """\
import torch

net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
n = 4
for i, (x, y) in enumerate(loader):
    loss = torch.nn.functional.mse_loss(net(x), y)
    loss.backward()
    if {guard}:
        optimizer.step()
        optimizer.zero_grad()
"""


@pytest.mark.parametrize("guard", ["(i + 1) % n == 0", "(i + 1) % n == 0 or i + 1 == len(loader)"])
def test_the_window_is_as_long_as_it_is_written(guard: str) -> None:
    (finding,) = (f for f in Project.of(TAIL.format(guard=guard)).judged().findings if f.code == "GL201")
    assert "without dividing by 4:" in finding.message
