"""The value is followed, not the text: a scaled loss may bear the old name."""

from __future__ import annotations

import pytest

from tests.static.project import programs, said

PLAIN = {
    "module level": """\
import torch

model = torch.nn.Linear(4, 1).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = torch.cuda.amp.GradScaler()
for x, y in loader:
    optimizer.zero_grad()
    with torch.cuda.amp.autocast():
        loss = torch.nn.functional.mse_loss(model(x), y)
    loss = scaler.scale(loss)
    loss.backward()
    scaler.unscale_(optimizer)
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    scaler.step(optimizer)
    scaler.update()
""",
    "scaled only with amp": """\
import torch


def train(model, loader, optimizer, use_amp):
    scaler = torch.amp.GradScaler("cuda") if use_amp else None
    for x, y in loader:
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(x), y)
        if scaler is not None:
            loss = scaler.scale(loss)
        loss.backward()
        if scaler is not None:
            scaler.step(optimizer)
            scaler.update()
        else:
            optimizer.step()
""",
    "helper returns the scaled loss": """\
import torch


class Trainer:
    def __init__(self, net):
        self.net = net
        self.scaler = torch.amp.GradScaler("cuda")
        self.opt = torch.optim.Adam(net.parameters())

    def loss(self, x, y):
        value = torch.nn.functional.mse_loss(self.net(x), y)
        return self.scaler.scale(value)

    def fit(self, loader):
        for x, y in loader:
            self.opt.zero_grad(set_to_none=True)
            self.loss(x, y).backward()
            self.scaler.unscale_(self.opt)
            torch.nn.utils.clip_grad_value_(self.net.parameters(), 0.5)
            self.scaler.step(self.opt)
            self.scaler.update()
""",
    "divided under the same name": """\
import torch

net = torch.nn.Linear(4, 1)
optimizer = torch.optim.Adam(net.parameters())
n = 4
for i, (x, y) in enumerate(loader):
    loss = torch.nn.functional.mse_loss(net(x), y)
    shown = loss.item()
    loss = loss / n
    loss.backward()
    if (i + 1) % n == 0 or i + 1 == len(loader):
        optimizer.step()
        optimizer.zero_grad()
""",
    "divided in place": """\
import torch


def epoch(net, loader, optimizer, n):
    total = 0.0
    for i, (x, y) in enumerate(loader):
        loss = torch.nn.functional.cross_entropy(net(x), y)
        total += loss.item()
        loss /= n
        loss.backward()
        if (i + 1) % n == 0 or i + 1 == len(loader):
            optimizer.step()
            optimizer.zero_grad()
    return total
""",
    "amp window with a rebound loss": """\
import torch


def finetune(model, loader, args):
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr)
    scaler = torch.cuda.amp.GradScaler(enabled=args.fp16)
    for step, batch in enumerate(loader):
        with torch.cuda.amp.autocast(enabled=args.fp16):
            loss = model(**batch).loss
        if args.gradient_accumulation_steps > 1:
            loss = loss / args.gradient_accumulation_steps
        loss = scaler.scale(loss)
        loss.backward()
        if (step + 1) % args.gradient_accumulation_steps == 0 or step + 1 == len(loader):
            scaler.unscale_(optimizer)
            torch.nn.utils.clip_grad_norm_(model.parameters(), args.max_grad_norm)
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad()
""",
    "names are swapped": """\
import torch

a, b = torch.nn.Linear(4, 1), torch.nn.Linear(4, 1)
first, second = torch.optim.SGD(a.parameters(), lr=0.1), torch.optim.SGD(b.parameters(), lr=0.1)
for x, y in loader:
    optimizer, other = first, second
    for net in (a, b):
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(net(x), y).backward()
        optimizer.step()
        optimizer, other = other, optimizer
""",
}


@pytest.mark.parametrize("text", programs(PLAIN))
def test_nothing_is_said(text: str) -> None:
    assert said(text) == []
