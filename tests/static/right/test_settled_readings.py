"""Where the design has settled that a rule stops, it stops."""

from __future__ import annotations

import pytest

from tests.static.project import certain, programs, said

PLAIN = {
    "schedule planned in micro-batches": """\
import torch

net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
epochs, n = 3, 4
scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.1, total_steps=len(loader) * epochs)
for epoch in range(epochs):
    for i, (x, y) in enumerate(loader):
        (torch.nn.functional.mse_loss(net(x), y) / n).backward()
        if (i + 1) % n == 0 or i + 1 == len(loader):
            optimizer.step()
            optimizer.zero_grad()
        scheduler.step()
""",
    "schedule per epoch": """\
import torch


def fit(net, loader, epochs):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    scheduler = torch.optim.lr_scheduler.MultiStepLR(optimizer, [30, 60, 90])
    for epoch in range(epochs):
        for x, y in loader:
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(net(x), y).backward()
            optimizer.step()
        scheduler.step()
""",
    "schedule per update under a window": """\
import torch


class Trainer:
    def __init__(self, net, loader, n, epochs):
        self.net, self.loader, self.n, self.epochs = net, loader, n, epochs
        self.optimizer = torch.optim.AdamW(net.parameters())
        updates = (len(loader) + n - 1) // n * epochs
        self.scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(self.optimizer, T_max=updates)

    def train(self):
        for epoch in range(self.epochs):
            for i, (x, y) in enumerate(self.loader):
                (torch.nn.functional.cross_entropy(self.net(x), y) / self.n).backward()
                if (i + 1) % self.n == 0 or i + 1 == len(self.loader):
                    self.optimizer.step()
                    self.scheduler.step()
                    self.optimizer.zero_grad()
""",
    "plateau": """\
import torch


def main(net, loader, validate):
    opt = torch.optim.Adam(net.parameters())
    plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(opt)
    for epoch in range(100):
        plateau.step(validate(net))
        for x, y in loader:
            opt.zero_grad()
            torch.nn.functional.mse_loss(net(x), y).backward()
            opt.step()
""",
    "resumed schedule": """\
import torch

net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 30)
for _ in range(start_epoch):
    scheduler.step()
for epoch in range(start_epoch, 90):
    for x, y in loader:
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(net(x), y).backward()
        optimizer.step()
    scheduler.step()
""",
    "short tail still divided by n": """\
import torch


def epoch(net, loader, optimizer, n):
    optimizer.zero_grad()
    for i, (x, y) in enumerate(loader):
        loss = torch.nn.functional.cross_entropy(net(x), y) / n
        loss.backward()
        if (i + 1) % n == 0:
            optimizer.step()
            optimizer.zero_grad()
    if len(loader) % n != 0:
        optimizer.step()
        optimizer.zero_grad()


def main(net, loader):
    optimizer = torch.optim.Adam(net.parameters())
    for _ in range(10):
        epoch(net, loader, optimizer, 4)
""",
    "zero in place right after backward and step": """\
import torch

net = torch.nn.Linear(4, 1)
for x, y in loader:
    loss = torch.nn.functional.mse_loss(net(x), y)
    loss.backward()
    with torch.no_grad():
        for p in net.parameters():
            p -= 0.1 * p.grad
            p.grad.zero_()
""",
    "overlapping truncated back-propagation": """\
import torch

cell, head = torch.nn.GRUCell(4, 8), torch.nn.Linear(8, 1)
optimizer = torch.optim.Adam([*cell.parameters(), *head.parameters()])
for sequence, target in loader:
    h = torch.zeros(1, 8)
    for start in range(0, len(sequence), 10):
        h = h.detach()
        loss = 0
        for x, y in zip(sequence[start : start + 10], target[start : start + 10]):
            h = cell(x, h)
            loss = loss + (head(h) - y).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
""",
    "a scaler for each fold": """\
import torch


def train_fold(dataset, train_index):
    net = torch.nn.Linear(4, 1).cuda()
    optimizer = torch.optim.Adam(net.parameters())
    scaler = torch.cuda.amp.GradScaler()
    for x, y in torch.utils.data.DataLoader(torch.utils.data.Subset(dataset, train_index)):
        optimizer.zero_grad()
        with torch.cuda.amp.autocast():
            loss = torch.nn.functional.mse_loss(net(x), y)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()


for fold, (train_index, _) in enumerate(KFold(5).split(dataset)):
    train_fold(dataset, train_index)
""",
    "one scaler for two optimizers": """\
import torch


class GAN:
    def __init__(self, G, D):
        self.G, self.D = G, D
        self.opt_g = torch.optim.Adam(G.parameters())
        self.opt_d = torch.optim.Adam(D.parameters())
        self.scaler = torch.amp.GradScaler("cuda")

    def step(self, real, z):
        with torch.autocast("cuda"):
            loss_d = self.D(self.G(z).detach()).mean() - self.D(real).mean()
        self.opt_d.zero_grad()
        self.scaler.scale(loss_d).backward()
        self.scaler.unscale_(self.opt_d)
        torch.nn.utils.clip_grad_norm_(self.D.parameters(), 1.0)
        self.scaler.step(self.opt_d)
        with torch.autocast("cuda"):
            loss_g = -self.D(self.G(z)).mean()
        self.opt_g.zero_grad()
        self.scaler.scale(loss_g).backward()
        self.scaler.step(self.opt_g)
        self.scaler.update()

    def fit(self, loader):
        for real in loader:
            self.step(real, torch.randn(len(real), 8))
""",
}

AT_MOST_POSSIBLE = {
    "advantage that is not detached": """\
import torch

actor, critic = torch.nn.Linear(4, 2), torch.nn.Linear(4, 1)
opt_a = torch.optim.Adam(actor.parameters())
opt_c = torch.optim.Adam(critic.parameters())
for s, a, r in rollouts:
    advantage = r - critic(s)
    actor_loss = -(actor(s).log_softmax(-1).gather(1, a) * advantage).mean()
    opt_a.zero_grad()
    actor_loss.backward(retain_graph=True)
    opt_a.step()
    critic_loss = advantage.pow(2).mean()
    critic_loss.backward()
    opt_c.step()
    opt_c.zero_grad()
""",
    "modulo without a tail": """\
import torch


def train(net, loader, n):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for epoch in range(10):
        for i, (x, y) in enumerate(loader):
            (torch.nn.functional.mse_loss(net(x), y) / n).backward()
            if (i + 1) % n == 0:
                optimizer.step()
                optimizer.zero_grad()
""",
    "zero only on some paths": """\
import torch


def train(net, loader, keep):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for x, y in loader:
        if not keep:
            optimizer.zero_grad()
        torch.nn.functional.mse_loss(net(x), y).backward()
        optimizer.step()
""",
}


@pytest.mark.parametrize("text", programs(PLAIN))
def test_nothing_is_said(text: str) -> None:
    assert said(text) == []


@pytest.mark.parametrize("text", programs(AT_MOST_POSSIBLE))
def test_nothing_is_certain(text: str) -> None:
    assert certain(text) == []
