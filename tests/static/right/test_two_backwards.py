"""Two passes before or between steps, where the method asks for them, are right."""

from __future__ import annotations

import pytest

from tests.static.project import programs, said

PLAIN = {
    "sam with first and second step": """\
import torch


class SAM(torch.optim.Optimizer):
    def __init__(self, params, base_optimizer, rho=0.05, **kwargs):
        super().__init__(params, dict(rho=rho, **kwargs))
        self.base_optimizer = base_optimizer(self.param_groups, **kwargs)
        self.param_groups = self.base_optimizer.param_groups

    @torch.no_grad()
    def first_step(self, zero_grad=False):
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                e_w = p.grad * group["rho"]
                p.add_(e_w)
                self.state[p]["e_w"] = e_w
        if zero_grad:
            self.zero_grad()

    @torch.no_grad()
    def second_step(self, zero_grad=False):
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                p.sub_(self.state[p]["e_w"])
        self.base_optimizer.step()
        if zero_grad:
            self.zero_grad()


model = torch.nn.Linear(4, 2)
optimizer = SAM(model.parameters(), torch.optim.SGD, lr=0.1)
for inputs, targets in loader:
    loss = torch.nn.functional.cross_entropy(model(inputs), targets)
    loss.backward()
    optimizer.first_step(zero_grad=True)
    torch.nn.functional.cross_entropy(model(inputs), targets).backward()
    optimizer.second_step(zero_grad=True)
""",
    "sam imported": """\
import torch
from sam import SAM


def train(model, loader, criterion):
    optimizer = SAM(model.parameters(), torch.optim.SGD, rho=0.05, lr=0.1, momentum=0.9)
    for x, y in loader:
        criterion(model(x), y).mean().backward()
        optimizer.first_step(zero_grad=True)
        criterion(model(x), y).mean().backward()
        optimizer.second_step(zero_grad=True)
""",
    "lbfgs closure": """\
import torch

model = torch.nn.Linear(4, 1)
optimizer = torch.optim.LBFGS(model.parameters(), lr=0.8)
for i in range(15):

    def closure():
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(model(x), y)
        loss.backward()
        return loss

    optimizer.step(closure)
""",
    "lbfgs closure in a class": """\
import torch


class PINN:
    def __init__(self, net):
        self.net = net
        self.optimizer = torch.optim.LBFGS(net.parameters(), max_iter=50, line_search_fn="strong_wolfe")
        self.iter = 0

    def closure(self):
        self.optimizer.zero_grad()
        loss = self.net.residual().pow(2).mean()
        loss.backward()
        self.iter += 1
        if self.iter % 100 == 0:
            print(self.iter, loss.item())
        return loss

    def train(self):
        self.net.train()
        for _ in range(10):
            self.optimizer.step(self.closure)
""",
    "pgd inner loop then training": """\
import torch
import torch.nn.functional as F


def pgd(model, x, y, eps, alpha, steps):
    delta = torch.zeros_like(x, requires_grad=True)
    for _ in range(steps):
        loss = F.cross_entropy(model(x + delta), y)
        loss.backward()
        delta.data = (delta + alpha * delta.grad.detach().sign()).clamp(-eps, eps)
        delta.grad.zero_()
    return delta.detach()


def epoch_adversarial(loader, model, opt):
    for x, y in loader:
        delta = pgd(model, x, y, 0.1, 0.01, 7)
        loss = F.cross_entropy(model(x + delta), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
""",
    "r1 penalty as its own backward": """\
import torch

D = torch.nn.Linear(8, 1)
opt = torch.optim.Adam(D.parameters())
for real in loader:
    opt.zero_grad()
    real.requires_grad_()
    logits = D(real)
    loss = torch.nn.functional.softplus(-logits).mean()
    loss.backward(retain_graph=True)
    (grad,) = torch.autograd.grad(logits.sum(), real, create_graph=True)
    penalty = 5.0 * grad.pow(2).sum(1).mean()
    penalty.backward()
    opt.step()
""",
    "pre-allocation pass": """\
import torch


def train(model, loader, longest):
    optimizer = torch.optim.Adam(model.parameters())
    # Run the longest batch once, so that the allocator has seen it.
    model(longest).sum().backward()
    model.zero_grad()
    for x, y in loader:
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
""",
    "fgm on embeddings": """\
import torch


class FGM:
    def __init__(self, model):
        self.model, self.backup = model, {}

    def attack(self, epsilon=1.0, emb_name="embedding"):
        for name, param in self.model.named_parameters():
            if param.requires_grad and emb_name in name:
                self.backup[name] = param.data.clone()
                norm = torch.norm(param.grad)
                if norm != 0:
                    param.data.add_(epsilon * param.grad / norm)

    def restore(self, emb_name="embedding"):
        for name, param in self.model.named_parameters():
            if param.requires_grad and emb_name in name:
                param.data = self.backup[name]
        self.backup = {}


def train(model, loader):
    optimizer = torch.optim.AdamW(model.parameters())
    fgm = FGM(model)
    for x, y in loader:
        loss = torch.nn.functional.cross_entropy(model(x), y)
        loss.backward()
        fgm.attack()
        loss_adv = torch.nn.functional.cross_entropy(model(x), y)
        loss_adv.backward()
        fgm.restore()
        optimizer.step()
        optimizer.zero_grad()
""",
    "two losses that share a graph": """\
import torch

body, a, b = torch.nn.Linear(4, 8), torch.nn.Linear(8, 1), torch.nn.Linear(8, 1)
opt = torch.optim.SGD([*body.parameters(), *a.parameters(), *b.parameters()], lr=0.1)
for x, y, z in loader:
    h = body(x)
    opt.zero_grad()
    (a(h) - y).pow(2).mean().backward(retain_graph=True)
    (b(h) - z).pow(2).mean().backward()
    opt.step()
""",
    "two losses and two scaled passes": """\
import torch


def train(net, loader, opt0, opt1):
    scaler = torch.amp.GradScaler("cuda")
    for x, y, z in loader:
        opt0.zero_grad()
        opt1.zero_grad()
        with torch.autocast("cuda"):
            h = net.body(x)
            loss0 = (net.a(h) - y).pow(2).mean()
            loss1 = (net.b(h) - z).pow(2).mean()
        scaler.scale(loss0).backward(retain_graph=True)
        scaler.scale(loss1).backward()
        scaler.unscale_(opt0)
        scaler.step(opt0)
        scaler.step(opt1)
        scaler.update()
""",
}


@pytest.mark.parametrize("text", programs(PLAIN))
def test_nothing_is_said(text: str) -> None:
    assert said(text) == []
