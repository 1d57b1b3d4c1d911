"""A gradient that is assigned replaces what was there."""

from __future__ import annotations

import pytest

from tests.static.project import certain, programs, said

PLAIN = {
    "gradients of autograd.grad": """\
import torch

net = torch.nn.Linear(4, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
params = list(net.parameters())
for x, y in loader:
    loss = torch.nn.functional.mse_loss(net(x), y)
    grads = torch.autograd.grad(loss, params)
    for p, g in zip(params, grads):
        p.grad = g
    opt.step()
""",
    "reptile difference": """\
import copy

import torch


def meta_train(net, tasks, meta_lr=0.1):
    meta_optimizer = torch.optim.Adam(net.parameters(), lr=meta_lr)
    for task in tasks:
        fast = copy.deepcopy(net)
        inner = torch.optim.SGD(fast.parameters(), lr=0.01)
        for x, y in task:
            inner.zero_grad()
            torch.nn.functional.mse_loss(fast(x), y).backward()
            inner.step()
        for p, q in zip(net.parameters(), fast.parameters()):
            p.grad = p.data - q.data
        meta_optimizer.step()
""",
    "evolution strategy": """\
import torch


class ES:
    def __init__(self, policy, sigma):
        self.policy, self.sigma = policy, sigma
        self.optimizer = torch.optim.Adam(policy.parameters(), lr=0.01)

    def backward(self, rewards, noises):
        for index, p in enumerate(self.policy.parameters()):
            p.grad = -sum(r * n[index] for r, n in zip(rewards, noises)) / self.sigma

    def generation(self, rewards, noises):
        self.backward(rewards, noises)
        self.optimizer.step()


def main(policy, evaluate):
    es = ES(policy, 0.1)
    for generation in range(100):
        es.generation(*evaluate(policy))
""",
    "pcgrad": """\
import torch


def pc_step(model, losses, optimizer):
    flat = []
    for loss in losses:
        optimizer.zero_grad()
        loss.backward(retain_graph=True)
        flat.append([p.grad.clone() for p in model.parameters()])
    merged = [torch.stack(parts).mean(0) for parts in zip(*flat)]
    for p, g in zip(model.parameters(), merged):
        p.grad = g
    optimizer.step()


def fit(model, loader, tasks):
    optimizer = torch.optim.Adam(model.parameters())
    for x, targets in loader:
        h = model(x)
        pc_step(model, [task(h, t) for task, t in zip(tasks, targets)], optimizer)
""",
    "master weights": """\
import torch

half = torch.nn.Linear(4, 1).half().cuda()
master = [p.detach().clone().float().requires_grad_() for p in half.parameters()]
optimizer = torch.optim.SGD(master, lr=0.1)
scale = 128.0
for x, y in loader:
    half.zero_grad()
    loss = torch.nn.functional.mse_loss(half(x), y)
    (loss * scale).backward()
    for m, p in zip(master, half.parameters()):
        m.grad = p.grad.float() / scale
    optimizer.step()
    with torch.no_grad():
        for m, p in zip(master, half.parameters()):
            p.copy_(m)
""",
}

ALIASED = {
    "a3c shares gradients": """\
import torch


def ensure_shared_grads(model, shared_model):
    for param, shared_param in zip(model.parameters(), shared_model.parameters()):
        if shared_param.grad is not None:
            return
        shared_param._grad = param.grad


def train(rank, args, shared_model, optimizer, make_model, env):
    model = make_model()
    while True:
        model.load_state_dict(shared_model.state_dict())
        policy_loss, value_loss = env.rollout(model)
        optimizer.zero_grad()
        (policy_loss + args.value_loss_coef * value_loss).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), args.max_grad_norm)
        ensure_shared_grads(model, shared_model)
        optimizer.step()
""",
    "worker pushes to the global net": """\
import torch


def push_and_pull(opt, lnet, gnet, s, a, v):
    loss = lnet.loss_func(s, a, v)
    opt.zero_grad()
    loss.backward()
    for lp, gp in zip(lnet.parameters(), gnet.parameters()):
        gp._grad = lp.grad
    opt.step()
    lnet.load_state_dict(gnet.state_dict())


gnet, lnet = torch.nn.Linear(4, 2), torch.nn.Linear(4, 2)
opt = torch.optim.Adam(gnet.parameters())
for s, a, v in episodes:
    push_and_pull(opt, lnet, gnet, s, a, v)
""",
    "split learning hands the gradient over": """\
import torch

client, server = torch.nn.Linear(4, 8), torch.nn.Linear(8, 2)
client_opt = torch.optim.SGD(client.parameters(), lr=0.1)
server_opt = torch.optim.SGD(server.parameters(), lr=0.1)
for x, y in loader:
    client_opt.zero_grad()
    server_opt.zero_grad()
    activation = client(x)
    received = activation.detach().requires_grad_()
    torch.nn.functional.cross_entropy(server(received), y).backward()
    server_opt.step()
    activation.backward(received.grad)
    client_opt.step()
""",
}


@pytest.mark.parametrize("text", programs(PLAIN))
def test_nothing_is_said(text: str) -> None:
    assert said(text) == []


@pytest.mark.parametrize("text", programs(ALIASED))
def test_nothing_is_certain_where_gradients_have_two_owners(text: str) -> None:
    assert certain(text) == []
