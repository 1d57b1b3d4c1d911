"""A window can be averaged in many ways, and need not be where it is no window of micro-batches."""

from __future__ import annotations

import pytest

from tests.static.project import programs, said

PLAIN = {
    "gradients divided in place": """\
import torch

model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
N = 4
for epoch in range(3):
    for i, (x, y) in enumerate(loader):
        torch.nn.functional.mse_loss(model(x), y).backward()
        if (i + 1) % N == 0 or i + 1 == len(loader):
            for p in model.parameters():
                p.grad /= N
            optimizer.step()
            optimizer.zero_grad()
""",
    "gradients multiplied by the inverse": """\
import torch


class Trainer:
    def __init__(self, net, accum):
        self.net, self.accum = net, accum
        self.opt = torch.optim.Adam(net.parameters())

    def average_gradients(self):
        for p in self.net.parameters():
            if p.grad is not None:
                p.grad.mul_(1.0 / self.accum)

    def epoch(self, loader):
        self.opt.zero_grad()
        for step, (x, y) in enumerate(loader, start=1):
            torch.nn.functional.cross_entropy(self.net(x), y).backward()
            if step % self.accum == 0 or step == len(loader):
                self.average_gradients()
                self.opt.step()
                self.opt.zero_grad()
""",
    "torchtune scale_grads": """\
import torch
from torchtune import training


def train(model, loader, optimizer, accumulation, loss_fn):
    num_tokens, running_loss = 0, 0.0
    for idx, batch in enumerate(loader):
        current_num_tokens = (batch["labels"] != -100).sum()
        num_tokens += current_num_tokens
        current_loss = loss_fn(model(batch["tokens"]), batch["labels"]) * current_num_tokens
        running_loss += current_loss.detach()
        current_loss.backward()
        if (idx + 1) % accumulation == 0 or idx + 1 == len(loader):
            training.scale_grads(model, 1 / num_tokens)
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
            num_tokens, running_loss = 0, 0.0
""",
    "weighted by the chunk's share": """\
import torch


def train(model, loader, chunk):
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    for batch, target in loader:
        opt.zero_grad()
        for sub, t in zip(batch.split(chunk), target.split(chunk)):
            loss = torch.nn.functional.mse_loss(model(sub), t)
            loss = loss * len(sub) / len(batch)
            loss.backward()
        opt.step()
""",
    "smaller learning rate": """\
import torch

net = torch.nn.Linear(4, 1)
accumulation_steps = 8
optimizer = torch.optim.SGD(net.parameters(), lr=0.1 / accumulation_steps)
for i, (x, y) in enumerate(loader):
    loss = torch.nn.functional.mse_loss(net(x), y)
    loss.backward()
    if (i + 1) % accumulation_steps == 0 or i + 1 == len(loader):
        optimizer.step()
        optimizer.zero_grad()
""",
    "smaller learning rate in the groups": """\
import torch


def train(net, loader, n):
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for group in opt.param_groups:
        group["lr"] /= n
    for i, (x, y) in enumerate(loader):
        torch.nn.functional.mse_loss(net(x), y).backward()
        if (i + 1) % n == 0 or i + 1 == len(loader):
            opt.step()
            opt.zero_grad()
""",
    "smaller learning rate from arguments": """\
import torch


def train(net, loader, args):
    opt = torch.optim.SGD(net.parameters(), lr=args.lr / args.iter_size)
    for i, (x, y) in enumerate(loader):
        torch.nn.functional.mse_loss(net(x), y).backward()
        if (i + 1) % args.iter_size == 0 or i + 1 == len(loader):
            opt.step()
            opt.zero_grad()
""",
    "averaged by a hook": """\
import torch

net = torch.nn.Linear(4, 1)
n = 4
for p in net.parameters():
    p.register_hook(lambda g: g / n)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for i, (x, y) in enumerate(loader):
    torch.nn.functional.mse_loss(net(x), y).backward()
    if (i + 1) % n == 0 or i + 1 == len(loader):
        opt.step()
        opt.zero_grad()
""",
    "tasks with an iterator each": """\
import torch


def train(net, loaders, steps):
    opt = torch.optim.Adam(net.parameters())
    iterators = {task: iter(loader) for task, loader in loaders.items()}
    for step in range(steps):
        opt.zero_grad()
        for task in loaders:
            x, y = next(iterators[task])
            torch.nn.functional.cross_entropy(net(x, task), y).backward()
        opt.step()
""",
    "tasks of a list with an iterator each": """\
import torch


def train(net, tasks, iterators, steps):
    opt = torch.optim.Adam(net.parameters())
    for step in range(steps):
        opt.zero_grad()
        for task in tasks:
            x, y = next(iterators[task])
            torch.nn.functional.cross_entropy(net(x, task), y).backward()
        opt.step()
""",
    "tasks with a loader each": """\
import torch


def train(net, loaders, steps):
    opt = torch.optim.Adam(net.parameters())
    for step in range(steps):
        opt.zero_grad()
        for task, loader in loaders.items():
            x, y = next(iter(loader))
            torch.nn.functional.cross_entropy(net(x, task), y).backward()
        opt.step()
""",
    "sum reduction divided by the effective batch": """\
import torch

criterion = torch.nn.CrossEntropyLoss(reduction="sum")
model = torch.nn.Linear(4, 3)
optimizer = torch.optim.Adam(model.parameters())
micro, n = 8, 4
loader = torch.utils.data.DataLoader(dataset, batch_size=micro)
for i, (x, y) in enumerate(loader):
    loss = criterion(model(x), y) / (micro * n)
    loss.backward()
    if (i + 1) % n == 0 or i == len(loader) - 1:
        optimizer.step()
        optimizer.zero_grad()
""",
    "division in the loss function": """\
import torch


class AccumulatedLoss(torch.nn.Module):
    def __init__(self, n):
        super().__init__()
        self.n = n
        self.inner = torch.nn.CrossEntropyLoss()

    def forward(self, logits, target):
        return self.inner(logits, target) / self.n


def fit(model, loader, n):
    optimizer = torch.optim.AdamW(model.parameters())
    criterion = AccumulatedLoss(n)
    for i, (x, y) in enumerate(loader):
        criterion(model(x), y).backward()
        if (i + 1) % n == 0 or i + 1 == len(loader):
            optimizer.step()
            optimizer.zero_grad()
""",
    "backward with a gradient argument": """\
import torch

net = torch.nn.Linear(4, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
n = 4
weight = torch.tensor(1.0 / n)
for i, (x, y) in enumerate(loader):
    loss = torch.nn.functional.mse_loss(net(x), y)
    loss.backward(weight)
    if (i + 1) % n == 0 or i + 1 == len(loader):
        opt.step()
        opt.zero_grad()
""",
    "losses of tasks are added": """\
import torch

trunk = torch.nn.Linear(4, 8)
heads = torch.nn.ModuleDict({"a": torch.nn.Linear(8, 2), "b": torch.nn.Linear(8, 3)})
optimizer = torch.optim.Adam([*trunk.parameters(), *heads.parameters()])
for batch in loader:
    optimizer.zero_grad()
    for task, head in heads.items():
        x, y = batch[task]
        torch.nn.functional.cross_entropy(head(trunk(x)), y).backward()
    optimizer.step()
""",
    "time steps are added": """\
import torch


def train_sequences(cell, readout, sequences):
    params = list(cell.parameters()) + list(readout.parameters())
    optimizer = torch.optim.Adam(params)
    for sequence, target in sequences:
        optimizer.zero_grad()
        state = torch.zeros(1, 16)
        for x, y in zip(sequence, target):
            state = cell(x, state.detach())
            loss = torch.nn.functional.mse_loss(readout(state), y)
            loss.backward()
        optimizer.step()
""",
    "two loaders of one update": """\
import torch


def fit(model, labelled, unlabelled, lambda_u):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.03)
    for (x, y), u in zip(labelled, unlabelled):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(x), y).backward()
        (lambda_u * model.consistency(u)).backward()
        optimizer.step()
""",
}


@pytest.mark.parametrize("text", programs(PLAIN))
def test_nothing_is_said(text: str) -> None:
    assert said(text) == []
