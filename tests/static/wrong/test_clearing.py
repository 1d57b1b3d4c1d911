"""Gradients that are cleared too late, too early or too often are found in every structure."""

from __future__ import annotations

import pytest

from tests.static.project import Project, certain, programs

GL101 = {
    "function with arguments": """\
import torch


def train(model, loader, optimizer, criterion, device):
    model.train()
    for data, target in loader:
        data, target = data.to(device), target.to(device)
        loss = criterion(model(data), target)
        loss.backward()  # <- GL101
        optimizer.step()


def main(loader):
    model = torch.nn.Linear(4, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(10):
        train(model, loader, optimizer, torch.nn.CrossEntropyLoss(), "cpu")
""",
    "class": """\
import torch


class Trainer:
    def __init__(self, model, lr):
        self.model = model
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=lr)

    def train_step(self, x, y):
        loss = torch.nn.functional.cross_entropy(self.model(x), y)
        loss.backward()  # <- GL101
        self.optimizer.step()
        return loss.item()

    def fit(self, loader):
        for x, y in loader:
            self.train_step(x, y)


Trainer(torch.nn.Linear(4, 2), 0.1).fit(loader)
""",
    "zero once per epoch": """\
import torch

net = torch.nn.Linear(4, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for epoch in range(3):
    opt.zero_grad()
    for x, y in loader:
        torch.nn.functional.mse_loss(net(x), y).backward()  # <- GL101
        opt.step()
""",
    "helper of another module": """\
# file: train.py
import torch
from steps import update

model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in loader:
    loss = torch.nn.functional.mse_loss(model(x), y)
    loss.backward()  # <- GL101
    update(optimizer, model.parameters())
# file: steps.py
import torch


def update(optimizer, parameters, max_norm=1.0):
    torch.nn.utils.clip_grad_norm_(parameters, max_norm)
    optimizer.step()
""",
    "beside a right function": """\
import torch


def pretrain(model, loader):
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in loader:
        opt.zero_grad()
        torch.nn.functional.mse_loss(model(x), y).backward()
        opt.step()


def finetune(model, loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for x, y in loader:
        torch.nn.functional.mse_loss(model(x), y).backward()  # <- GL101
        optimizer.step()
""",
    "beside a right class": """\
import torch


class Teacher:
    def __init__(self, net):
        self.net = net
        self.optimizer = torch.optim.Adam(net.parameters())

    def fit(self, loader):
        for x, y in loader:
            self.optimizer.zero_grad()
            torch.nn.functional.mse_loss(self.net(x), y).backward()
            self.optimizer.step()


class Student:
    def __init__(self, net):
        self.net = net
        self.optimizer = torch.optim.Adam(net.parameters())

    def fit(self, loader):
        for x, y in loader:
            torch.nn.functional.mse_loss(self.net(x), y).backward()  # <- GL101
            self.optimizer.step()
""",
    "iter and next": """\
import torch


def run(net, loader, steps):
    optim = torch.optim.AdamW(net.parameters())
    batches = iter(loader)
    for step in range(steps):
        x, y = next(batches)
        loss = torch.nn.functional.mse_loss(net(x), y)
        loss.backward()  # <- GL101
        optim.step()
""",
    "while loop": """\
import torch

net = torch.nn.Linear(4, 1)
sgd = torch.optim.SGD(net.parameters(), lr=0.1)
step = 0
while step < 1000:
    x, y = sample(32)
    loss = torch.nn.functional.mse_loss(net(x), y)
    loss.backward()  # <- GL101
    sgd.step()
    step += 1
""",
    "dict of optimizers": """\
import torch

nets = {"a": torch.nn.Linear(4, 1), "b": torch.nn.Linear(4, 1)}
optimizers = {name: torch.optim.Adam(net.parameters()) for name, net in nets.items()}
for x, y in loader:
    for name, net in nets.items():
        loss = torch.nn.functional.mse_loss(net(x), y)
        loss.backward()  # <- GL101
        optimizers[name].step()
""",
    "by hand": """\
import torch

w = torch.zeros(4, 1, requires_grad=True)
for epoch in range(100):
    loss = (X @ w - Y).pow(2).mean()
    loss.backward()  # <- GL101
    with torch.no_grad():
        w -= 0.1 * w.grad
""",
    "not called": """\
import torch


def fit(net, loader):
    optimizer = torch.optim.Adam(net.parameters())
    for x, y in loader:
        optimizer.zero_grad  # <- GL101
        torch.nn.functional.mse_loss(net(x), y).backward()
        optimizer.step()
""",
    "amp arm": """\
import torch

net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cuda")
for x, y in loader:
    with torch.autocast("cuda"):
        loss = torch.nn.functional.mse_loss(net(x), y)
    scaler.scale(loss).backward()  # <- GL101
    scaler.step(optimizer)
    scaler.update()
""",
    "until the loss is small": """\
import torch

net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
steps = 0
while True:
    loss = torch.nn.functional.mse_loss(net(x), y)
    loss.backward()  # <- GL101
    optimizer.step()
    steps += 1
    if loss.item() < 1e-3 or steps >= 500:
        break
""",
    "stopped early by a helper": """\
import torch


class Regressor:
    def __init__(self):
        self.net = torch.nn.Linear(4, 1)
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.1)

    def fit(self, x, y, stopper):
        for step in range(200):
            loss = torch.nn.functional.mse_loss(self.net(x), y)
            loss.backward()  # <- GL101
            self.optimizer.step()
            if stopper.should_stop(loss.item()):
                print("stopped at", step)
                break


Regressor().fit(inputs, targets, stopper)
""",
}

GL102 = {
    "function": """\
import torch


def train(model, loader, criterion):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in loader:
        loss = criterion(model(x), y)
        loss.backward()
        optimizer.zero_grad()  # <- GL102
        optimizer.step()
""",
    "method of a class": """\
import torch


class Agent:
    def __init__(self, policy):
        self.policy = policy
        self.optimizer = torch.optim.Adam(policy.parameters())

    def update(self, loss):
        loss.backward()
        self.policy.zero_grad()  # <- GL102
        torch.nn.utils.clip_grad_norm_(self.policy.parameters(), 1.0)
        self.optimizer.step()

    def learn(self, rollouts):
        for s, a in rollouts:
            self.update(-self.policy(s).gather(1, a).mean())


Agent(torch.nn.Linear(4, 2)).learn(rollouts)
""",
    "helper in another module": """\
# file: main.py
import torch
from tools import apply

net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for x, y in loader:
    torch.nn.functional.mse_loss(net(x), y).backward()
    apply(optimizer)
# file: tools.py
def apply(opt):
    opt.zero_grad()  # <- GL102
    opt.step()
""",
    "amp": """\
import torch

net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
scaler = torch.cuda.amp.GradScaler()
for x, y in loader:
    loss = torch.nn.functional.mse_loss(net(x), y)
    scaler.scale(loss).backward()
    optimizer.zero_grad()  # <- GL102
    scaler.step(optimizer)
    scaler.update()
""",
    "list of optimizers": """\
import torch

nets = [torch.nn.Linear(4, 1), torch.nn.Linear(4, 1)]
opts = [torch.optim.SGD(net.parameters(), lr=0.1) for net in nets]
for x, y in loader:
    sum(torch.nn.functional.mse_loss(net(x), y) for net in nets).backward()
    for opt in opts:
        opt.zero_grad()  # <- GL102
        opt.step()
""",
}

GL103 = {
    "function": """\
import torch


def train(net, loader, n):
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for i, (x, y) in enumerate(loader):
        opt.zero_grad()  # <- GL103
        loss = torch.nn.functional.mse_loss(net(x), y) / n
        loss.backward()
        if (i + 1) % n == 0 or i + 1 == len(loader):
            opt.step()
""",
    "class with a counter": """\
import torch


class Trainer:
    def __init__(self, net):
        self.net, self.pending, self.accumulate = net, 0, 4
        self.optim = torch.optim.Adam(net.parameters())

    def step(self, x, y):
        self.net.zero_grad()  # <- GL103
        loss = torch.nn.functional.mse_loss(self.net(x), y) / self.accumulate
        loss.backward()
        self.pending += 1
        if self.pending == self.accumulate:
            self.optim.step()
            self.pending = 0


def main(loader):
    trainer = Trainer(torch.nn.Linear(4, 1))
    for x, y in loader:
        trainer.step(x, y)
""",
    "inner micro loop": """\
import torch

net = torch.nn.Linear(4, 1)
optimizer = torch.optim.AdamW(net.parameters())
for step in range(1000):
    for micro in range(4):
        x, y = get_batch()
        optimizer.zero_grad(set_to_none=True)  # <- GL103
        loss = torch.nn.functional.mse_loss(net(x), y) / 4
        loss.backward()
    optimizer.step()
""",
    "none loop with a scaler": """\
import torch


def main(net, loader, steps=4):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    scaler = torch.cuda.amp.GradScaler()
    for i, (x, y) in enumerate(loader):
        for p in net.parameters():
            p.grad = None  # <- GL103
        loss = torch.nn.functional.cross_entropy(net(x), y) / steps
        scaler.scale(loss).backward()
        if (i + 1) % steps == 0:
            scaler.step(optimizer)
            scaler.update()
""",
    "accelerate": """\
import torch
from accelerate import Accelerator

accelerator = Accelerator(gradient_accumulation_steps=4)
net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
net, optimizer, loader = accelerator.prepare(net, optimizer, loader)
for x, y in loader:
    with accelerator.accumulate(net):
        optimizer.zero_grad()  # <- GL103
        loss = torch.nn.functional.mse_loss(net(x), y)
        accelerator.backward(loss)
        optimizer.step()
""",
}


@pytest.mark.parametrize("text", programs(GL101))
def test_stale_gradient(text: str) -> None:
    assert certain(text) == Project.of(text).marked() != []


@pytest.mark.parametrize("text", programs(GL102))
def test_cleared_before_step(text: str) -> None:
    assert certain(text) == Project.of(text).marked() != []


@pytest.mark.parametrize("text", programs(GL103))
def test_cleared_inside_window(text: str) -> None:
    assert certain(text) == Project.of(text).marked() != []
