"""Replicas that reduce once per window, at its last forward, are right."""

from __future__ import annotations

import pytest

from tests.static.project import programs, said

PLAIN = {
    "nullcontext at the last": """\
from contextlib import nullcontext

import torch
from torch.nn.parallel import DistributedDataParallel as DDP

model = DDP(torch.nn.Linear(4, 1).cuda(), device_ids=[0])
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
n = 4
for i, (x, y) in enumerate(loader):
    last = (i + 1) % n == 0 or i + 1 == len(loader)
    with nullcontext() if last else model.no_sync():
        loss = torch.nn.functional.mse_loss(model(x), y) / n
        loss.backward()
    if last:
        optimizer.step()
        optimizer.zero_grad()
""",
    "forward alone in the context": """\
import contextlib

import torch
from torch.nn.parallel import DistributedDataParallel


def train(module, loader, n):
    ddp = DistributedDataParallel(module)
    optimizer = torch.optim.AdamW(ddp.parameters())
    for i, (x, y) in enumerate(loader):
        closing = (i + 1) % n == 0 or i + 1 == len(loader)
        context = contextlib.nullcontext if closing else ddp.no_sync
        with context():
            out = ddp(x)
        loss = torch.nn.functional.cross_entropy(out, y) / n
        loss.backward()
        if closing:
            optimizer.step()
            optimizer.zero_grad()
""",
    "two arms with a shared method": """\
import torch
from torch.nn.parallel import DistributedDataParallel as DDP


class Trainer:
    def __init__(self, net, n):
        self.model = DDP(net)
        self.n = n
        self.optimizer = torch.optim.Adam(self.model.parameters())

    def forward_backward(self, x, y):
        loss = torch.nn.functional.mse_loss(self.model(x), y) / self.n
        loss.backward()

    def fit(self, loader):
        for i, (x, y) in enumerate(loader):
            if (i + 1) % self.n != 0 and i + 1 != len(loader):
                with self.model.no_sync():
                    self.forward_backward(x, y)
            else:
                self.forward_backward(x, y)
                self.optimizer.step()
                self.optimizer.zero_grad()
""",
    "micro loop with the last one outside": """\
import torch
from torch.nn.parallel import DistributedDataParallel as DDP

model = DDP(torch.nn.Linear(4, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in loader:
    optimizer.zero_grad()
    *first, last = list(zip(x.chunk(4), y.chunk(4)))
    with model.no_sync():
        for a, b in first:
            (torch.nn.functional.mse_loss(model(a), b) / 4).backward()
    a, b = last
    (torch.nn.functional.mse_loss(model(a), b) / 4).backward()
    optimizer.step()
""",
    "flag of the wrapper": """\
import torch
from torch.nn.parallel import DistributedDataParallel as DDP


def main(net, get_batch, steps, micro_steps):
    model = DDP(net)
    optimizer = torch.optim.AdamW(net.parameters())
    for step in range(steps):
        for micro in range(micro_steps):
            model.require_backward_grad_sync = micro == micro_steps - 1
            x, y = get_batch()
            loss = torch.nn.functional.cross_entropy(model(x), y) / micro_steps
            loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
""",
    "no window, no context": """\
import torch
from torch.nn.parallel import DistributedDataParallel as DDP


def run(rank, dataset, epochs):
    torch.distributed.init_process_group("nccl")
    model = DDP(torch.nn.Linear(4, 2).to(rank), device_ids=[rank])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    sampler = torch.utils.data.distributed.DistributedSampler(dataset)
    loader = torch.utils.data.DataLoader(dataset, sampler=sampler, batch_size=32)
    for epoch in range(epochs):
        sampler.set_epoch(epoch)
        for x, y in loader:
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(x.to(rank)), y.to(rank)).backward()
            optimizer.step()
""",
    "reduced by hand": """\
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

model = DDP(torch.nn.Linear(4, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in loader:
    optimizer.zero_grad()
    with model.no_sync():
        torch.nn.functional.mse_loss(model(x), y).backward()
    for p in model.parameters():
        dist.all_reduce(p.grad)
        p.grad /= dist.get_world_size()
    optimizer.step()
""",
}


@pytest.mark.parametrize("text", programs(PLAIN))
def test_nothing_is_said(text: str) -> None:
    assert said(text) == []
