"""Who holds which parameters is told by value, however models are moved, wrapped, filtered or grouped."""

from __future__ import annotations

import pytest

from tests.static.project import programs, said

PLAIN = {
    "moved and wrapped after the optimizer": """\
import torch
from torch import nn

model = nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model = model.cuda()
model = nn.DataParallel(model)
model = torch.compile(model)
for x, y in loader:
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(x), y).backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
""",
    "filtered parameters": """\
import torch
from torchvision.models import resnet18


def main(loader, classes):
    net = resnet18(weights="DEFAULT")
    for p in net.parameters():
        p.requires_grad = False
    net.fc = torch.nn.Linear(net.fc.in_features, classes)
    optimizer = torch.optim.Adam(filter(lambda p: p.requires_grad, net.parameters()), lr=1e-3)
    for x, y in loader:
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(net(x), y).backward()
        optimizer.step()
""",
    "decay groups by name": """\
import torch
from transformers import AutoModel


def build(model, weight_decay):
    no_decay = ["bias", "LayerNorm.weight"]
    groups = [
        {
            "params": [p for n, p in model.named_parameters() if not any(nd in n for nd in no_decay)],
            "weight_decay": weight_decay,
        },
        {
            "params": [p for n, p in model.named_parameters() if any(nd in n for nd in no_decay)],
            "weight_decay": 0.0,
        },
    ]
    return torch.optim.AdamW(groups, lr=2e-5)


model = AutoModel.from_pretrained("bert-base-uncased")
optimizer = build(model, 0.01)
for batch in loader:
    loss = model(**batch)[0]
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    model.zero_grad()
""",
    "parameters added in a group": """\
import torch

backbone, head = torch.nn.Linear(4, 8), torch.nn.Linear(8, 2)
optimizer = torch.optim.SGD(head.parameters(), lr=0.1)
optimizer.add_param_group({"params": backbone.parameters(), "lr": 0.01})
for x, y in loader:
    optimizer.zero_grad()
    torch.nn.functional.cross_entropy(head(backbone(x)), y).backward()
    optimizer.step()
""",
    "loss with parameters": """\
import torch
from torch import nn


class CenterLoss(nn.Module):
    def __init__(self, classes, dim):
        super().__init__()
        self.centers = nn.Parameter(torch.randn(classes, dim))

    def forward(self, x, y):
        return (x - self.centers[y]).pow(2).sum(1).mean()


def main(net, loader):
    center = CenterLoss(10, 2)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    opt_center = torch.optim.SGD(center.parameters(), lr=0.5)
    for x, y in loader:
        features, logits = net(x)
        loss = nn.functional.cross_entropy(logits, y) + 0.1 * center(features, y)
        opt.zero_grad()
        opt_center.zero_grad()
        loss.backward()
        opt.step()
        for p in center.parameters():
            p.grad.data *= 10.0
        opt_center.step()
""",
    "optimizer replaced in mid-training": """\
import torch

net = torch.nn.Linear(4, 1)
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
for epoch in range(100):
    if epoch == 50:
        optimizer = torch.optim.SGD(net.parameters(), lr=1e-2)
    for x, y in loader:
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(net(x), y).backward()
        optimizer.step()
""",
    "two phases with an optimizer each": """\
import torch
from torch import nn


class Finetuner:
    def __init__(self, body, head):
        self.body, self.head = body, head

    def run(self, loader, optimizer):
        for x, y in loader:
            optimizer.zero_grad()
            nn.functional.cross_entropy(self.head(self.body(x)), y).backward()
            optimizer.step()

    def fit(self, loader):
        for p in self.body.parameters():
            p.requires_grad_(False)
        self.run(loader, torch.optim.Adam(self.head.parameters(), lr=1e-3))
        for p in self.body.parameters():
            p.requires_grad_(True)
        both = [{"params": self.body.parameters(), "lr": 1e-5}, {"params": self.head.parameters()}]
        self.run(loader, torch.optim.Adam(both, lr=1e-4))


Finetuner(nn.Linear(4, 8), nn.Linear(8, 2)).fit(loader)
""",
    "teacher that is not frozen": """\
import copy

import torch


def train(student, loader):
    teacher = copy.deepcopy(student).eval()
    optimizer = torch.optim.SGD(student.parameters(), lr=0.1)
    for x in loader:
        target = teacher(x).detach()
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(student(x), target).backward()
        optimizer.step()
        for t, s in zip(teacher.parameters(), student.parameters()):
            t.data.mul_(0.99).add_(s.data, alpha=0.01)
""",
    "optimizers in a dataclass": """\
from dataclasses import dataclass

import torch


@dataclass
class State:
    net: torch.nn.Module
    opt: torch.optim.Optimizer
    step: int = 0


def make(lr):
    net = torch.nn.Linear(4, 1)
    return State(net, torch.optim.Adam(net.parameters(), lr=lr))


def advance(state: State, x, y):
    state.opt.zero_grad()
    torch.nn.functional.mse_loss(state.net(x), y).backward()
    state.opt.step()
    state.step += 1


state = make(1e-3)
for x, y in loader:
    advance(state, x, y)
""",
    "shared encoder of two optimizers": """\
import torch

encoder, policy, value = torch.nn.Linear(4, 8), torch.nn.Linear(8, 2), torch.nn.Linear(8, 1)
pi_opt = torch.optim.Adam([*encoder.parameters(), *policy.parameters()])
v_opt = torch.optim.Adam(value.parameters())
for s, a, r in rollouts:
    h = encoder(s)
    v = value(h.detach())
    pi_loss = -(policy(h).log_softmax(-1).gather(1, a) * (r - v).detach()).mean()
    v_loss = (v - r).pow(2).mean()
    pi_opt.zero_grad()
    pi_loss.backward()
    pi_opt.step()
    v_opt.zero_grad()
    v_loss.backward()
    v_opt.step()
""",
    "weights tied": """\
import torch
from torch import nn


class LanguageModel(nn.Module):
    def __init__(self, vocab, dim):
        super().__init__()
        self.emb = nn.Embedding(vocab, dim)
        self.rnn = nn.GRU(dim, dim)
        self.out = nn.Linear(dim, vocab)
        self.out.weight = self.emb.weight

    def forward(self, x, h):
        y, h = self.rnn(self.emb(x), h)
        return self.out(y), h


lm = LanguageModel(100, 16)
opt = torch.optim.Adam(lm.parameters())
hidden = None
for x, y in batches:
    if hidden is not None:
        hidden = hidden.detach()
    logits, hidden = lm(x, hidden)
    opt.zero_grad()
    nn.functional.cross_entropy(logits.view(-1, 100), y.view(-1)).backward()
    torch.nn.utils.clip_grad_norm_(lm.parameters(), 0.25)
    opt.step()
""",
}


@pytest.mark.parametrize("text", programs(PLAIN))
def test_nothing_is_said(text: str) -> None:
    assert said(text) == []
