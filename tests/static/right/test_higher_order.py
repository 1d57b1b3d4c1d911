"""Penalties on gradients and learning to learn use torch.autograd.grad, which fills no `.grad`."""

from __future__ import annotations

import pytest

from tests.static.project import programs, said

PLAIN = {
    "wgan-gp": """\
import torch
from torch import autograd

G, D = torch.nn.Linear(8, 4), torch.nn.Linear(4, 1)
g_opt = torch.optim.Adam(G.parameters(), lr=1e-4, betas=(0.5, 0.9))
d_opt = torch.optim.Adam(D.parameters(), lr=1e-4, betas=(0.5, 0.9))


def calc_gradient_penalty(netD, real, fake):
    alpha = torch.rand(real.size(0), 1)
    inter = (alpha * real + (1 - alpha) * fake).requires_grad_(True)
    out = netD(inter)
    grads = autograd.grad(
        outputs=out, inputs=inter, grad_outputs=torch.ones_like(out), create_graph=True, retain_graph=True
    )[0]
    return ((grads.norm(2, dim=1) - 1) ** 2).mean() * 10


for iteration in range(1000):
    for p in D.parameters():
        p.requires_grad = True
    for _ in range(5):
        real = next(data)
        D.zero_grad()
        d_real = D(real).mean()
        (-d_real).backward()
        fake = G(torch.randn(real.size(0), 8)).detach()
        d_fake = D(fake).mean()
        d_fake.backward()
        gp = calc_gradient_penalty(D, real, fake)
        gp.backward()
        d_opt.step()
    for p in D.parameters():
        p.requires_grad = False
    G.zero_grad()
    loss = -D(G(torch.randn(16, 8))).mean()
    loss.backward()
    g_opt.step()
""",
    "wgan-gp with one and minus one": """\
import torch


def train(netD, netG, optimizerD, optimizerG, data, gradient_penalty):
    one = torch.tensor(1.0)
    mone = one * -1
    for iteration in range(10000):
        for p in netD.parameters():
            p.requires_grad = True
        for iter_d in range(5):
            real = next(data)
            netD.zero_grad()
            D_real = netD(real).mean()
            D_real.backward(mone)
            with torch.no_grad():
                fake = netG(torch.randn(real.size(0), 128))
            D_fake = netD(fake).mean()
            D_fake.backward(one)
            gradient_penalty(netD, real, fake).backward()
            optimizerD.step()
        for p in netD.parameters():
            p.requires_grad = False
        netG.zero_grad()
        G = netD(netG(torch.randn(64, 128))).mean()
        G.backward(mone)
        optimizerG.step()
""",
    "input gradient penalty in one loss": """\
import torch


class PenalisedTrainer:
    def __init__(self, net, weight):
        self.net, self.weight = net, weight
        self.optimizer = torch.optim.Adam(net.parameters())

    def step(self, x, y):
        x.requires_grad_(True)
        loss = torch.nn.functional.cross_entropy(self.net(x), y)
        (grad,) = torch.autograd.grad(loss, x, create_graph=True)
        total = loss + self.weight * grad.pow(2).sum()
        self.optimizer.zero_grad()
        total.backward()
        self.optimizer.step()

    def fit(self, loader):
        for x, y in loader:
            self.step(x, y)
""",
    "scaled gradient penalty of the amp guide": """\
import torch

scaler = torch.amp.GradScaler("cuda")
model = torch.nn.Linear(4, 1).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in data:
    optimizer.zero_grad()
    with torch.autocast("cuda"):
        loss = torch.nn.functional.mse_loss(model(x), y)
    scaled_grad_params = torch.autograd.grad(
        outputs=scaler.scale(loss), inputs=model.parameters(), create_graph=True
    )
    inv_scale = 1.0 / scaler.get_scale()
    grad_params = [p * inv_scale for p in scaled_grad_params]
    with torch.autocast("cuda"):
        grad_norm = sum(grad.pow(2).sum() for grad in grad_params).sqrt()
        loss = loss + grad_norm
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
""",
    "maml": """\
import torch
import torch.nn.functional as F


class Meta(torch.nn.Module):
    def __init__(self, net, update_lr):
        super().__init__()
        self.net, self.update_lr = net, update_lr
        self.meta_optim = torch.optim.Adam(self.net.parameters(), lr=1e-3)

    def forward(self, x_spt, y_spt, x_qry, y_qry):
        losses_q = 0
        task_num = x_spt.size(0)
        for i in range(task_num):
            loss = F.cross_entropy(self.net(x_spt[i]), y_spt[i])
            grad = torch.autograd.grad(loss, self.net.parameters())
            fast_weights = [p - self.update_lr * g for g, p in zip(grad, self.net.parameters())]
            logits_q = self.net.functional(x_qry[i], fast_weights)
            losses_q += F.cross_entropy(logits_q, y_qry[i])
        loss_q = losses_q / task_num
        self.meta_optim.zero_grad()
        loss_q.backward()
        self.meta_optim.step()


def main(net, db):
    maml = Meta(net, 0.01)
    for step, batch in enumerate(db):
        maml(*batch)
""",
    "higher": """\
import higher
import torch
import torch.nn.functional as F


def train(net, meta_opt, db, inner_steps):
    for x_spt, y_spt, x_qry, y_qry in db:
        inner_opt = torch.optim.SGD(net.parameters(), lr=1e-1)
        meta_opt.zero_grad()
        for i in range(len(x_spt)):
            with higher.innerloop_ctx(net, inner_opt, copy_initial_weights=False) as (fnet, diffopt):
                for _ in range(inner_steps):
                    diffopt.step(F.cross_entropy(fnet(x_spt[i]), y_spt[i]))
                qry_loss = F.cross_entropy(fnet(x_qry[i]), y_qry[i])
                qry_loss.backward()
        meta_opt.step()
""",
    "darts architect": """\
import torch


class Architect:
    def __init__(self, model, args):
        self.model = model
        self.optimizer = torch.optim.Adam(self.model.arch_parameters(), lr=args.arch_lr)

    def step(self, x, y):
        self.optimizer.zero_grad()
        self.model.loss(x, y).backward()
        self.optimizer.step()


def train(train_queue, valid_queue, model, architect, criterion, args):
    optimizer = torch.optim.SGD(model.parameters(), args.lr)
    for step, (x, y) in enumerate(train_queue):
        x_search, y_search = next(iter(valid_queue))
        architect.step(x_search, y_search)
        optimizer.zero_grad()
        loss = criterion(model(x), y)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), args.grad_clip)
        optimizer.step()
""",
}


@pytest.mark.parametrize("text", programs(PLAIN))
def test_nothing_is_said(text: str) -> None:
    assert said(text) == []
