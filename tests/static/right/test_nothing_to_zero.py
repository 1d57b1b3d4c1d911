"""Where no gradient outlives its step, nothing has to be cleared."""

from __future__ import annotations

import pytest

from tests.static.project import programs, said

PLAIN = {
    "leaf and optimizer made in the loop": """\
import torch

decoder = torch.nn.Linear(8, 32).requires_grad_(False)
codes = []
for image in images:
    z = torch.zeros(1, 8, requires_grad=True)
    opt = torch.optim.Adam([z], lr=0.1)
    loss = ((decoder(z) - image) ** 2).mean()
    loss.backward()
    opt.step()
    codes.append(z.detach())
""",
    "leaf made in a function": """\
import torch


def project(generator, target, w_avg):
    w = w_avg.clone().detach().requires_grad_(True)
    optimizer = torch.optim.SGD([w], lr=0.05)
    loss = (generator(w) - target).square().mean()
    loss.backward()
    optimizer.step()
    return w.detach()


def project_all(generator, targets, w_avg):
    return [project(generator, target, w_avg) for target in targets]
""",
    "model and optimizer made for each client": """\
import copy

import torch
import torch.nn.functional as F


class Client:
    def __init__(self, data):
        self.data = data

    def one_step(self, global_model):
        model = copy.deepcopy(global_model)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        x, y = self.data
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        return model.state_dict()


def rounds(global_model, clients, n):
    for _ in range(n):
        states = [client.one_step(global_model) for client in clients]
        average = {k: torch.stack([s[k] for s in states]).mean(0) for k in states[0]}
        global_model.load_state_dict(average)
""",
    "distributed autograd": """\
import torch
import torch.distributed.autograd as dist_autograd
import torch.distributed.rpc as rpc
from torch import optim
from torch.distributed.optim import DistributedOptimizer


def run_trainer(model, batches, remote_parameters):
    opt = DistributedOptimizer(optim.SGD, remote_parameters, lr=0.05)
    criterion = torch.nn.CrossEntropyLoss()
    for epoch in range(3):
        for data, target in batches:
            with dist_autograd.context() as context_id:
                output = model(data)
                loss = criterion(output, target)
                dist_autograd.backward(context_id, [loss])
                opt.step(context_id)
""",
    "deepspeed engine": """\
import deepspeed
import torch


def main(args, net, trainset):
    model_engine, optimizer, trainloader, _ = deepspeed.initialize(
        args=args, model=net, model_parameters=net.parameters(), training_data=trainset
    )
    criterion = torch.nn.CrossEntropyLoss()
    for epoch in range(2):
        for i, data in enumerate(trainloader):
            inputs, labels = data[0].to(model_engine.local_rank), data[1].to(model_engine.local_rank)
            outputs = model_engine(inputs)
            loss = criterion(outputs, labels)
            model_engine.backward(loss)
            model_engine.step()
""",
    "deepspeed engine in a class": """\
import deepspeed
import torch


class Trainer:
    def __init__(self, model, config, loader):
        self.engine, *_ = deepspeed.initialize(model=model, config=config)
        self.loader = loader

    def train_epoch(self):
        total = 0.0
        for batch in self.loader:
            loss = self.engine(**batch).loss
            self.engine.backward(loss)
            self.engine.step()
            total += loss.item()
        return total / len(self.loader)
""",
    "hand-written sgd that zeroes in its step": """\
import torch


class MySGD:
    def __init__(self, params, lr):
        self.params = list(params)
        self.lr = lr

    @torch.no_grad()
    def step(self):
        for p in self.params:
            p -= self.lr * p.grad
            p.grad.zero_()


w = torch.zeros(2, requires_grad=True)
b = torch.zeros(1, requires_grad=True)
trainer = MySGD([w, b], lr=0.03)
for epoch in range(3):
    for X, y in data_iter:
        l = ((X @ w + b - y) ** 2 / 2).mean()
        l.backward()
        trainer.step()
""",
    "d2l style function": '''\
import torch


def sgd(params, lr, batch_size):
    """Minibatch stochastic gradient descent."""
    with torch.no_grad():
        for param in params:
            param -= lr * param.grad / batch_size
            param.grad.zero_()


w = torch.normal(0, 0.01, size=(2, 1), requires_grad=True)
b = torch.zeros(1, requires_grad=True)
for epoch in range(3):
    for X, y in data_iter(10, features, labels):
        l = (torch.matmul(X, w) + b - y) ** 2 / 2
        l.sum().backward()
        sgd([w, b], 0.03, 10)
''',
    "optimizer subclass that zeroes in its step": """\
import torch
from torch.optim import Optimizer


class ClearingSGD(Optimizer):
    def __init__(self, params, lr=0.1):
        super().__init__(params, dict(lr=lr))

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                p.add_(p.grad, alpha=-group["lr"])
                p.grad = None


def main(loader):
    net = torch.nn.Linear(4, 1)
    opt = ClearingSGD(net.parameters())
    for x, y in loader:
        torch.nn.functional.mse_loss(net(x), y).backward()
        opt.step()
""",
}


@pytest.mark.parametrize("text", programs(PLAIN))
def test_nothing_is_said(text: str) -> None:
    assert said(text) == []
