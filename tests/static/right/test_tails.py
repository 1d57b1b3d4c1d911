"""A short last window that is stepped, carried over or left out on purpose is no leak."""

from __future__ import annotations

import pytest

from tests.static.project import programs, said

PLAIN = {
    "or the last batch": """\
import torch

model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
accum_iter = 4
for epoch in range(3):
    for batch_idx, (x, y) in enumerate(loader):
        loss = torch.nn.functional.mse_loss(model(x), y) / accum_iter
        loss.backward()
        if ((batch_idx + 1) % accum_iter == 0) or (batch_idx + 1 == len(loader)):
            optimizer.step()
            optimizer.zero_grad()
""",
    "flush after the loop in a function": """\
import torch


def train_epoch(model, loader, optimizer, n):
    pending = 0
    for x, y in loader:
        loss = torch.nn.functional.cross_entropy(model(x), y) / n
        loss.backward()
        pending += 1
        if pending == n:
            optimizer.step()
            optimizer.zero_grad()
            pending = 0
    if pending:
        optimizer.step()
        optimizer.zero_grad()


def main(model, loader):
    optimizer = torch.optim.Adam(model.parameters())
    for epoch in range(10):
        train_epoch(model, loader, optimizer, 4)
""",
    "past the last full window": """\
import torch


class Trainer:
    def __init__(self, net, loader, n):
        self.net, self.loader, self.n = net, loader, n
        self.optimizer = torch.optim.SGD(net.parameters(), lr=0.1)

    def train(self):
        usable = len(self.loader) // self.n * self.n
        for epoch in range(5):
            for i, (x, y) in enumerate(self.loader):
                if i >= usable:
                    break
                loss = torch.nn.functional.mse_loss(self.net(x), y) / self.n
                loss.backward()
                if (i + 1) % self.n == 0:
                    self.optimizer.step()
                    self.optimizer.zero_grad()
""",
    "continue past the last full window": """\
import torch

net = torch.nn.Linear(4, 1)
opt = torch.optim.Adam(net.parameters())
n = 4
for epoch in range(3):
    for i, (x, y) in enumerate(loader):
        if i >= (len(loader) // n) * n:
            continue
        (torch.nn.functional.mse_loss(net(x), y) / n).backward()
        if (i + 1) % n == 0:
            opt.step()
            opt.zero_grad()
""",
    "counter over epochs": """\
import torch

model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
accumulate, seen = 4, 0
for epoch in range(10):
    for x, y in loader:
        loss = torch.nn.functional.mse_loss(model(x), y) / accumulate
        loss.backward()
        seen += 1
        if seen % accumulate == 0:
            optimizer.step()
            optimizer.zero_grad()
""",
    "yolov5 style warm-up and running counter": """\
import torch


def train(model, train_loader, epochs, nbs=64, batch_size=16):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    scaler = torch.cuda.amp.GradScaler(enabled=True)
    accumulate = max(round(nbs / batch_size), 1)
    last_opt_step = -1
    nb = len(train_loader)
    optimizer.zero_grad()
    for epoch in range(epochs):
        for i, (imgs, targets) in enumerate(train_loader):
            ni = i + nb * epoch
            with torch.cuda.amp.autocast():
                loss, items = model(imgs, targets)
            scaler.scale(loss).backward()
            if ni - last_opt_step >= accumulate:
                scaler.unscale_(optimizer)
                torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm=10.0)
                scaler.step(optimizer)
                scaler.update()
                optimizer.zero_grad()
                last_opt_step = ni
""",
    "self.global_step over epochs": """\
import torch


class Learner:
    def __init__(self, net, n):
        self.net, self.n = net, n
        self.global_step = 0
        self.optimizer = torch.optim.Adam(self.net.parameters())

    def run_epoch(self, loader):
        for x, y in loader:
            loss = torch.nn.functional.cross_entropy(self.net(x), y) / self.n
            loss.backward()
            self.global_step += 1
            if self.global_step % self.n == 0:
                self.optimizer.step()
                self.optimizer.zero_grad()


def main(net, loader):
    learner = Learner(net, 4)
    for epoch in range(20):
        learner.run_epoch(loader)
""",
    "inner micro loop": """\
import torch


def main(model, get_batch, steps, micro_steps):
    optimizer = torch.optim.AdamW(model.parameters())
    for step in range(steps):
        optimizer.zero_grad(set_to_none=True)
        for micro in range(micro_steps):
            x, y = get_batch()
            loss = torch.nn.functional.cross_entropy(model(x), y) / micro_steps
            loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
""",
    "infinite iterator": """\
import itertools

import torch

net = torch.nn.Linear(4, 1)
opt = torch.optim.Adam(net.parameters())
batches = itertools.cycle(torch.utils.data.DataLoader(dataset, batch_size=4))
for update in range(1000):
    opt.zero_grad()
    for _ in range(8):
        x, y = next(batches)
        loss = torch.nn.functional.mse_loss(net(x), y)
        (loss / 8).backward()
    opt.step()
""",
    "enumerate from one": """\
import torch


def train(model, dataloader, optimizer, criterion, accum_steps):
    for epoch in range(10):
        optimizer.zero_grad()
        for step, (inputs, labels) in enumerate(dataloader, 1):
            loss = criterion(model(inputs), labels) / accum_steps
            loss.backward()
            if step % accum_steps == 0 or step == len(dataloader):
                optimizer.step()
                optimizer.zero_grad()
""",
}


@pytest.mark.parametrize("text", programs(PLAIN))
def test_nothing_is_said(text: str) -> None:
    assert said(text) == []
