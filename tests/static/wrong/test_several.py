"""Mistakes between several optimizers or several replicas are found in every structure."""

from __future__ import annotations

import pytest

from tests.static.project import Project, certain, programs

GL401 = {
    "function": """\
import torch


def train(loader):
    G, D = torch.nn.Linear(8, 4), torch.nn.Linear(4, 1)
    opt_g = torch.optim.Adam(G.parameters())
    opt_d = torch.optim.Adam(D.parameters())
    for real in loader:
        z = torch.randn(len(real), 8)
        opt_g.zero_grad()
        (-D(G(z)).mean()).backward()
        opt_g.step()
        (D(G(z).detach()).mean() - D(real).mean()).backward()
        opt_d.step()  # <- GL401
        opt_d.zero_grad()


train(loader)
""",
    "class": """\
import torch


class GAN:
    def __init__(self):
        self.G, self.D = torch.nn.Linear(8, 4), torch.nn.Linear(4, 1)
        self.opt_g = torch.optim.Adam(self.G.parameters())
        self.opt_d = torch.optim.Adam(self.D.parameters())

    def generator_step(self, z):
        self.opt_g.zero_grad()
        loss = -self.D(self.G(z)).mean()
        loss.backward()
        self.opt_g.step()

    def critic_step(self, real, z):
        loss = self.D(self.G(z).detach()).mean() - self.D(real).mean()
        loss.backward()
        self.opt_d.step()  # <- GL401
        self.opt_d.zero_grad()

    def fit(self, loader):
        for real in loader:
            z = torch.randn(len(real), 8)
            self.generator_step(z)
            self.critic_step(real, z)


GAN().fit(loader)
""",
    "dict of optimizers": """\
import torch

nets = {"actor": torch.nn.Linear(4, 2), "critic": torch.nn.Linear(2, 1)}
opts = {name: torch.optim.Adam(net.parameters()) for name, net in nets.items()}
for s, a, target in loader:
    opts["actor"].zero_grad()
    actor_loss = -nets["critic"](nets["actor"](s)).mean()
    actor_loss.backward()
    opts["actor"].step()
    critic_loss = (nets["critic"](a) - target).pow(2).mean()
    critic_loss.backward()
    opts["critic"].step()  # <- GL401
    opts["critic"].zero_grad()
""",
}

GL501 = {
    "function": """\
import torch
from torch.nn.parallel import DistributedDataParallel as DDP


def train(net, loader, n):
    model = DDP(net)
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    for i, (x, y) in enumerate(loader):
        loss = torch.nn.functional.mse_loss(model(x), y) / n
        loss.backward()  # <- GL501
        if (i + 1) % n == 0 or i + 1 == len(loader):
            opt.step()
            opt.zero_grad()
""",
    "class": """\
import torch
from torch.nn.parallel import DistributedDataParallel


class Trainer:
    def __init__(self, net):
        self.model = DistributedDataParallel(net, device_ids=[0])
        self.opt = torch.optim.Adam(self.model.parameters())
        self.n = 4

    def fit(self, loader):
        for i, (x, y) in enumerate(loader):
            (torch.nn.functional.mse_loss(self.model(x), y) / self.n).backward()  # <- GL501
            if (i + 1) % self.n == 0 or i + 1 == len(loader):
                self.opt.step()
                self.opt.zero_grad()


Trainer(torch.nn.Linear(4, 1)).fit(loader)
""",
    "no_sync around the backward alone, counted from one": """\
import torch
from elsewhere import Net, data, options

steps = options.batch_size // options.micro_batch_size
model = torch.nn.parallel.DistributedDataParallel(Net())
opt = torch.optim.AdamW(model.parameters(), lr=1e-3)
for step in range(100):
    for i in range(1, steps + 1):
        loss = model(data.next_batch())
        if i < steps:
            with model.no_sync():
                loss.backward()  # <- GL501
        else:
            loss.backward()
    for p in model.parameters():
        p.grad /= steps
    opt.step()
    model.zero_grad(set_to_none=True)
""",
    "no_sync around the backward alone": """\
import contextlib

import torch

model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(4, 1))
opt = torch.optim.SGD(model.parameters(), lr=0.1)
n = 4
for i, (x, y) in enumerate(loader):
    last = (i + 1) % n == 0 or i + 1 == len(loader)
    loss = torch.nn.functional.mse_loss(model(x), y) / n
    with contextlib.nullcontext() if last else model.no_sync():
        loss.backward()  # <- GL501
    if last:
        opt.step()
        opt.zero_grad()
""",
}

GL502 = {
    "function": """\
import torch
from torch.nn.parallel import DistributedDataParallel as DDP


def train(net, loader, n):
    model = DDP(net)
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    for i, (x, y) in enumerate(loader):
        with model.no_sync():
            loss = torch.nn.functional.mse_loss(model(x), y) / n
            loss.backward()
        if (i + 1) % n == 0 or i + 1 == len(loader):
            opt.step()  # <- GL502
            opt.zero_grad()
""",
    "class": """\
import torch
from torch.nn.parallel import DistributedDataParallel as DDP


class Trainer:
    def __init__(self, net):
        self.model = DDP(net)
        self.opt = torch.optim.Adam(self.model.parameters())

    def forward_backward(self, x, y):
        with self.model.no_sync():
            torch.nn.functional.mse_loss(self.model(x), y).backward()

    def fit(self, loader):
        for x, y in loader:
            self.opt.zero_grad()
            self.forward_backward(x, y)
            self.opt.step()  # <- GL502


Trainer(torch.nn.Linear(4, 1)).fit(loader)
""",
    "micro loop": """\
import torch

model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(4, 1))
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(100):
    opt.zero_grad()
    with model.no_sync():
        for micro in range(4):
            x, y = get_batch()
            (torch.nn.functional.mse_loss(model(x), y) / 4).backward()
    opt.step()  # <- GL502
""",
}


@pytest.mark.parametrize("text", programs(GL401))
def test_cross_optimizer_leak(text: str) -> None:
    assert certain(text) == Project.of(text).marked() != []


@pytest.mark.parametrize("text", programs(GL501))
def test_sync_every_microbatch(text: str) -> None:
    assert certain(text) == Project.of(text).marked() != []


@pytest.mark.parametrize("text", programs(GL502))
def test_unsynced_step(text: str) -> None:
    assert certain(text) == Project.of(text).marked() != []
