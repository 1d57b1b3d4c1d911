"""An optimizer that steps inside the backward, by a hook, is right."""

from __future__ import annotations

import pytest

from tests.static.project import programs, said

PLAIN = {
    "tutorial": """\
import torch

model = torch.nn.Linear(4, 1)
optimizer_dict = {p: torch.optim.Adam([p], foreach=False) for p in model.parameters()}


def optimizer_hook(parameter) -> None:
    optimizer_dict[parameter].step()
    optimizer_dict[parameter].zero_grad()


for p in model.parameters():
    p.register_post_accumulate_grad_hook(optimizer_hook)

for x, y in loader:
    torch.nn.functional.mse_loss(model(x), y).backward()
""",
    "in a function": """\
import torch


def attach(model, lr):
    for p in model.parameters():
        opt = torch.optim.SGD([p], lr=lr)

        def hook(param, opt=opt):
            opt.step()
            opt.zero_grad(set_to_none=True)

        p.register_post_accumulate_grad_hook(hook)


def train(model, loader):
    attach(model, 0.1)
    for x, y in loader:
        loss = torch.nn.functional.cross_entropy(model(x), y)
        loss.backward()
""",
    "in a class": """\
import torch


class FusedBackward:
    def __init__(self, net, make):
        self.optimizers = {p: make([p]) for p in net.parameters()}
        for p in net.parameters():
            p.register_post_accumulate_grad_hook(self.update)

    def update(self, p):
        self.optimizers[p].step()
        self.optimizers[p].zero_grad()


net = torch.nn.Linear(4, 1)
FusedBackward(net, lambda group: torch.optim.AdamW(group, lr=1e-3))
for x, y in loader:
    (net(x) - y).pow(2).mean().backward()
""",
    "cleared by a post-step hook": """\
import torch

net = torch.nn.Linear(4, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
opt.register_step_post_hook(lambda optimizer, args, kwargs: optimizer.zero_grad())
for x, y in loader:
    torch.nn.functional.mse_loss(net(x), y).backward()
    opt.step()
""",
}


@pytest.mark.parametrize("text", programs(PLAIN))
def test_nothing_is_said(text: str) -> None:
    assert said(text) == []
