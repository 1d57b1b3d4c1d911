"""Code of frameworks other than PyTorch is left alone, though its words are the same."""

from __future__ import annotations

import pytest

from tests.static.project import programs, said

PLAIN = {
    "mxnet gluon": """\
import mxnet as mx
from mxnet import autograd, gluon

net = gluon.nn.Dense(10)
trainer = gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1})
loss_fn = gluon.loss.SoftmaxCrossEntropyLoss()
for epoch in range(10):
    for data, label in train_data:
        with autograd.record():
            loss = loss_fn(net(data), label)
        loss.backward()
        trainer.step(batch_size=64)
""",
    "mxnet next to a torch data loader's name": """\
# Ported from a torch script; uses MXNet's own optimizer.
from mxnet import autograd, gluon, np, npx


class Trainer:
    def __init__(self, net):
        self.net = net
        self.optimizer = gluon.Trainer(net.collect_params(), "adam")

    def fit(self, batches):
        for X, y in batches:
            with autograd.record():
                l = ((self.net(X) - y) ** 2).mean()
            l.backward()
            self.optimizer.step(X.shape[0])
""",
    "paddle": """\
import paddle
import paddle.nn as nn


def train(model, loader):
    optimizer = paddle.optimizer.Adam(parameters=model.parameters())
    for epoch in range(3):
        for x, y in loader():
            loss = nn.functional.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
""",
    "paddle with a grad scaler": """\
import paddle

scaler = paddle.amp.GradScaler(init_loss_scaling=1024)
optimizer = paddle.optimizer.SGD(parameters=model.parameters())
for data, label in loader:
    with paddle.amp.auto_cast():
        loss = model(data, label)
    scaled = scaler.scale(loss)
    scaled.backward()
    scaler.minimize(optimizer, scaled)
    optimizer.clear_grad()
""",
    "paddle and torch weights": """\
import paddle
import torch

state = torch.load("weights.pth", map_location="cpu")
net = paddle.nn.Linear(4, 4)
net.set_state_dict({k: v.numpy() for k, v in state.items()})
opt = paddle.optimizer.AdamW(parameters=net.parameters())
for x, y in batches:
    loss = paddle.nn.functional.mse_loss(net(x), y)
    loss.backward()
    opt.step()
    opt.clear_grad()
""",
    "flax with torch data": """\
import jax
import optax
import torch
from flax.training import train_state
from torch.utils.data import DataLoader


def backward_pass(state, batch):
    def loss_fn(params):
        return optax.l2_loss(state.apply_fn(params, batch[0]), batch[1]).mean()

    return jax.grad(loss_fn)(state.params)


def train(state, dataset):
    for batch in DataLoader(dataset, batch_size=32):
        grads = backward_pass(state, batch)
        state = state.apply_gradients(grads=grads)
    return state
""",
    "micrograd": """\
from micrograd.engine import Value
from micrograd.nn import MLP

model = MLP(2, [16, 16, 1])
for k in range(100):
    total_loss = sum((model(x) - y) ** 2 for x, y in data)
    model.zero_grad()
    total_loss.backward()
    for p in model.parameters():
        p.data -= 0.1 * p.grad
""",
    "a network by hand with its own backward": """\
import numpy as np


class Linear:
    def forward(self, x):
        self.x = x
        return x @ self.w

    def backward(self, grad):
        self.dw = self.x.T @ grad
        return grad @ self.w.T


class SGD:
    def step(self, layers):
        for layer in layers:
            layer.w -= 0.1 * layer.dw


net, optimizer = [Linear(), Linear()], SGD()
for x, y in data:
    for layer in net:
        x = layer.forward(x)
    grad = x - y
    for layer in reversed(net):
        grad = layer.backward(grad)
    optimizer.step(net)
""",
    "a network by hand beside torch": """\
import numpy as np
import torch


class Layer:
    def backward(self, grad):
        return grad @ self.w.T


class Momentum:
    def step(self):
        for p, g in self.pairs:
            p -= 0.1 * g


loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.randn(8, 2)), batch_size=2)
net, optimizer = Layer(), Momentum()
for (x,) in loader:
    net.backward(x.numpy())
    optimizer.step()
""",
    "jittor": """\
import jittor as jt
from jittor import nn

net = nn.Linear(4, 1)
optim = nn.SGD(net.parameters(), 0.1)
for i, (x, y) in enumerate(get_data(100)):
    loss = jt.mean((net(x) - y) ** 2)
    optim.step(loss)
optim.backward(loss)
""",
}


@pytest.mark.parametrize("text", programs(PLAIN))
def test_nothing_is_said(text: str) -> None:
    assert said(text) == []
